"""The agreement of the proposed calls with the calls that the developer added to an object.

Every evaluated session is in the denominator of its strategy. A RANDOM session counts once, with its lookups' mean.
"""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import FAILED, SessionScore
from ci_eval.core.queries.cases import RECALL_AT, has_end
from ci_eval.core.scoring import evaluated, make_metric
from ci_eval.plugins.tasks.method_calls import TASK, mean

STRATEGIES = {"Real": "REAL", "RealStar": "REAL*", "Random": "RANDOM", "Linear": "LINEAR"}
"""The suffix of a metric's name → the strategy of its queries."""


OF_CHOICES = {"f1", "precision", "recall"}
"""The grades that depend on where a list ends. A list of a completion engine has no meaningful end."""


def metric(name: str, summary: str, grade: str, strategy: str = "", *, shown: bool = False) -> Metric:
    """Return the metric of a grade's mean over the queries of `strategy` (all queries if empty). A failure is 0."""

    def observe(session: SessionScore) -> Sequence[Observation]:
        counts = evaluated(session) and strategy in {"", session.properties.strategy}
        if not counts or (grade in OF_CHOICES and not has_end(session)):
            return []
        return [(0.0 if session.status in FAILED else mean(session, grade), 1.0)]

    return make_metric(name, summary, observe, shown=shown, order=(6, 3), of=TASK.unit)


METRICS: tuple[Metric, ...] = (
    metric("F1", "F1 of proposed and expected calls, 0 without proposals; over all strategies", "f1", shown=True),
    *(
        metric(f"F1{end}", f"F1 over {name} queries alone", "f1", name, shown=end == "Real")
        for end, name in STRATEGIES.items()
    ),
    metric("CallPrecision", "share of the proposed calls that are expected, 1 without proposals", "precision"),
    metric("CallRecall", "share of the expected calls that are proposed", "recall"),
    metric("RPrecision", "share of the N expected calls that are among the first N proposals", "rPrecision"),
    *(
        metric(
            f"CallRecallAt{most}", f"share of expected calls that are in the first {most} proposals", f"recall.{most}"
        )
        for most in RECALL_AT
    ),
    metric("CallReciprocalRank", "1 / the rank of the first expected call, 0 without one", "reciprocalRank"),
)
