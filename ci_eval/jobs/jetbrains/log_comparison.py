"""The job `logs compare`: are synthetic logs like real ones, and do they train as good a ranker?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from ci_eval.ci import Screen
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import NothingToEvaluate
from ci_eval.core.statistics.contingency import ChiSquare, chi_square, total_variation
from ci_eval.jobs.jetbrains.judging import Rankers, compare_logs, read_event_sessions
from ci_eval.plugins.learning import training
from ci_eval.plugins.learning.event_training import expected_kinds
from ci_eval.plugins.learning.events import ShownSession


class Distribution(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    name: str
    synthetic: dict[str, int]
    real: dict[str, int]
    total_variation: float | None
    chi_square: ChiSquare | None


class LogComparison(msgspec.Struct, frozen=True, kw_only=True):
    synthetic: int
    real: int
    distributions: tuple[Distribution, ...]
    rankers: Rankers | None


def compare(
    synthetic: Path, real: Path, *, label: training.Label, seed: int, threads: int, output: Path | None, screen: Screen
) -> LogComparison:
    """Compare two logs. `output`: a file that gets the result as JSON. Raises WorkspaceError, ConfigError,
    NothingToEvaluate."""
    made, seen = (read_event_sessions(path, seed, screen) for path in (synthetic, real))
    whole = [[*log.train, *log.validation] for log in (made, seen)]
    try:
        rankers = compare_logs(made, seen, label, seed, threads)
    except NothingToEvaluate as error:
        screen.warn(f"no rankers are compared: {error}")
        rankers = None
    comparison = LogComparison(
        synthetic=len(whole[0]),
        real=len(whole[1]),
        distributions=tuple(_distribution(name, of, *whole) for name, of in ASPECTS.items()),
        rankers=rankers,
    )
    if output:
        atomic.write(output, msgspec.json.format(msgspec.json.encode(comparison), indent=2) + b"\n")
    return comparison


# ------------------------------------------------------------------------------------------------- distributions


def _positions(sessions: Sequence[ShownSession]) -> Iterable[str]:
    ended = [session for session in sessions if session.wanted is not None]
    for session in ended:
        rank = session.rank(session.lookups[-1])
        yield "absent" if rank is None else str(rank) if rank <= 5 else "6-10" if rank <= 10 else "11+"


def _spell_count(count: int, most: int) -> str:
    return str(count) if count < most else f"{most}+"


KIND = "kind of what was taken or typed"
ASPECTS: dict[str, Callable[[Sequence[ShownSession]], Iterable[str]]] = {
    "characters typed at the first list": lambda sessions: (
        _spell_count(session.lookups[0].typed, 10) for session in sessions
    ),
    "lists in a session": lambda sessions: (_spell_count(len(session.lookups), 10) for session in sessions),
    "place of what was taken or typed": _positions,
    "outcome": lambda sessions: (session.outcome for session in sessions),
    KIND: lambda sessions: expected_kinds(sessions),
}


def _distribution(
    name: str,
    of: Callable[[Sequence[ShownSession]], Iterable[str]],
    made: Sequence[ShownSession],
    seen: Sequence[ShownSession],
) -> Distribution:
    counts = [dict(sorted(Counter(of(sessions)).items())) for sessions in (made, seen)]
    # Kinds in the words of two programs say nothing about each other.
    alike = name != KIND or bool(counts[0].keys() & counts[1].keys())
    return Distribution(
        name=name,
        synthetic=counts[0],
        real=counts[1],
        total_variation=total_variation(*counts) if alike else None,
        chi_square=chi_square(*counts) if alike else None,
    )
