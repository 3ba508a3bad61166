"""The result of evaluating, or comparing, over several projects."""

from __future__ import annotations

from typing import Literal

from ci_eval.model.comparison import Difference, Verdict
from ci_eval.model.report import Estimate, MetricInfo, ProjectInfo
from ci_eval.model.tokens import Value


class OverProjects(Value, frozen=True, kw_only=True):
    """One metric over the projects of a suite, each of which weighs the same: the mean of their figures, or of their
    differences (new - base)."""

    mean: float | None
    n: int
    """Projects that have a figure."""
    population: Literal["other projects"] = "other projects"
    """What interval, p-value and verdict are about: projects like these, of which these are the sample."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval of the mean; those of several metrics hold together. None where there are too few projects."""
    p: float | None = None
    """Two-sided p-value of a mean difference."""
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    """The reason for the verdict."""


class SuiteProject(Value, frozen=True, kw_only=True):
    """One project of a suite."""

    project: ProjectInfo
    folder: str
    """Its workspace, or the comparison, relative to the suite's folder."""
    sessions: int
    """Evaluated ones, or pairs of them."""
    figures: dict[str, Estimate] = {}
    """Declared metric → figure."""
    differences: dict[str, Difference] = {}
    """Declared metric → difference (new - base), in a suite of comparisons."""
    trouble: str = ""
    """Why this project fails the command, such as a broken gate; "" if it does not."""


class Suite(Value, frozen=True, kw_only=True):
    """Projects in the order of the configuration, and each declared metric over all of them."""

    title: str
    about: str = ""
    """What the figures are of, where that is not all sessions."""
    projects: tuple[SuiteProject, ...]
    overall: dict[str, OverProjects]
    metrics: tuple[MetricInfo, ...]
    """The declared ones."""
    compared: bool
    """Whether these are comparisons."""
