"""Find the caret at which a completion engine is asked about a query case, and store the texts of a dataset.

The caret is behind a `receiver.` that is typed into a text to begin a call. The strategy REAL begins the next call in
the text of the start state. Other strategies take the text of the end state, remove the calls that the query lacks, and
begin the first of these calls. A text is stored once, on its own line, and named by its digest.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256

import msgspec

from ci_eval.core.model import CallPlace, Caret, History, ObjectPlace, ObjectUsage, StoredText, StrategyName, check_path
from ci_eval.core.queries.cases import QueryCase

LONGEST = 200
"""The largest number of characters of a receiver or an indentation."""
Span = tuple[int, int]


def check_places(history: History, text_of: Callable[[str], str]) -> str:
    """Return why the places of a history cannot be used, or "". `text_of`: digest → text; may raise ValueError."""
    try:
        if len(history.places) != len(history.states):
            raise ValueError(f"it has {len(history.states)} states, and places for {len(history.places)}")
        check_path(history.file)
        for place in filter(None, history.places):
            text = text_of(place.text)
            spelled: list[ObjectPlace | CallPlace] = [place, *place.calls]
            for node in spelled:
                if len(node.receiver) > LONGEST or not node.receiver.isprintable():
                    raise ValueError(f"{node.receiver[:50]!r} is not the name of an object")
                if len(node.indent) > LONGEST or node.indent.strip(" \t"):
                    raise ValueError(f"{node.indent[:50]!r} is not an indentation")
            if not place.receiver:
                raise ValueError("a place has no receiver")
            spans = [(0, place.line)]
            for call in place.calls:
                spans += [(call.begin, call.end), call.statement or (0, 0), (0, call.line or 0)]
            if wrong := next((span for span in spans if not span[0] <= span[1] <= len(text)), None):
                raise ValueError(f"{wrong[0]} to {wrong[1]} is not in a text of {len(text)} characters")
    except ValueError as error:
        return f"its places are ignored: {error}"
    return ""


def locate_caret(case: QueryCase, strategy: StrategyName, query: ObjectUsage) -> Caret | None:
    number = case.number if strategy == "REAL" else case.goal
    place = case.history.places[number] if number < len(case.history.places) else None
    if place is None:
        return None
    path = case.history.file
    if strategy == "REAL":
        typed = f"\n{place.indent}{place.receiver}."
        edits = [(place.line, 0, typed)]
        return Caret(path=path, text=place.text, edits=tuple(edits), offset=place.line + len(typed))
    # Type the receiver of the first lacking call that can begin a line. If there is no such call, return None.
    lacking = set(case.after) - set(query.calls)
    going = [call for call in place.calls if call.name in lacking]
    staying = [call for call in place.calls if call.name not in lacking]
    cuts: list[Span] = []
    spans = []
    for call in going:
        begin, end = call.statement or (call.begin, call.end)
        # Remove the whole statement of a call, unless the statement has another call that stays.
        keeps = any(begin <= other.begin <= end for other in staying)
        spans.append((call.begin, call.end) if keeps else (begin, end))
    for begin, end in sorted(spans):
        if cuts and begin <= cuts[-1][1]:
            cuts[-1] = cuts[-1][0], max(end, cuts[-1][1])
        elif begin < end:
            cuts.append((begin, end))
    for call in sorted(going, key=lambda call: call.begin):
        line = call.line
        # A line within a cut would be removed.
        if line is None or not call.receiver or any(begin < line < end for begin, end in cuts):
            continue
        typed = f"\n{call.indent}{call.receiver}."
        edits = [*((begin, end - begin, "") for begin, end in cuts), (line, 0, typed)]
        # Edits are applied from the end of the text, so that none moves the offset of another. Of edits at the same
        # offset, the insertion of the line comes last.
        edits.sort(key=lambda edit: (-edit[0], -edit[1]))
        gone = sum(end - begin for begin, end in cuts if end <= line)
        return Caret(path=path, text=place.text, edits=tuple(edits), offset=line - gone + len(typed))
    return None


def apply_edits(text: str, caret: Caret) -> str:
    for offset, deleted, inserted in caret.edits:
        text = text[:offset] + inserted + text[offset + deleted :]
    return text


LARGEST = 1_000_000
"""The largest number of bytes of a text."""
OPEN = 64
"""The number of unpacked texts that are cached."""


def hash_text(text: str) -> str:
    """Return the digest of a text in hexadecimal. What UTF-8 cannot express is hashed as question marks."""
    return sha256(text.encode(errors="replace")).hexdigest()


def pack_text(text: str) -> StoredText:
    return StoredText(text=hash_text(text), packed=zlib.compress(text.encode(errors="replace"), 9))


def is_text(line: object) -> bool:
    return isinstance(line, Mapping) and "packed" in line


class Texts:
    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}
        self.get = lru_cache(OPEN)(self._unpack)

    def add(self, line: object) -> None:
        # Broken lines are ignored here: the reader of the dataset reports them.
        with suppress(ValueError):
            entry = msgspec.convert(line, StoredText)
            self._packed[entry.text] = entry.packed

    def _unpack(self, digest: str) -> str:
        """Return the text of a digest. Raises ValueError if the text is missing or damaged."""
        if digest not in self._packed:
            raise ValueError(f"the dataset has no text {digest[:12]}: mine it again with --texts")
        unpacking = zlib.decompressobj()
        try:
            # One byte more than allowed is unpacked, to notice a text that is too large.
            data = unpacking.decompress(self._packed[digest], LARGEST + 1)
            text = data.decode()
        except (zlib.error, UnicodeDecodeError) as error:
            raise ValueError(f"the text {digest[:12]} is damaged: {error}") from error
        if len(data) > LARGEST:
            raise ValueError(f"the text {digest[:12]} has more than {LARGEST:,} bytes")
        if "\r" in text or "\0" in text:
            raise ValueError(f"the text {digest[:12]} holds a NUL, or line ends other than \\n")
        if sha256(data).hexdigest() != digest:
            raise ValueError(f"the text {digest[:12]} is damaged: its digest differs")
        return text
