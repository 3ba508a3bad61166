"""A task in which a line is typed with as few actions as the suggestions allow, as in the JetBrains plugin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ci_eval.core import model
from ci_eval.core.contracts import Band, Hands, Item, Task

LONGEST_LINE = 500
"""The maximum length of a line. Longer lines are data or minified code, which nobody types."""

TYPED_AT_MOST = 4
"""The number of typed characters of a token after which no list is requested, as in the JetBrains plugin."""

FEWEST_MOVES = 2
"""The moves in the best case: opening a list whose first suggestion completes the line, and pressing Enter."""

BANDS = (
    Band(name="up to 25 %", outcome="first"),
    Band(name="up to 50 %", outcome="near"),
    Band(name="up to 100 %", outcome="low"),
    Band(name="no gain", outcome="absent"),
)


def items(text: str, tokens: Sequence[model.Token]) -> Iterator[Item]:
    """Yield the lines that contain tokens, without surrounding whitespace."""
    ranges: dict[int, list[tuple[int, int]]] = {}
    for token in tokens:
        start = text.rfind("\n", 0, token.offset) + 1
        ranges.setdefault(start, []).append((token.offset, token.offset + len(token.text)))
    for start, inside in ranges.items():
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        begin = start + len(line) - len(line.lstrip())
        whole = line.strip()
        if len(whole) <= LONGEST_LINE:
            spans = tuple([(first - begin, min(last - begin, len(whole))) for first, last in inside])
            yield Item(
                begin=begin,
                end=begin + len(whole),
                text=whole,
                properties=model.Properties(kind=model.Kind.LINE),
                ranges=spans,
            )


def lookup_offsets(line: model.PlayItem) -> Iterator[tuple[int, int]]:
    """Yield the offsets at which completion is requested, in order, each with the start of the token at that offset."""
    for begin, end in line.ranges:
        yield from ((offset, begin) for offset in range(begin, min(end, begin + TYPED_AT_MOST)))


def askable(line: model.PlayItem) -> int:
    """Return the number of lists that are opened if none of them helps."""
    return sum(1 for _ in lookup_offsets(line))


def play(line: model.PlayItem, hands: Hands) -> None:
    text, typed = line.expected_text, 0
    for offset, begin in lookup_offsets(line):
        if offset < typed:
            # An accepted suggestion has already typed this character.
            continue
        hands.type(text[typed:offset])
        lookup = hands.ask(text[begin:offset], text[begin:])
        typed = offset + (lookup.accepted if lookup else 0)
        hands.type(text[offset:typed])


def rank(expected: str, prefix: str, shown: Sequence[model.Suggestion]) -> int | None:
    """Return the rank of the longest suggestion that continues the line, or None if none is longer than the prefix."""
    fitting = [
        (-len(suggestion.text), number)
        for number, suggestion in enumerate(shown, 1)
        if expected.startswith(suggestion.text)
    ]
    length, best = min(fitting, default=(0, 0))
    return best if -length > len(prefix) else None


def status(lookups: Sequence[model.LookupScore]) -> model.Status:
    """Return OK if a suggestion was accepted, NO_MATCH if all suggestions were ignored, EMPTY if there were none."""
    if any(lookup.selected for lookup in lookups):
        return model.Status.OK
    return model.Status.NO_MATCH if any(lookup.total for lookup in lookups) else model.Status.EMPTY


def moves(session: model.SessionScore) -> int:
    """Return the number of actions that typing a line took. The text that no suggestion inserted counts as typed."""
    accepted = [lookup for lookup in session.lookups if lookup.selected]
    typed = len(session.expected_text) - sum(lookup.accepted for lookup in accepted)
    return typed + len(session.lookups) + sum(lookup.rank or 0 for lookup in accepted)


def most_moves(session: model.SessionScore) -> int:
    """Return the number of actions if every character is typed and every list is opened in vain."""
    return len(session.expected_text) + session.askable


def effort(session: model.SessionScore) -> float:
    """Return where the moves of a line lie between the fewest (0) and the most (1)."""
    return (moves(session) - FEWEST_MOVES) / max(most_moves(session) - FEWEST_MOVES, 1)


def score(session: model.SessionScore) -> float:
    return 1 - effort(session)


def band(session: model.SessionScore) -> Band:
    left = effort(session)
    return BANDS[0] if left <= 0.25 else BANDS[1] if left <= 0.5 else BANDS[2] if left < 1 else BANDS[3]


TASK = Task(
    name="golf",
    summary="whole lines, with as few actions as the suggestions allow",
    unit="lines",
    items=items,
    rank=rank,
    status=status,
    score=score,
    bands=BANDS,
    band=band,
    legend={
        "absent": "no gain",
        "low": "over half of the typing left",
        "near": "up to half left",
        "first": "up to a quarter left",
    },
    heading="How much of the typing is left, by lines",
    play=play,
    action=model.CodeGolf,
    askable=askable,
)
