"""The rounds of sessions that are asked several times: the first round's answers, and what the others say of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

from msgspec.structs import replace

from ci_eval.core.base import stored
from ci_eval.core.model import UNASKED, Lookup, LookupScore, Otherwise, Session, SourceFile
from ci_eval.core.workspace import Workspace, make_file_name


def round_file(workspace: Workspace, path: str, number: int) -> Path:
    """Return the file that holds the sessions of one round until their source file is through all rounds."""
    return workspace.folder / "rounds" / f"{make_file_name(path)}.{number}.jsonl.zst"


def read_round(file: Path) -> tuple[SourceFile, Iterator[Session]]:
    """Return the source file as that round saw it, and its sessions, one at a time. Raises WorkspaceError if the file
    is damaged."""
    lines = stored.lines(file)
    source = stored.decode_json(next(lines, b""), SourceFile, file)
    return source, (stored.decode_json(line, Session, file) for line in lines)


def together(rounds: Sequence[Iterable[Session]]) -> Iterator[Session]:
    """Yield each session once, with the latencies of all rounds. The suggestions are those of the first round."""
    for first, *others in zip(*rounds, strict=True):
        lookups = tuple(_merge_latencies(index, [first, *others]) for index in range(len(first.lookups)))
        differing = sum(observable_content(session) != observable_content(first) for session in others)
        otherwise = tuple(
            _otherwise(number, session)
            for number, session in enumerate(others, 1)
            if _observable_parts(session) != _observable_parts(first)
        )
        yield replace(first, lookups=lookups, rounds=len(rounds), differing=differing, otherwise=otherwise)


def add_second_result(first: Session, second: Session) -> Session:
    """Return a session with what a second answer by the same process says of it; unchanged if there was none."""
    if second.status in UNASKED:
        return first
    moved = _observable_parts(second) != _observable_parts(first)
    return replace(
        first,
        again=1,
        differing=int(observable_content(second) != observable_content(first)),
        otherwise=(_otherwise(1, second),) if moved else (),
    )


def _otherwise(number: int, session: Session) -> Otherwise:
    lookups = tuple(map(_lookup_score, session.lookups))
    return Otherwise(round=number, status=session.status, lookups=lookups, courses=session.courses)


def observable_content(session: Session) -> object:
    """Return all that a person could tell one answer from another by."""
    lists = [[(suggestion.text, suggestion.tail) for suggestion in lookup.suggestions] for lookup in session.lookups]
    return _observable_parts(session), lists


def _observable_parts(session: Session) -> object:
    """Return all that metrics could tell one answer from another by, except times."""
    return session.status, [
        (
            lookup.prefix,
            lookup.total,
            lookup.rank,
            lookup.offered,
            lookup.selected,
            lookup.grades,
            lookup.duplicates,
            lookup.highlighted,
        )
        for lookup in session.lookups
    ]


def _lookup_score(lookup: Lookup) -> LookupScore:
    return LookupScore(**{name: getattr(lookup, name) for name in LookupScore.__struct_fields__})


def _merge_latencies(index: int, rounds: Sequence[Session]) -> Lookup:
    """Return the first round's lookup with the latencies of all rounds."""
    lookup = rounds[0].lookups[index]
    latencies = tuple(_latency(index, lookup.prefix, session) for session in rounds)
    known = [latency for latency in latencies if latency is not None]
    # The median: one disturbed round of three must not count.
    return replace(lookup, latency=round(median(known), 3), latencies=latencies)


def _latency(index: int, prefix: str, session: Session) -> float | None:
    """Return the lookup's latency in a round; None if the round has no such lookup."""
    # That round may have failed earlier, or other answers may have led the user elsewhere.
    if index >= len(session.lookups) or session.lookups[index].prefix != prefix:
        return None
    return session.lookups[index].latency
