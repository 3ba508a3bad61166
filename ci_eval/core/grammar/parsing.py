"""Parse source text into one or more trees, rewrite or cut out unreadable text, and measure how much is lost.

A rewriting replaces a newer construct by an older one of the same length that the grammar knows, so offsets stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from ci_eval.core.grammar.syntax import Node, leaves, parse_tree
from ci_eval.core.import_syntax import ImportSyntax

Span = tuple[int, int]
Match = re.Match[bytes]


class Rewritten(NamedTuple):
    """A text with rewritten parts of unchanged length."""

    text: bytes
    keywords: tuple[Span, ...] = ()
    """Keywords of the language inside the replaced parts."""
    types: tuple[Span, ...] = ()
    """Names of types inside the replaced parts."""
    layers: tuple[bytes, ...] = ()
    """Further texts of the same length. Each is blank except for parts that are blank in `text`."""
    lost: int = 0
    """The number of words that are in none of the texts."""
    trouble: str = ""
    """The reason why a rewriting was dropped."""


class Rewriting(Protocol):
    @property
    def always(self) -> bool:
        """Return True if even text without errors is rewritten: the grammar misreads such text without an error."""

    def apply(self, source: bytes, /) -> Rewritten: ...


def replace_groups(match: Match, **groups: bytes) -> bytes:
    """Return the matched text with these groups replaced. Shorter replacements are padded with spaces."""
    out = bytearray(match[0])
    for name, text in groups.items():
        if match[name] is not None:
            begin, end = (at - match.start() for at in match.span(name))
            out[begin:end] = text.ljust(end - begin)
    return bytes(out)


def blank_groups(match: Match) -> bytes:
    """Return the matched text with spaces in place of the pattern's named groups."""
    return replace_groups(match, **dict.fromkeys(match.re.groupindex, b""))


class Repair(NamedTuple):
    """A rewriting that replaces each match of a pattern by text of the same length. Comments and strings are skipped.

    In the pattern, groups named `k`, `k1` … match keywords of the language; groups named `t`, `t1` … match types.
    """

    pattern: re.Pattern[bytes]
    replacement: Callable[[Match], bytes] = blank_groups
    always: bool = False
    trigger: re.Pattern[bytes] | None = None
    """A pattern of text that every match contains. Searching for it first saves time."""

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
            # Text of another length would shift all later offsets, so the match stays as it is.
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
"""The pattern of comments and strings in most languages."""
PYTHON_LIKE = (
    rb"\#[^\n]*|\"\"\"(?:[\s\S]*?\"\"\"|[\s\S]*)|'''(?:[\s\S]*?'''|[\s\S]*)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
)


# The depth is limited, since the pattern would be slow for a hostile file of opening brackets.
ROUND = rb"(?:[^()]|\((?:[^()]|\([^()]{0,500}\)){0,500}\)){0,1000}"
"""The pattern of text in round brackets with up to two nested levels."""


def outside(pattern: bytes, skip: bytes = C_LIKE) -> re.Pattern[bytes]:
    """Return a pattern that matches outside comments and strings. Comments and strings match as the group `skip`."""
    return re.compile(rb"(?P<skip>" + skip + rb")|" + pattern, re.MULTILINE)


def spaces(match: Match) -> bytes:
    return re.sub(rb"[^\n]", b" ", match[0])


Lost = Callable[[bytes], int]
_LINE = re.compile(rb"^([ \t]*)([^\s#].*|#\[.*)$", re.MULTILINE)
# A line that begins like this continues the line before it.
_GOES_ON = re.compile(
    rb"\{|//|/?\*|(?:else|elif|elsif|elseif|except|rescue|finally|ensure|catch|when|case|default|then|do|while)\b"
)
_BRACKETS = {b"}": b"{", b")": b"(", b"]": b"["}
_CLOSES = re.compile(rb"[})\]]|end\b")
# An annotation alone on its line belongs to the next line.
_ANNOTATION = re.compile(rb"(?:@[\w.]+(?:\(.*\))?|#?\[.*\]|template\s*<.*>)\s*$")
_SPANNING = re.compile(rb"\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|/\*[\s\S]*?\*/")
_TEXT = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|//[^\n]*")
_FINEST_BYTES = 40_000_000
"""The number of bytes after which a search stops parsing and returns the pieces found so far."""


def split_pieces(text: bytes, begin: int, end: int) -> list[Span]:
    """Split a range into pieces. Each is a line of the smallest indentation with the deeper lines below it."""
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
    """A search for the smallest unreadable pieces of a text."""

    def __init__(self, text: bytes, layout: bytes, head: bytes, lost: Lost) -> None:
        """`layout`: the text before rewriting, of the same length; its lines and indents decide where pieces begin."""
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
        # A piece with an opening bracket and the piece with its closing bracket cannot be read separately.
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
            # An `else`, or a name after its type, may be a separate piece that can be read only with its neighbour.
            neighbours = [text[slice(*other)] for other in spans[max(number - 1, 0) : number + 2]]
            if all(self._fails(before + first + second + after) for first, second in pairwise(neighbours)):
                yield from self._inside(piece, before, after)

    def _inside(self, piece: Span, before: bytes, after: bytes) -> list[Span]:
        text, layout = self._text, self._layout
        begin = layout.find(b"\n", *piece) + 1
        end = layout.rfind(b"\n", begin, piece[0] + len(layout[slice(*piece)].rstrip())) + 1
        last = layout[end : piece[1]].strip()
        # A last line that closes nothing is a statement, so it is one of the inner lines.
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
"""The largest share of unreadable bytes that is accepted without a search for the unreadable pieces."""

_APART_BYTES = 4_000_000
"""Each unreadable piece is parsed separately if the length of the text times the number of pieces is below this."""


class Reading(NamedTuple):
    rewritten: Rewritten
    source: bytes
    """The merged text of all trees, of the same length as the original."""
    roots: tuple[Node, ...]
    """The tree of the rewritten text, and the trees of its layers."""
    lost: int
    """The size of the loss: the bytes of ERROR nodes, plus one for each missing node and each lost word."""


def read(source: bytes, grammar: str, repairs: Sequence[Rewriting] = (), head: bytes = b"") -> Reading:
    """Parse a text. If the tree has errors, try each rewriting in turn, and keep it unless it loses more bytes. `head`:
    the beginning that every file of the language must have."""
    rewritten = Rewritten(source)
    for repair in repairs:
        if repair.always:
            rewritten = _chain(rewritten, repair)
    best = _parse(rewritten, grammar)
    for repair in repairs:
        if not best.lost:
            break
        # Each rewriting is applied to the result of the rewritings kept so far.
        extended = _chain(rewritten, repair)
        if extended.trouble and not best.rewritten.trouble:
            best = best._replace(rewritten=best.rewritten._replace(trouble=extended.trouble))
        if not repair.always and extended.text != rewritten.text:
            candidate = _parse(extended, grammar)
            if candidate.lost <= best.lost:
                rewritten, best = extended, candidate
    if best.lost <= len(source) * LITTLE:
        return best
    # Parse the unreadable pieces separately, and keep the result if it loses fewer bytes.
    text = rewritten.text
    head = head if text.startswith(head) else b""
    spans = Search(text, source, head, lambda part: lost_bytes(parse_tree(part, grammar).root_node)).unreadable()
    # Each piece gets its own tree if that is cheap; otherwise all pieces share one tree.
    groups = [[span] for span in spans] if len(text) * len(spans) < _APART_BYTES else [spans]
    parts = tuple(keep_spans(text, group, head) for group in groups)
    pieces = _parse(rewritten._replace(text=blank_spans(text, spans), layers=rewritten.layers + parts), grammar)
    return pieces if spans and pieces.lost < best.lost else best


def _chain(first: Rewritten, repair: Rewriting) -> Rewritten:
    try:
        second = repair.apply(first.text)
        if len(second.text) != len(first.text):
            raise ValueError("a rewriting changed the length of the text")
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
    # All texts are merged, to find the names of all trees. The first layer has precedence, so it is written last.
    overlaid = bytearray(text)
    for layer in reversed(rewritten.layers):
        for part in re.finditer(rb"\S+", layer):
            overlaid[part.start() : part.end()] = part[0]
    return Reading(rewritten, bytes(overlaid) if rewritten.layers else text, roots, lost)


def lost_bytes(root: Node) -> int:
    """Return the number of bytes in outermost ERROR nodes, plus the number of missing nodes."""
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


# Nodes with these words in their type hold plain text, not names.
_NO_WORDS = re.compile(r"comment|string|char|content|fragment|escape|heredoc|regex|literal|_text$")


def share_lost(reading: Reading) -> float:
    """Return the share of a file's words (names and keywords) that are in no tree, 0 to 1."""
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
    """Return the size of the syntax errors: the result of `syntax.errors` if that is set, else of `lost_bytes`."""
    if syntax.errors:
        return syntax.errors(text, grammar)
    return lost_bytes(parse_tree(text.encode(), grammar).root_node)
