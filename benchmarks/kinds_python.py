"""Python's tokens against `ast`: does ci-eval give each name the kind that Python's own parser sees?

python benchmarks/kinds_python.py [SPEC]        a project as --project takes it

Prints the share of names with the same kind, what only one of the two has, and the disagreements with examples. Names
in class bases, `except` and annotations are types; what is called is a call, whatever it is.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator

from ci_eval.core import machine
from ci_eval.core.actions import source_files
from ci_eval.core.fetch import project
from ci_eval.core.grammar.document import decode
from ci_eval.core.model import ActionsConfig, Kind
from ci_eval.plugins.languages.python import LANGUAGE

DEFAULT = "pypi:flask==3.0.3"
EXAMPLES = 3

Place = tuple[int, int]
"""Line (1-based) and column in bytes."""


def theirs(text: str) -> dict[Place, tuple[str, str]]:
    """Of each name in a file: itself and its kind."""
    tree = ast.parse(text)
    found: dict[Place, tuple[str, str]] = {}
    types: set[ast.AST] = set()
    called: set[ast.AST] = set()
    for node in ast.walk(tree):
        for annotation in _type_positions(node):
            inner = set(ast.walk(annotation))
            # In `typing.Any`, only the last name is a type.
            types |= inner - {each.value for each in inner if isinstance(each, ast.Attribute)}
        if isinstance(node, ast.Call):
            called.add(node.func)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found[node.lineno, node.col_offset] = node.id, _kind(node, types, called, "VARIABLE")
        elif isinstance(node, ast.Attribute):
            column = (node.end_col_offset or 0) - len(node.attr.encode())
            found[node.end_lineno or 0, column] = node.attr, _kind(node, types, called, "FIELD")
        elif isinstance(node, ast.keyword) and node.arg:
            found[node.lineno, node.col_offset] = node.arg, "ARGUMENT_NAME"
        elif isinstance(node, ast.alias) and node.name != "*":
            found[node.lineno, node.col_offset] = node.name.partition(".")[0], "IMPORT"
    return found


def _type_positions(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.ClassDef):
        yield from node.bases
    for name in ("annotation", "returns", "type") if not isinstance(node, ast.ClassDef) else ():
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            yield value


def _kind(node: ast.AST, types: set[ast.AST], called: set[ast.AST], otherwise: str) -> str:
    return "METHOD_CALL" if node in called else "TYPE_REFERENCE" if node in types else otherwise


def ours(text: str, path: str) -> dict[Place, tuple[str, str]]:
    """Of each token that is no keyword: its text and its kind."""
    found = {}
    begins = [0]
    for line in text.split("\n"):
        begins.append(begins[-1] + len(line) + 1)
    number = 0
    for token in LANGUAGE.extract(text, path, {}).tokens:
        while begins[number + 1] <= token.offset:
            number += 1
        if token.properties.kind is not Kind.KEYWORD:
            column = len(text[begins[number] : token.offset].encode())
            found[number + 1, column] = token.text, token.properties.kind.value
    return found


def main() -> None:
    """Print the comparison."""
    root = project.prepare(sys.argv[1] if len(sys.argv) > 1 else DEFAULT, cache=machine.cache_folder()).root
    config = ActionsConfig()
    both = only_ours = only_theirs = 0
    differing: dict[tuple[str, str], list[str]] = defaultdict(list)
    paths = list(source_files(root, LANGUAGE, config))
    for path in paths:
        text = decode((root / path).read_bytes())
        mine, parsed = ours(text, path), theirs(text)
        shared = mine.keys() & parsed.keys()
        both += len(shared)
        only_ours += len(mine) - len(shared)
        only_theirs += len(parsed) - len(shared)
        for place in sorted(shared):
            if mine[place] != parsed[place]:
                differing[mine[place][1], parsed[place][1]].append(f"{path}:{place[0]} {mine[place][0]}")
    wrong = sum(map(len, differing.values()))
    print(f"{both:,} names in {len(paths)} files; kinds agree on {1 - wrong / max(both, 1):.2%}")
    print(f"only ours {only_ours:,} (parts of dotted imports), only ast's {only_theirs:,} (where names are defined)")
    print("\n| ours | ast | names | examples |\n|---|---|--:|---|")
    for (kind, other), places in sorted(differing.items(), key=lambda item: -len(item[1])):
        print(f"| {kind} | {other} | {len(places):,} | {', '.join(places[:EXAMPLES])} |")


if __name__ == "__main__":
    main()
