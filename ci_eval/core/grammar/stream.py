"""The full list of a file's tokens: those that a language finds, and its definitions, literals, operators and
punctuation."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

from ci_eval.core.grammar.document import code_points
from ci_eval.core.grammar.syntax import Node, parser
from ci_eval.core.model import Kind, Properties, Token

# Nobody predicts longer literals, or such that have several lines.
LONGEST_LITERAL = 100
"""The most characters of a literal that is a token."""

LITERALS = frozenset(
    "string string_literal raw_string_literal interpreted_string_literal system_lib_string template_string "
    "encapsed_string heredoc nowdoc heredoc_body line_string_literal multi_line_string_literal text_block "
    "interpolated_string interpolated_string_expression char_literal character_literal rune_literal character "
    "regex regex_literal regex_pattern simple_symbol delimited_symbol hash_key_symbol bare_string bare_symbol "
    "user_defined_literal preproc_arg null_literal boolean_literal boolean true false null nil none "
    "shell_command_expression subshell string_content string_fragment".split()
)
"""The types of nodes whose text stands for itself; numbers are known by their first character."""
FOREIGN = frozenset("ERROR php_tag ?> text text_interpolation uninterpreted hash_bang_line heredoc_end".split())
"""The types of nodes that are not code of the language, or could not be read."""
SEPARATORS = frozenset("( ) [ ] { } [[ ]] , ; : . :: ${ #{ #[ \" ' ` $ @ \\".split())
_WORD = re.compile(r"[$@#]*[^\W\d][\w$]*[?!=]?")
_PROPERTIES = {kind: Properties(kind=kind) for kind in Kind}


def every_token(text: str, grammar: str, keywords: frozenset[str], known: Sequence[Token]) -> list[Token]:
    """Return all tokens in order of offset: `known` (which are in that order), and the others of the tree, without
    comments.

    A literal is one token. If there is code in it, the tokens of that code count instead. For a text without a grammar,
    `known` is all.
    """
    if not grammar:
        return list(known)
    source = text.encode()
    points = code_points(source) or range(len(source) + 1)
    # Known tokens are in order and do not overlap, so both lists are sorted.
    begins = [token.offset for token in known]
    ends = [token.offset + len(token.text) for token in known]

    def has_code(node: Node) -> bool:
        """Return whether known tokens are in the node."""
        # A token that ends where the node begins is not in it.
        first = bisect_left(ends, points[node.start_byte] + 1)
        return first < len(begins) and begins[first] < points[node.end_byte]

    tokens = list(known)
    for node, kind in _other_nodes(parser(grammar).parse(source).root_node, has_code):
        begin, end = points[node.start_byte], points[node.end_byte]
        word = text[begin:end]
        kind = kind or _kind(word, keywords, named=node.is_named)
        if kind and word.strip() == word and "\n" not in word and len(word) <= LONGEST_LITERAL:
            tokens.append(Token(offset=begin, text=word, properties=_PROPERTIES[kind]))
    return sorted(tokens, key=attrgetter("offset"))


def _other_nodes(root: Node, code_in: Callable[[Node], bool]) -> Iterator[tuple[Node, Kind | None]]:
    """Yield literals, and leaves that are no known tokens, with the kind if the node tells it."""
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
