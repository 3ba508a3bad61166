"""The same sessions asked several times: the answers of the first round, and what the others say of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

from msgspec.structs import replace

from ci_eval import stored
from ci_eval.model import UNASKED, Lookup, LookupScore, Otherwise, Session, SourceFile
from ci_eval.workspace import Workspace, name_of


def round_file(workspace: Workspace, path: str, number: int) -> Path:
    """Where the sessions of one round stand until their file is through all rounds."""
    return workspace.folder / "rounds" / f"{name_of(path)}.{number}.jsonl.zst"


def read_round(file: Path) -> tuple[SourceFile, Iterator[Session]]:
    """The source file as that round saw it, and its sessions, one at a time. Raises WorkspaceError."""
    lines = stored.lines(file)
    source = stored.decoded(next(lines, b""), SourceFile, file)
    return source, (stored.decoded(line, Session, file) for line in lines)


def together(rounds: Sequence[Iterable[Session]]) -> Iterator[Session]:
    """Each session once, with the latencies of all rounds; what was suggested is what the first round has."""
    for first, *others in zip(*rounds, strict=True):
        lookups = tuple(_timed(place, [first, *others]) for place in range(len(first.lookups)))
        differing = sum(answers_of(each) != answers_of(first) for each in others)
        otherwise = tuple(
            _otherwise(number, each) for number, each in enumerate(others, 1) if _seen(each) != _seen(first)
        )
        yield replace(first, lookups=lookups, rounds=len(rounds), differing=differing, otherwise=otherwise)


def with_second(first: Session, second: Session) -> Session:
    """Return a session with what a second answer by the same process says of it; as it is if there was none."""
    if second.status in UNASKED:
        return first
    moved = _seen(second) != _seen(first)
    return replace(
        first,
        again=1,
        differing=int(answers_of(second) != answers_of(first)),
        otherwise=(_otherwise(1, second),) if moved else (),
    )


def _otherwise(number: int, session: Session) -> Otherwise:
    return Otherwise(round=number, status=session.status, lookups=tuple(map(_scored, session.lookups)))


def answers_of(session: Session) -> object:
    """All that a person could tell one answer from another by."""
    lists = [[(found.text, found.tail) for found in lookup.suggestions] for lookup in session.lookups]
    return _seen(session), lists


def _seen(session: Session) -> object:
    """All that metrics could tell one answer from another by, but for times."""
    return session.status, [
        (each.prefix, each.total, each.rank, each.selected, each.grades, each.duplicates, each.highlighted)
        for each in session.lookups
    ]


def _scored(lookup: Lookup) -> LookupScore:
    return LookupScore(**{name: getattr(lookup, name) for name in LookupScore.__struct_fields__})


def _timed(place: int, rounds: Sequence[Session]) -> Lookup:
    """The first round's lookup; its latency is the median, so that one disturbed round of three does not count."""
    lookup = rounds[0].lookups[place]
    latencies = tuple(_latency(place, lookup.prefix, each) for each in rounds)
    known = [each for each in latencies if each is not None]
    return replace(lookup, latency=round(median(known), 3), latencies=latencies)


def _latency(place: int, prefix: str, session: Session) -> float | None:
    """None where that round failed earlier, or where other answers had led the user elsewhere."""
    if place >= len(session.lookups) or session.lookups[place].prefix != prefix:
        return None
    return session.lookups[place].latency
