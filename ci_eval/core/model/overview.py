"""The result of comparing more than two evaluations, or of a history."""

from __future__ import annotations

from ci_eval.core.model.comparison import Difference, Side
from ci_eval.core.model.report import Estimate, MetricInfo
from ci_eval.core.model.tokens import Value
from ci_eval.core.model.trend import Trend


class Ranking(Value, frozen=True, kw_only=True):
    """A ranking of several evaluations over the sessions that all of them have; the best first."""

    sides: tuple[Side, ...]
    order: tuple[int, ...] = ()
    """The position of each side among the evaluations in their given order, from 0."""
    sessions: int
    files: int
    headline: str = "ALL"
    """The name of the filter whose sessions are ranked."""
    declared: tuple[str, ...]
    figures: tuple[dict[str, Estimate], ...]
    """The figures of each side, by metric."""
    times: tuple[dict[str, Estimate], ...] = ()
    """The figures of time, or of memory, of each side, by metric. Nothing is ranked by them: the machine may have been
    busier with one side than with another."""
    pairs: dict[str, tuple[tuple[Difference | None, ...], ...]]
    """The table of differences by declared metric, row's side - column's side: those of the pair's comparison, if it
    has one; adjusted for the number of declared metrics alone."""
    ahead: tuple[int, ...]
    """The number of other sides that each side is shown to be better than, by the first declared metric."""
    behind: tuple[int, ...]
    metrics: tuple[MetricInfo, ...]
    warnings: tuple[str, ...] = ()


class Overview(Value, frozen=True, kw_only=True):
    """The first page over several comparisons, or over a history without one."""

    title: str
    ranking: Ranking | None = None
    trend: Trend | None = None
    trends: tuple[Trend, ...] = ()
    """The trend of each side of the ranking, in its order; empty if no history is known."""
    comparisons: dict[str, str] = {}
    """The folder of each comparison by its title, relative to the overview's."""
    workspaces: tuple[str, ...] = ()
    """The folder of each side of the ranking, relative to the overview's."""
