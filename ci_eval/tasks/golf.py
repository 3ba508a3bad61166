"""Golf: a line is typed with as few actions as the suggestions allow; after the JetBrains plugin's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ci_eval.contracts import Band, Hands, Item, Task
from ci_eval.model import CodeGolf, Kind, LookupScore, PlayItem, Properties, SessionScore, Status, Suggestion, Token

LONGEST_LINE = 500
"""Characters; nobody types longer lines, and where they are (data, minified code) they are very long."""

TYPED_AT_MOST = 4
"""Characters of a token after which nobody waits for a suggestion (as in the JetBrains plugin)."""

FEWEST_MOVES = 2
"""Actions for a line that the first suggestion of the first list completes: the call and Enter."""

BANDS = (
    Band(name="up to 25 %", outcome="first"),
    Band(name="up to 50 %", outcome="near"),
    Band(name="up to 100 %", outcome="low"),
    Band(name="no gain", outcome="absent"),
)


def items(text: str, tokens: Sequence[Token]) -> Iterator[Item]:
    """The lines that hold tokens, without the blanks around them."""
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
            places = tuple([(first - begin, min(last - begin, len(whole))) for first, last in inside])
            yield Item(
                begin=begin, end=begin + len(whole), text=whole, properties=Properties(kind=Kind.LINE), ranges=places
            )


def asked_at(line: PlayItem) -> Iterator[tuple[int, int]]:
    """Where in a line completion is asked for, and where the token begins that is typed there, in order."""
    for begin, end in line.ranges:
        yield from ((place, begin) for place in range(begin, min(end, begin + TYPED_AT_MOST)))


def askable(line: PlayItem) -> int:
    """The lists that are called up if none of them helps."""
    return sum(1 for _ in asked_at(line))


def play(line: PlayItem, hands: Hands) -> None:
    """Type it, taking each suggestion that saves keys where completion is asked for."""
    text, typed = line.expected_text, 0
    for place, begin in asked_at(line):
        if place < typed:
            continue
        hands.type(text[typed:place])
        lookup = hands.ask(text[begin:place], text[begin:])
        typed = place + (lookup.accepted if lookup else 0)
        hands.type(text[place:typed])


def rank(expected: str, prefix: str, shown: Sequence[Suggestion]) -> int | None:
    """Of the longest text that the line goes on with."""
    fitting = [(-len(found.text), number) for number, found in enumerate(shown, 1) if expected.startswith(found.text)]
    length, best = min(fitting, default=(0, 0))
    return best if -length > len(prefix) else None


def status(lookups: Sequence[LookupScore]) -> Status:
    """OK where any suggestion was taken."""
    if any(each.selected for each in lookups):
        return Status.OK
    return Status.NO_MATCH if any(each.total for each in lookups) else Status.EMPTY


def moves(session: SessionScore) -> int:
    """The actions that typing a line took. Where the engine failed, the rest of the line is typed."""
    taken = [lookup for lookup in session.lookups if lookup.selected]
    typed = len(session.expected_text) - sum(lookup.accepted for lookup in taken)
    return typed + len(session.lookups) + sum(lookup.rank or 0 for lookup in taken)


def most_moves(session: SessionScore) -> int:
    """The actions if each character of the line is typed, and each list called up in vain."""
    return len(session.expected_text) + session.askable


def effort(session: SessionScore) -> float:
    """Where a line's moves are between the fewest (0) and the most (1)."""
    return (moves(session) - FEWEST_MOVES) / max(most_moves(session) - FEWEST_MOVES, 1)


def score(session: SessionScore) -> float:
    """The share of the effort that was saved."""
    return 1 - effort(session)


def band(session: SessionScore) -> Band:
    """By the effort that was left."""
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
    action=CodeGolf,
    askable=askable,
)
