"""The result of evaluating, or comparing, over several projects."""

from __future__ import annotations

from typing import Literal

from ci_eval.core.model.comparison import Difference, Verdict
from ci_eval.core.model.report import Estimate, MetricInfo, ProjectInfo
from ci_eval.core.model.tokens import Value


class OverProjects(Value, frozen=True, kw_only=True):
    """A metric over the projects of a suite, each of which weighs the same: the mean of their figures, or of their
    differences (new - base)."""

    mean: float | None
    n: int
    """The number of projects that have a figure."""
    population: Literal["other projects"] = "other projects"
    """The subject of interval, p-value and verdict: projects like these, of which these are the sample."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval of the mean; those of several metrics hold together. None if there are too few projects."""
    p: float | None = None
    """The two-sided p-value of a mean difference."""
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    """The reason for the verdict."""


class SuiteProject(Value, frozen=True, kw_only=True):
    """A project of a suite with its figures."""

    project: ProjectInfo
    folder: str
    """The folder of its workspace, or of the comparison, relative to the suite's folder."""
    sessions: int
    """The number of evaluated sessions, or of pairs of them."""
    figures: dict[str, Estimate] = {}
    """The figures by declared metric."""
    differences: dict[str, Difference] = {}
    """The differences (new - base) by declared metric, in a suite of comparisons."""
    busy: bool = False
    """True if the machine was busy, so that times say more about it than about the engine."""
    trouble: str = ""
    """The reason why this project fails the command, such as a broken gate; "" if it does not."""


class Suite(Value, frozen=True, kw_only=True):
    """A suite: projects in the order of the configuration, and each declared metric over all of them."""

    title: str
    about: str = ""
    """The sessions that the figures are about, if these are not all."""
    projects: tuple[SuiteProject, ...]
    overall: dict[str, OverProjects]
    metrics: tuple[MetricInfo, ...]
    """The declared metrics, in order."""
    compared: bool
    """True if the projects hold comparisons."""
    pairs: int = 1
    """The number of pairs of sides, each with a table like this one; verdicts over all projects are adjusted for it."""
