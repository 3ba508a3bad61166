"""The figures of names that are not imported yet: are they offered, and what does acceptance leave?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.equality import COMPILES, SAME_MODULE, imports_right
from ci_eval.core.model import MetricInfo, SessionScore
from ci_eval.core.scoring import evaluated, grades_of, rank_of
from ci_eval.plugins.tasks.imports import TASK


def import_recall(k: int) -> Metric:
    """Return a metric over all sessions; one on which the engine failed is a miss."""

    def observe(session: SessionScore) -> Sequence[Observation]:
        rank = rank_of(session)
        return [(float(rank is not None and rank <= k), 1.0)] if evaluated(session) else []

    place = "first" if k == 1 else f"among the first {k}"
    summary = f"share of names that stood {place} with the right import"
    info = MetricInfo(name=f"ImportRecallAt{k}", summary=summary, unit="share", better="higher")
    return Metric(info=info, observe=observe, of=TASK.unit, order=(6, 4, k))


def of_offered(name: str, summary: str, value: Callable[[Mapping[str, float]], float], order: int) -> Metric:
    """Return a metric over the sessions in which the name is offered with any import. The first such suggestion
    counts."""

    def observe(session: SessionScore) -> Sequence[Observation]:
        grades = grades_of(session)
        return [(float(value(grades)), 1.0)] if grades else []

    info = MetricInfo(name=name, summary=summary, unit="share", better="higher")
    return Metric(info=info, observe=observe, of=TASK.unit, order=(6, 5, order))


METRICS: tuple[Metric, ...] = (
    import_recall(1),
    import_recall(5),
    of_offered(
        "RightModuleAt1",
        "share of offered imports that bring the expected object: the first suggestion of that name",
        imports_right,
        1,
    ),
    of_offered(
        "SameModuleAt1",
        "the part of RightModuleAt1 that imports from the module the code imports from; the rest is re-exported",
        lambda grades: grades[SAME_MODULE],
        2,
    ),
    of_offered(
        "ImportCompilesAt1",
        "share of offered imports after which the file has no more syntax errors than before",
        lambda grades: grades[COMPILES],
        3,
    ),
)
