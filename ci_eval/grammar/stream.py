"""All tokens of a file: what a language finds, and beside that its definitions, literals, operators and punctuation."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

from ci_eval.grammar.document import code_points
from ci_eval.grammar.syntax import Node, parser
from ci_eval.model import Kind, Properties, Token

LONGEST_LITERAL = 100
"""Characters; nobody predicts longer ones, or such that have several lines."""

LITERALS = frozenset(
    "string string_literal raw_string_literal interpreted_string_literal system_lib_string template_string "
    "encapsed_string heredoc nowdoc heredoc_body line_string_literal multi_line_string_literal text_block "
    "interpolated_string interpolated_string_expression char_literal character_literal rune_literal character "
    "regex regex_literal regex_pattern simple_symbol delimited_symbol hash_key_symbol bare_string bare_symbol "
    "symbol_literal user_defined_literal preproc_arg null_literal boolean_literal boolean true false null nil none "
    "shell_command_expression subshell string_content string_fragment string_value".split()
)
"""Nodes of text that stands for itself; numbers are known by their first character."""
FOREIGN = frozenset("ERROR php_tag ?> text text_interpolation uninterpreted hash_bang_line heredoc_end".split())
"""Nodes of what is not code of the language, or could not be read."""
SEPARATORS = frozenset("( ) [ ] { } [[ ]] , ; : . :: ${ #{ #[ \" ' ` $ @ \\".split())
_WORD = re.compile(r"[$@#]*[^\W\d][\w$]*[?!=]?")
_PROPERTIES = {kind: Properties(kind=kind) for kind in Kind}


def every_token(text: str, grammar: str, keywords: frozenset[str], known: Sequence[Token]) -> list[Token]:
    """All tokens in order of offset: `known` (which are in that order), and what else the tree has; no comments.

    A literal is one token, unless there is code in it: then that code's tokens are. Of a text without a grammar,
    `known` is all.
    """
    if not grammar:
        return list(known)
    source = text.encode()
    points = code_points(source) or range(len(source) + 1)
    begins = [token.offset for token in known]
    ends = [token.offset + len(token.text) for token in known]

    def code_in(node: Node) -> bool:
        """Whether known tokens are in it."""
        first = bisect_left(ends, points[node.start_byte] + 1)
        return first < len(begins) and begins[first] < points[node.end_byte]

    found = list(known)
    for node, kind in _others(parser(grammar).parse(source).root_node, code_in):
        begin, end = points[node.start_byte], points[node.end_byte]
        shown = text[begin:end]
        kind = kind or _kind(shown, keywords, named=node.is_named)
        if kind and shown.strip() == shown and "\n" not in shown and len(shown) <= LONGEST_LITERAL:
            found.append(Token(offset=begin, text=shown, properties=_PROPERTIES[kind]))
    return sorted(found, key=attrgetter("offset"))


def _others(root: Node, code_in: Callable[[Node], bool]) -> Iterator[tuple[Node, Kind | None]]:
    """Literals, and leaves that are no known tokens; the kind where the node tells it."""
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


def _kind(shown: str, keywords: frozenset[str], *, named: bool) -> Kind | None:
    if shown in keywords:
        return Kind.KEYWORD
    if _WORD.fullmatch(shown):
        return Kind.DEFINITION if named else Kind.KEYWORD
    if not shown or shown[0].isalnum() or (shown[0] == "." and shown[1:2].isdigit()):
        return Kind.LITERAL if shown else None
    return Kind.PUNCTUATION if shown in SEPARATORS else Kind.OPERATOR
