"""Tokens that refer to nothing, such as literals and operators, and places where a user writes something new."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from operator import attrgetter
from typing import Literal

from ci_eval.core.grammar.document import code_points
from ci_eval.core.grammar.syntax import Node, parse_tree
from ci_eval.core.model import Kind, Properties, SilentPlace, Token

LONGEST_LITERAL = 100
"""The maximum length of a literal that becomes a token. Longer and multi-line literals cannot be predicted."""

LITERALS = frozenset(
    "string string_literal raw_string_literal interpreted_string_literal system_lib_string template_string "
    "encapsed_string heredoc nowdoc heredoc_body line_string_literal multi_line_string_literal text_block "
    "interpolated_string interpolated_string_expression char_literal character_literal rune_literal character "
    "regex regex_literal regex_pattern simple_symbol delimited_symbol hash_key_symbol bare_string bare_symbol "
    "user_defined_literal preproc_arg null_literal boolean_literal boolean true false null nil none "
    "shell_command_expression subshell string_content string_fragment".split()
)
"""The types of nodes that are literals. Numbers are not listed: `_kind` recognises them by their first character."""
FOREIGN = frozenset("ERROR php_tag ?> text text_interpolation uninterpreted hash_bang_line heredoc_end".split())
"""The types of nodes that are skipped: they are not code of the language, or the parser could not read them."""
SEPARATORS = frozenset("( ) [ ] { } [[ ]] , ; : . :: ${ #{ #[ \" ' ` $ @ \\".split())
_WORD = re.compile(r"[$@#]*[^\W\d][\w$]*[?!=]?")
_PROPERTIES = {kind: Properties(kind=kind) for kind in Kind}


def every_token(text: str, grammar: str, keywords: frozenset[str], known: Sequence[Token]) -> list[Token]:
    """Return all tokens except comments, sorted by offset: `known` and, if there is a grammar, the other tokens of the
    syntax tree. A literal is one token; if it contains code, the tokens of the code are returned instead."""
    if not grammar:
        return list(known)
    source = text.encode()
    points = code_points(source)
    # Known tokens are in order and do not overlap, so both lists are sorted.
    begins = [token.offset for token in known]
    ends = [token.offset + len(token.text) for token in known]

    def has_code(node: Node) -> bool:
        # A token that ends where the node begins is outside the node.
        first = bisect_left(ends, points[node.start_byte] + 1)
        return first < len(begins) and begins[first] < points[node.end_byte]

    tokens = list(known)
    for node, kind in _other_nodes(parse_tree(source, grammar).root_node, has_code):
        begin, end = points[node.start_byte], points[node.end_byte]
        word = text[begin:end]
        kind = kind or _kind(word, keywords, named=node.is_named)
        if kind and word.strip() == word and "\n" not in word and len(word) <= LONGEST_LITERAL:
            tokens.append(Token(offset=begin, text=word, properties=_PROPERTIES[kind]))
    return sorted(tokens, key=attrgetter("offset"))


def _other_nodes(root: Node, code_in: Callable[[Node], bool]) -> Iterator[tuple[Node, Kind | None]]:
    stack = [root]
    while stack:
        node = stack.pop()
        kind = node.type
        if "comment" in kind or kind in FOREIGN or node.start_byte == node.end_byte:
            continue
        if kind in LITERALS and node.is_named:
            if code_in(node):
                stack += [child for child in node.children if child.is_named and code_in(child)]
            else:
                yield node, Kind.LITERAL
        elif node.child_count:
            stack += node.children
        elif not code_in(node):
            yield node, None


def _kind(word: str, keywords: frozenset[str], *, named: bool) -> Kind | None:
    if word in keywords:
        return Kind.KEYWORD
    if _WORD.fullmatch(word):
        return Kind.DEFINITION if named else Kind.KEYWORD
    # In most languages, `.5` is a number.
    if not word or word[0].isalnum() or (word[0] == "." and word[1:2].isdigit()):
        return Kind.LITERAL if word else None
    return Kind.PUNCTUATION if word in SEPARATORS else Kind.OPERATOR


_NAMING = re.compile(
    r"(?:function|class|struct|interface|enum|trait|record|object|type)_?(?:\w+_)?(?:definition|declaration"
    r"|item|spec|specifier)$|parameter|lambda|^arrow_function$|^for_|^as_pattern_target$|^catch_clause$"
)
"""Matches the types of nodes that define names: functions, types, parameters, loop variables, and caught errors."""
_TYPE = re.compile(r"^(?:class|interface|trait|impl|enum|struct|object|record|protocol)(?:_|$)")
_FUNCTION = re.compile(r"function|method|lambda")
_BODY = re.compile(r"block|body|compound")
_MEMBER = re.compile(r"field|property|method")
_CONVENTIONAL = frozenset({"self", "cls", "this"})
_NAME = re.compile(r"[^\W\d]\w*")
_PROSE_WORD = re.compile(r"(?<![\w@\\#:./%{$-])[^\W\d_]{3,}(?![\w(:./=-])")
_DOCUMENTATION = ("/**", "///", "//!", "#!", "#:")
"""Comments that begin like this often mention names from the code."""
_KINDS = {"definition": Kind.DEFINITION, "comment": Kind.COMMENT}


def find_silent_places(text: str, grammar: str, known: Sequence[Token], kinds: Collection[SilentPlace]) -> list[Token]:
    """Return the places of these kinds where a user writes something new, sorted by offset; none without a grammar.
    Three kinds of names are excluded: names in `known`, which refer to something; methods, which may override known
    methods; and names after their type, which engines can derive from the type."""
    source = text.encode()
    points = code_points(source)
    references = {token.offset for token in known}
    places = []
    for kind, begin, end in _walk(parse_tree(source, grammar).root_node, source) if grammar else ():
        first, word = points[begin], text[points[begin] : points[end]]
        if kind in {"comment", "string"}:
            # The second word is used, since the first one may be a name or a key.
            words = [] if word.startswith(_DOCUMENTATION) else [*_PROSE_WORD.finditer(word)][1:2]
            found = [(first + match.start(), match[0]) for match in words]
        else:
            found = [] if first in references else [(first, word)]
        if kind in kinds:
            properties = Properties(kind=_KINDS.get(kind, Kind.LITERAL))
            places += [Token(offset=offset, text=name, properties=properties) for offset, name in found]
    return sorted(places, key=attrgetter("offset"))


def _walk(root: Node, source: bytes) -> Iterator[tuple[SilentPlace, int, int]]:
    stack = [(root, False)]
    while stack:
        node, in_type = stack.pop()
        if prose := _prose(node):
            if not any("interpolation" in child.type or "substitution" in child.type for child in node.children):
                yield prose, node.start_byte, node.end_byte
            continue
        is_function = bool(_FUNCTION.search(node.type))
        # In C++, a specifier without a body refers to a class, as in `class Foo x`.
        refers = node.type.endswith("_specifier") and not node.child_by_field_name("body")
        is_member = in_type and is_function and "parameter" not in node.type
        # In a parameter with a type, only the first child can be a new name: engines can derive a name after its type.
        has_type = "parameter" in node.type and not node.type.endswith(("parameters", "parameter_list"))
        for place, child in enumerate(node.named_children):
            word = source[child.start_byte : child.end_byte]
            if child.child_count or _prose(child):
                is_body = is_function and bool(_BODY.search(child.type))
                stack.append((child, bool(_TYPE.match(node.type)) or (in_type and not is_body)))
            elif word[:1].isdigit():
                yield "number", child.start_byte, child.end_byte
            elif not (is_member or refers or (has_type and place > 0)):
                is_name = _NAME.fullmatch(text := word.decode()) and text not in _CONVENTIONAL
                if is_name and not _MEMBER.search(child.type) and _NAMING.search(node.type):
                    yield "definition", child.start_byte, child.end_byte


def _prose(node: Node) -> Literal["comment", "string", ""]:
    if "comment" in node.type:
        return "comment"
    return "string" if node.is_named and "string" in node.type else ""
