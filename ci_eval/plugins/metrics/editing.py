"""The metrics of the tasks golf, imports (missing imports), inside (carets inside a token) and silent (new names).

In golf, a session is a line, as in the JetBrains plugin. The moves of a line are the typed characters + the opened
lists + the steps down to each accepted suggestion + one Enter for each of them. For a caret inside a token, ranks do
not count: the engine sees the whole word and may sort by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ci_eval.core import scoring
from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import SessionScore
from ci_eval.plugins.tasks.completion import IMPORTS, INSIDE, SILENT, is_intact, is_offered, is_silent
from ci_eval.plugins.tasks.golf import FEWEST_MOVES, most_moves, moves
from ci_eval.plugins.tasks.golf import TASK as GOLF


def observe_excess_moves(session: SessionScore) -> Sequence[Observation]:
    """Return (moves - fewest, most - fewest). `most` counts every character as typed and every list as opened in vain.

    The metric is the ratio of the sums: 0 if the first suggestion completed every line, 1 if no suggestion helped.
    """
    most = most_moves(session)
    # If typing the line by hand already takes the fewest moves, no suggestion can save any.
    if not scoring.evaluated(session) or most <= FEWEST_MOVES:
        return []
    return [(moves(session) - FEWEST_MOVES, most - FEWEST_MOVES)]


def perfect(session: SessionScore) -> bool:
    """Return whether one suggestion typed more than half of the line."""
    longest = max((lookup.accepted for lookup in session.lookups), default=0)
    return longest * 2 > len(session.expected_text)


def of_offered(name: str, summary: str, value: Callable[[Mapping[str, float]], float]) -> Metric:
    """Return a metric over the sessions that offer the name, with any import. The first such suggestion counts."""

    def observe(session: SessionScore) -> Sequence[Observation]:
        grades = scoring.grades_of(session)
        return [(float(value(grades)), 1.0)] if grades else []

    return scoring.make_metric(name, summary, observe, of=IMPORTS.unit, order=(6, 5))


_import_recall = partial(
    scoring.recall_within,
    name="ImportRecallAt",
    summary="share of names that stood PLACE with the right import",
    of=IMPORTS.unit,
    order=(6, 4),
)
_golf = partial(scoring.make_metric, of=GOLF.unit, order=(6,))
_inside = partial(scoring.mean_over_sessions, of=INSIDE.unit, order=(6, 2), shown=True)

METRICS: tuple[Metric, ...] = (
    _golf(
        "TotalMoves",
        "actions to type all lines",
        scoring.observe_each(moves),
        "count",
        better="lower",
        statistic="count",
        without=0.0,
    ),
    _golf(
        "MovesCountNormalised",
        "actions between the fewest possible (0) and typing everything by hand (1)",
        observe_excess_moves,
        "score",
        better="lower",
        # A suggestion far down a list may take more steps than typing.
        bounds=(0.0, None),
    ),
    _golf("PerfectLine", "share of lines of which one suggestion typed over half", scoring.observe_each(perfect)),
    scoring.mean_over_sessions(
        "SilentShare",
        "share of places for something new at which no suggestion begins with what was typed",
        is_silent,
        of=SILENT.unit,
        order=(6, 3),
        shown=True,
    ),
    _import_recall(1),
    _import_recall(5),
    of_offered(
        "RightModuleAt1",
        "share of offered names whose first suggestion imports the expected object",
        scoring.imports_right,
    ),
    of_offered(
        "SameModuleAt1",
        "the part of RightModuleAt1 that imports from the same module as the code; the rest is re-exported",
        lambda grades: grades[scoring.SAME_MODULE],
    ),
    of_offered(
        "ImportCompilesAt1",
        "share of offered imports after which the file has no more syntax errors than before",
        lambda grades: grades[scoring.COMPILES],
    ),
    _inside(
        "IntactInside",
        "caret inside a token: share of sessions in which accepting a suggestion leaves the code as it is",
        is_intact,
    ),
    _inside(
        "OfferedInside",
        "share of sessions in which a suggestion has the token's name, even if its acceptance changes the code",
        is_offered,
    ),
)
