"""The reading of source text as one or more trees: unreadable text is rewritten or cut, and the loss is measured.

A rewriting keeps every offset: a newer construct becomes an older one of the same length, which the grammar knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from ci_eval.core.grammar.syntax import Node, leaves, parse_tree
from ci_eval.core.import_syntax import ImportSyntax

Span = tuple[int, int]
"""Begin and end in bytes."""
Match = re.Match[bytes]


class Rewritten(NamedTuple):
    """A text of which parts were rewritten, all as long as they were."""

    text: bytes
    keywords: tuple[Span, ...] = ()
    """Words of the language that were in what was replaced."""
    types: tuple[Span, ...] = ()
    """Names of types that were in what was replaced."""
    layers: tuple[bytes, ...] = ()
    """The further texts, each as long, that are blank but for parts that are blank in `text`."""
    lost: int = 0
    """The number of words that are in none of the texts."""
    trouble: str = ""
    """The reason why a rewriting was dropped."""


class Rewriting(Protocol):
    @property
    def always(self) -> bool:
        """Return whether the grammar misreads this without noticing; else it is tried only if there are errors."""

    def apply(self, source: bytes, /) -> Rewritten: ...


class Repair(NamedTuple):
    """A pattern outside of comments and texts, and as many bytes to put in place of its matches.

    Groups named `k`, `k1` … are keywords of the language, those named `t` types.
    """

    pattern: re.Pattern[bytes]
    replacement: Callable[[Match], bytes]
    always: bool = False
    trigger: re.Pattern[bytes] | None = None
    """A pattern that every text with a match contains; to look for it alone takes less time."""

    def apply(self, source: bytes) -> Rewritten:
        if self.trigger and not self.trigger.search(source):
            return Rewritten(source)
        keywords: list[Span] = []
        types: list[Span] = []
        groups = [
            (name, keywords if name[0] == "k" else types)
            for name in self.pattern.groupindex
            if re.fullmatch(r"[kt]\d?", name)
        ]

        skips = "skip" in self.pattern.groupindex

        def rewrite_match(match: Match) -> bytes:
            old = match[0]
            if skips and match["skip"] is not None:
                return old
            new = self.replacement(match)
            # A text of another length would move all that follows, so the old text stays.
            if len(new) != len(old):
                return old
            if new != old:
                for name, spans in groups:
                    if match[name]:
                        spans.append(match.span(name))
            return new

        return Rewritten(self.pattern.sub(rewrite_match, source), tuple(keywords), tuple(types))


C_LIKE = (
    rb"//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)|\"\"\"(?:[\s\S]*?\"\"\"|[\s\S]*)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'"
)
"""A pattern of comments and texts of most languages."""
PYTHON_LIKE = (
    rb"\#[^\n]*|\"\"\"(?:[\s\S]*?\"\"\"|[\s\S]*)|'''(?:[\s\S]*?'''|[\s\S]*)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
)


# Limited, since a hostile file may have opening brackets only, on which the pattern would take long.
ROUND = rb"(?:[^()]|\((?:[^()]|\([^()]{0,500}\)){0,500}\)){0,1000}"
"""A pattern of the text in round brackets, which may have two levels of such brackets inside."""


def outside(pattern: bytes, skip: bytes = C_LIKE) -> re.Pattern[bytes]:
    """Return the pattern outside of comments and texts, which match as the group `skip`."""
    return re.compile(rb"(?P<skip>" + skip + rb")|" + pattern, re.MULTILINE)


def spaces(match: Match) -> bytes:
    return re.sub(rb"[^\n]", b" ", match[0])


def replace_groups(match: Match, **groups: bytes) -> bytes:
    """Return the match with other bytes in place of some of its groups, filled up by spaces."""
    out = bytearray(match[0])
    for name, text in groups.items():
        if match[name] is not None:
            begin, end = (at - match.start() for at in match.span(name))
            out[begin:end] = text.ljust(end - begin)
    return bytes(out)


Lost = Callable[[bytes], int]
_LINE = re.compile(rb"^([ \t]*)([^\s#].*|#\[.*)$", re.MULTILINE)
# A line that begins so continues the line above it.
_GOES_ON = re.compile(
    rb"\{|//|/?\*|(?:else|elif|elsif|elseif|except|rescue|finally|ensure|catch|when|case|default|then|do|while)\b"
)
_BRACKETS = {b"}": b"{", b")": b"(", b"]": b"["}
_CLOSES = re.compile(rb"[})\]]|end\b")
# An annotation alone on its line belongs to the line below it.
_ANNOTATION = re.compile(rb"(?:@[\w.]+(?:\(.*\))?|#?\[.*\]|template\s*<.*>)\s*$")
_SPANNING = re.compile(rb"\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|/\*[\s\S]*?\*/")
_TEXT = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|//[^\n]*")
_FINEST_BYTES = 40_000_000
"""The most bytes that are parsed for one search; a search stops at the pieces that it has then."""


def split_pieces(text: bytes, begin: int, end: int) -> list[Span]:
    """Return the pieces of a range: each begins with a line of the smallest indentation, and has the lines below it."""
    inside = [match.span() for match in _SPANNING.finditer(text, begin, end) if b"\n" in match[0]]
    lines = [(match.start(), len(match[1]), match[2]) for match in _LINE.finditer(text, begin, end)]
    least = min((indent for _, indent, _ in lines), default=0)
    starts: list[int] = []
    annotated, skipped = False, 0
    for at, indent, line in lines:
        while skipped < len(inside) and inside[skipped][1] <= at:
            skipped += 1
        spanned = skipped < len(inside) and inside[skipped][0] < at
        if indent == least and not spanned:
            closes = _CLOSES.match(line) is not None
            if closes and starts and line[:1] in _BRACKETS:
                code = _TEXT.sub(b"", text[starts[-1] : at])
                closes = code.count(_BRACKETS[line[:1]]) > code.count(line[:1])
            if not starts or not (annotated or closes or _GOES_ON.match(line)):
                starts.append(at)
            annotated = _ANNOTATION.match(line) is not None
    return list(pairwise([*starts, end]))


def blank_spans(text: bytes, spans: Sequence[Span]) -> bytes:
    """Return the text with spaces in place of these spans; line ends stay."""
    out = bytearray(text)
    for begin, end in spans:
        out[begin:end] = re.sub(rb"[^\n]", b" ", text[begin:end])
    return bytes(out)


def keep_spans(text: bytes, spans: Sequence[Span], head: bytes) -> bytes:
    out = bytearray(b" " * len(text))
    out[: len(head)] = head
    for span in spans:
        out[slice(*span)] = text[slice(*span)]
    return bytes(out)


class Search:
    """A search for the smallest pieces of a text that cannot be read where they are."""

    def __init__(self, text: bytes, layout: bytes, head: bytes, lost: Lost) -> None:
        """`layout`: the text before rewriting, as long, whose lines count."""
        self._text = text
        self._layout = layout
        self._head = head
        self._lost = lost
        self._bytes = 0

    def unreadable(self) -> list[Span]:
        return list(self._search((len(self._head), len(self._text)), self._head, b""))

    def _fails(self, code: bytes) -> bool:
        self._bytes += len(code)
        return self._lost(code) > 0

    def _search(self, span: Span, before: bytes, after: bytes) -> Iterator[Span]:
        text = self._text
        spans = split_pieces(self._layout, *span)
        # A piece that opens a bracket and the one that closes it cannot be read alone.
        opened, paired = list[int](), set[int]()
        for number, piece in enumerate(spans):
            code = text[slice(*piece)]
            if code.rstrip().endswith((b"{", b"(", b"[")):
                opened.append(number)
            elif opened and _CLOSES.match(code.lstrip()):
                paired |= {opened.pop(), number}
        for number, piece in enumerate(spans):
            code = text[slice(*piece)]
            if number in paired or self._bytes > _FINEST_BYTES or not self._fails(before + code + after):
                continue
            # An `else`, or the name after its type, may be a separate piece: it can be read only with its neighbour.
            neighbours = [text[slice(*other)] for other in spans[max(number - 1, 0) : number + 2]]
            if all(self._fails(before + first + second + after) for first, second in pairwise(neighbours)):
                yield from self._inside(piece, before, after)

    def _inside(self, piece: Span, before: bytes, after: bytes) -> list[Span]:
        text, layout = self._text, self._layout
        begin = layout.find(b"\n", *piece) + 1
        end = layout.rfind(b"\n", begin, piece[0] + len(layout[slice(*piece)].rstrip())) + 1
        last = layout[end : piece[1]].strip()
        # If no bracket or word is alone on the last line, that line is one of the statements.
        if not _CLOSES.match(last):
            end = piece[1]
        if not 0 < begin < end:
            return [piece]
        parts = list(self._search((begin, end), before + text[piece[0] : begin], text[end : piece[1]] + after))
        size = sum(part[1] - part[0] for part in parts)
        code = blank_spans(text[slice(*piece)], [(at - piece[0], to - piece[0]) for at, to in parts])
        if parts and 2 * size < piece[1] - piece[0] and not self._fails(before + code + after):
            return parts
        return [piece]


LITTLE = 0.002
"""The share of a text's bytes up to which a loss is accepted without a search for its pieces."""

_APART_BYTES = 4_000_000
"""The length of a text times its unreadable pieces below which each of them is parsed for itself."""


class Reading(NamedTuple):
    rewritten: Rewritten
    source: bytes
    """The text of all trees, as long as the original."""
    roots: tuple[Node, ...]
    """The tree of the rewritten text, and those of its layers."""
    lost: int
    """The number of bytes that no tree has: those of ERROR nodes, and one for each node that the grammar missed."""


def read(source: bytes, grammar: str, repairs: Sequence[Rewriting] = (), head: bytes = b"") -> Reading:
    """Parse a text. If its tree has errors, each rewriting is kept unless it loses more bytes. `head`: the beginning
    that a file of the language must have."""
    rewritten = Rewritten(source)
    for repair in repairs:
        if repair.always:
            rewritten = _chain(rewritten, repair)
    best = _parse(rewritten, grammar)
    for repair in repairs:
        if not best.lost:
            break
        # Rewritings add up: each is tried on top of those that were kept.
        extended = _chain(rewritten, repair)
        if extended.trouble and not best.rewritten.trouble:
            best = best._replace(rewritten=best.rewritten._replace(trouble=extended.trouble))
        if not repair.always and extended.text != rewritten.text:
            candidate = _parse(extended, grammar)
            if candidate.lost <= best.lost:
                rewritten, best = extended, candidate
    return _read_in_pieces(source, rewritten, best, grammar, head) if best.lost > len(source) * LITTLE else best


def _read_in_pieces(source: bytes, rewritten: Rewritten, whole: Reading, grammar: str, head: bytes) -> Reading:
    """Read unreadable pieces apart from the text; return `whole` unless that loses less."""
    text = rewritten.text
    head = head if text.startswith(head) else b""
    spans = Search(text, source, head, lambda part: lost_bytes(parse_tree(part, grammar).root_node)).unreadable()
    if not spans:
        return whole
    # A tree for each piece if that is cheap, else one tree of all pieces.
    apart = len(text) * len(spans) < _APART_BYTES
    parts = tuple(keep_spans(text, group, head) for group in ([[span] for span in spans] if apart else [spans]))
    candidate = _parse(rewritten._replace(text=blank_spans(text, spans), layers=rewritten.layers + parts), grammar)
    return candidate if candidate.lost < whole.lost else whole


def _chain(first: Rewritten, repair: Rewriting) -> Rewritten:
    try:
        second = repair.apply(first.text)
        if len(second.text) != len(first.text):
            raise ValueError("a rewriting must keep the length")
    except Exception as error:  # noqa: BLE001  no rewriting may cost a file
        return first._replace(trouble=first.trouble or repr(error))
    return Rewritten(
        second.text,
        first.keywords + second.keywords,
        first.types + second.types,
        first.layers + second.layers,
        first.lost + second.lost,
        first.trouble,
    )


def _parse(rewritten: Rewritten, grammar: str) -> Reading:
    text = rewritten.text
    roots = tuple(parse_tree(part, grammar).root_node for part in (text, *rewritten.layers))
    lost = rewritten.lost + sum(lost_bytes(root) for root in roots)
    # One text has the names of all trees. The first layer counts, so it is written last.
    overlaid = bytearray(text)
    for layer in reversed(rewritten.layers):
        for part in re.finditer(rb"\S+", layer):
            overlaid[part.start() : part.end()] = part[0]
    return Reading(rewritten, bytes(overlaid) if rewritten.layers else text, roots, lost)


def lost_bytes(root: Node) -> int:
    """Count the bytes in outermost ERROR nodes, and one for each node that is missing."""
    if not root.has_error:
        return 0
    return sum(max(len((node.text or b"").strip()), 1) for node in errors(root))


def errors(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "ERROR" or node.is_missing:
            yield node
        elif node.has_error:
            stack += node.children


# Nodes whose types have these parts hold text, not names.
_NO_WORDS = re.compile(r"comment|string|char|content|fragment|escape|heredoc|regex|literal|_text$")


def share_lost(reading: Reading) -> float:
    """Return the share of a file's words (names and keywords) that no tree has, 0 to 1."""
    if not reading.lost:
        return 0.0
    left_out = reading.rewritten.lost
    lost = left_out + sum(_words(node) for root in reading.roots for node in errors(root))
    return lost / max(left_out + sum(map(_words, reading.roots)), 1)


def _words(root: Node) -> int:
    return sum(
        (leaf.text or b"").decode(errors="replace")[:1].isidentifier() and not _NO_WORDS.search(leaf.type)
        for leaf in leaves(root)
    )


def count_errors(syntax: ImportSyntax, text: str, grammar: str) -> int:
    """Return the size of the text's syntax errors, in the language's own measure or in bytes; 0 without an error."""
    if syntax.errors:
        return syntax.errors(text, grammar)
    return lost_bytes(parse_tree(text.encode(), grammar).root_node)
