"""An oracle of C++: the names and keywords of files, by libclang.

python cpp.py PACKAGES [OPTION…]        the folder that the package `libclang` is installed in, and options of clang

Paths are read from standard input, one a line; a line of JSON is written for each: `path`, and `tokens` (offset in
bytes, text, kind) or `error`. DEFINITION is the kind of names that refer to nothing; of several kinds between `|`, any
is right. libclang decides only where all includes are there: other files are errors. In branches of `#if` that are not
compiled, and in macros, any kind is right, or none.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

UNDECIDED = "UNDECIDED"
TYPES = frozenset(["TYPE_REF", "TEMPLATE_REF"])
FUNCTIONS = frozenset(
    ["FUNCTION_DECL", "CXX_METHOD", "FUNCTION_TEMPLATE", "CONVERSION_FUNCTION", "OVERLOADED_DECL_REF"]
)
REFERENCES = frozenset(["DECL_REF_EXPR", "MEMBER_REF_EXPR", "UNEXPOSED_EXPR", "OVERLOADED_DECL_REF"])
BEFORE_VALUES = frozenset(["(", ",", "=", "==", "!=", "<", ">", "<=", ">=", "+", "-", "?", ":", "return"])
CLASSES = frozenset(
    ["CLASS_DECL", "STRUCT_DECL", "UNION_DECL", "CLASS_TEMPLATE", "CLASS_TEMPLATE_PARTIAL_SPECIALIZATION"]
)


def directive_lines(text: bytes) -> set[int]:
    """Return the lines (from 1) of preprocessor directives, with those that continue them."""
    lines: set[int] = set()
    continues = False
    for number, line in enumerate(text.split(b"\n"), 1):
        if continues or line.lstrip().startswith(b"#"):
            lines.add(number)
            continues = line.rstrip().endswith(b"\\")
    return lines


def annotated(clang: Any, unit: Any) -> list[tuple[Any, Any]]:
    """Return the tokens of a unit with their cursors, without comments."""
    tokens = list(unit.get_tokens(extent=unit.cursor.extent))
    array = (clang.Token * len(tokens))(*tokens)
    cursors = (clang.Cursor * len(tokens))()
    # `Token.cursor` would read the whole unit for each token.
    clang.conf.lib.clang_annotateTokens(unit, array, len(tokens), cursors)
    pairs = []
    for token, cursor in zip(tokens, cursors, strict=True):
        if token.kind.name != "COMMENT":
            cursor._tu = unit
            pairs.append((token, cursor))
    return pairs


def kind_of(token: Any, cursor: Any, before: str, after: str) -> str:
    """Return the kind of an identifier, which stands between two other tokens."""
    kind: str = cursor.kind.name
    is_exact = cursor.location.offset == token.extent.start.offset
    if kind in {"CXX_OVERRIDE_ATTR", "CXX_FINAL_ATTR"}:
        return "KEYWORD"
    if cursor.kind.is_declaration() and is_exact and cursor.spelling.lstrip("~").startswith(token.spelling):
        # `struct T` in another declaration may declare T or refer to it.
        return "DEFINITION|TYPE_REFERENCE" if before in {"class", "struct", "union", "enum"} else "DEFINITION"
    if before == "~" and (kind == "DESTRUCTOR" or (kind in TYPES and after == "(")):
        return "DEFINITION"
    if kind == "MACRO_INSTANTIATION" and is_exact:
        # What a macro stands for is known where a value must be; elsewhere it may be white space or an attribute.
        is_attribute = before[-1:] == ")" or before[-1:].isalnum()
        if after == "(":
            return "METHOD_CALL|DEFINITION" if is_attribute and before != "return" else "METHOD_CALL"
        return "VARIABLE" if before in BEFORE_VALUES and after in {")", ",", ";"} else UNDECIDED
    if kind in TYPES and is_exact:
        # `Foo(x)` constructs; a base in a list of initialisers looks the same.
        return "METHOD_CALL|FIELD|TYPE_REFERENCE" if after in {"(", "{"} else "TYPE_REFERENCE"
    if kind == "NAMESPACE_REF":
        return "VARIABLE|IMPORT"
    if kind == "MEMBER_REF" and is_exact:
        return "FIELD|METHOD_CALL"
    return reference(cursor, token.spelling, before, after) if kind in REFERENCES else UNDECIDED


def reference(cursor: Any, name: str, before: str, after: str) -> str:
    """Return the kind of a name in an expression."""
    target = cursor.referenced
    if target is None or target.spelling != name:
        return UNDECIDED
    if after == "(":
        return "METHOD_CALL"
    if after in {"<", ")"} and target.kind.name in FUNCTIONS:
        # `f<T>(x)`, `(f)(x)`
        return "METHOD_CALL|VARIABLE|FIELD"
    if before in {".", "->"}:
        return "FIELD"
    if target.kind.name == "ENUM_CONSTANT_DECL":
        return "FIELD|VARIABLE"
    owner = target.semantic_parent
    if owner is not None and owner.kind.name in CLASSES:
        # What a header declares is not read for another file.
        return "FIELD|VARIABLE"
    return "VARIABLE|FIELD|METHOD_CALL" if target.kind.name in FUNCTIONS else "VARIABLE"


def tokens(clang: Any, unit: Any, text: bytes) -> Iterator[tuple[int, str, str]]:
    """Yield the offset, text and kind of each name and keyword."""
    directives = directive_lines(text)
    pairs = annotated(clang, unit)
    spellings = ["", *(token.spelling for token, _ in pairs), ""]
    in_using = False
    for index, (token, cursor) in enumerate(pairs):
        kind = token.kind.name
        if spellings[index + 1] in {"using", "=", ";"}:
            # `using A = B;` imports nothing.
            in_using = token.spelling == "using" and spellings[index + 3] != "="
        if kind not in {"IDENTIFIER", "KEYWORD"}:
            continue
        start, name = token.extent.start, token.spelling
        if start.line in directives:
            yield start.offset, name, UNDECIDED
        elif kind == "KEYWORD":
            # The words of compilers, such as `__asm__`, are no keywords of C++.
            yield start.offset, name, UNDECIDED if name.startswith("__") else "KEYWORD"
        elif in_using and spellings[index] not in {"<", ","}:
            yield start.offset, name, "IMPORT"
        else:
            yield start.offset, name, kind_of(token, cursor, spellings[index], spellings[index + 2])


def main() -> None:
    """Print the tokens of each file whose path stands on standard input."""
    sys.path.insert(0, sys.argv[1])
    clang = import_module("clang.cindex")
    index = clang.Index.create()
    for line in sys.stdin.read().splitlines():
        path = Path(line)
        # Quoted headers are looked for from the folder of the file or from one above it.
        near = [f"-iquote{folder}" for parent in list(path.parents)[:5] for folder in (parent, parent / "include")]
        arguments = ["-x", "c++", "-std=c++20", *near, *sys.argv[2:]]
        unit = index.parse(line, args=arguments, options=clang.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        errors = [problem.spelling for problem in unit.diagnostics if problem.severity >= clang.Diagnostic.Error]
        if errors:
            print(json.dumps({"path": line, "error": errors[0]}))
        else:
            print(json.dumps({"path": line, "tokens": list(tokens(clang, unit, path.read_bytes()))}))


if __name__ == "__main__":
    main()
