"""The quality of completion inside a token that stands in the code: whether it is offered, and what acceptance leaves.

There are no ranks: the engine sees the whole word, and may order by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import MetricInfo, SessionScore
from ci_eval.core.scoring import evaluated
from ci_eval.plugins.tasks.inside import TASK, is_intact, is_offered


def _metric(name: str, summary: str, holds: Callable[[SessionScore], bool]) -> Metric:
    def observe(session: SessionScore) -> Sequence[Observation]:
        return [(float(holds(session)), 1.0)] if evaluated(session) else []

    info = MetricInfo(name=name, summary=summary, unit="share", better="higher", shown=True)
    return Metric(info=info, observe=observe, of=TASK.unit, order=(6, 2))


METRICS: tuple[Metric, ...] = (
    _metric(
        "IntactInside",
        "share of sessions in which acceptance of a suggestion leaves the code as it is, the caret inside the token",
        is_intact,
    ),
    _metric(
        "OfferedInside",
        "share of sessions in which a suggestion has the token's name, whatever acceptance leaves",
        is_offered,
    ),
)
