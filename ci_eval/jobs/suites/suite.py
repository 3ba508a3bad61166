"""The job for a suite: each of a configuration's `projects` is evaluated, or two engines are compared over it. One
table shows all."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclass_replace
from itertools import combinations
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import CiEvalError
from ci_eval.core.base.shards import Shard
from ci_eval.core.catalogs import reporters
from ci_eval.core.compare.compare import BUSY
from ci_eval.core.config import Config, ProjectConfig
from ci_eval.core.filters import label
from ci_eval.core.model import Comparison, MetricInfo, Suite, SuiteProject
from ci_eval.core.rendering.ladder import shown_filter
from ci_eval.core.statistics.projects import differences_over_projects, over_projects
from ci_eval.jobs import compare_engines as compare_engines_job
from ci_eval.jobs import evaluate as evaluate_job
from ci_eval.jobs.compare import Outcome
from ci_eval.jobs.compare_engines import Asked
from ci_eval.jobs.engine.sides import Side
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.jobs.runs import choose_output
from ci_eval.jobs.suites import shards

T = TypeVar("T", Evaluated, Asked)


@dataclass(frozen=True, kw_only=True)
class Suited:
    """The result of a suite: its folder, its table and its reports."""

    folder: Path
    suite: Suite
    reports: dict[str, Path]
    trouble: CiEvalError | None
    """The reason why the job fails although its reports are written: that of the first failed project; None if it does
    not fail."""


def evaluate(
    config: Config,
    *,
    output: Path | None,
    jobs: int,
    resume: bool,
    rounds: int = 1,
    gates: Sequence[str] = (),
    shard: Shard | None = None,
    screen: Screen,
) -> Suited:
    """Evaluate each project in a workspace of its own. With a `shard`, only its own projects are evaluated.

    Raises as `evaluate` of one project does.
    """

    def one(own: Config, folder: Path) -> Evaluated:
        return evaluate_job.evaluate(
            own, output=folder, jobs=jobs, resume=resume, rounds=rounds, gates=gates, screen=screen
        )

    folder, done = _run_projects(config, output, one, resume=resume, screen=screen, shard=shard)
    return written(tabulate_evaluations(config, done), folder, [evaluation.trouble for evaluation in done.values()])


def compare_engines(
    sides: Sequence[Side],
    *,
    rounds: int,
    gates: Sequence[str],
    output: Path | None,
    jobs: int,
    resume: bool,
    screen: Screen,
    allow_conditions: bool = False,
) -> list[Suited]:
    """Compare the sides over each project; return a table for each pair of them. Raises as `compare_engines` of one
    project does."""

    def one(own: Config, folder: Path) -> Asked:
        of_project = [dataclass_replace(side, config=_of_project(side.config, own.project.spec)) for side in sides]
        return compare_engines_job.compare_engines(
            of_project,
            rounds=rounds,
            gates=gates,
            output=folder,
            jobs=jobs,
            resume=resume,
            screen=screen,
            allow_conditions=allow_conditions,
        )

    folder, done = _run_projects(sides[0].config, output, one, resume=resume, screen=screen)
    alone = [result.trouble for result in done.values() if not result.outcome and result.trouble]
    outcomes = {name: result.outcome for name, result in done.items() if result.outcome}
    for trouble in alone:
        # Without any comparison there is no table, so the first failure is the job's.
        if not outcomes:
            raise trouble
        screen.warn(f"left out of the table: {trouble}")
    troubles = [*alone, *(result.trouble for result in done.values() if result.outcome)]
    if len(sides) == 2:
        comparisons = {f"{name}/comparison": outcome.comparisons[0].comparison for name, outcome in outcomes.items()}
        table = tabulate_comparisons(comparisons, [done[name].trouble for name in outcomes])
        return [written(table, folder, troubles)]
    names = [*combinations(compare_engines_job.name_folders(sides), 2)]
    return [
        _tabulate_pair(number, len(names), outcomes, folder / "pairs" / "-".join(pair), troubles)
        for number, pair in enumerate(names)
    ]


def _tabulate_pair(
    number: int, pairs: int, outcomes: Mapping[str, Outcome], folder: Path, troubles: Sequence[CiEvalError | None]
) -> Suited:
    """Write the table of one of several pairs of sides. `number`: its index among the comparisons of each project."""
    compared = {name: outcome.comparisons[number] for name, outcome in outcomes.items()}
    # Relative paths still hold after the folders are moved together.
    comparisons = {Path(os.path.relpath(one.folder, folder)).as_posix(): one.comparison for one in compared.values()}
    of_gates = [Outcome(folder=one.folder, comparisons=(one,)).trouble for one in compared.values()]
    return written(tabulate_comparisons(comparisons, of_gates, pairs), folder, troubles)


def _run_projects(
    config: Config,
    output: Path | None,
    run_project: Callable[[Config, Path], T],
    *,
    resume: bool,
    screen: Screen,
    shard: Shard | None = None,
) -> tuple[Path, dict[str, T]]:
    """Run a job for each project. Return the folder of the suite, and each project's result by the name of its
    folder."""
    folder = choose_output(config, output)
    if shard:
        shards.check(config, shard)
    if not resume:
        atomic.empty_folder(folder)
    if shard:
        # The note comes after the check above that the folder is empty.
        shards.note(folder, config, shard)
    done = {}
    for number, spec in enumerate(config.projects, 1):
        if shard and not shards.is_of(number, shard):
            continue
        screen.say(f"Project {number} of {len(config.projects)}: {spec}")
        name = folder_name(number, spec)
        done[name] = run_project(_of_project(config, spec), folder / name)
    return folder, done


def _of_project(config: Config, spec: str) -> Config:
    """Return the configuration for one project of the suite."""
    # `prepare` refuses a configuration with `projects`.
    return replace(config, projects=(), project=ProjectConfig(spec=spec, dependencies=config.project.dependencies))


def folder_name(number: int, spec: str) -> str:
    """Return the name of the folder with the project of that number (from 1)."""
    # The number keeps apart what the slug makes equal.
    return f"{number:02}-{_slug(spec)}"


def _slug(spec: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", spec.partition("#")[0])[-60:].strip("-.") or "project"


def written(suite: Suite, folder: Path, troubles: Sequence[CiEvalError | None]) -> Suited:
    """Write the reports of the suite, and return it with their paths. `troubles`: the failures of projects, in their
    order."""
    return Suited(
        folder=folder,
        suite=suite,
        reports=reporters.write(suite, None, folder),
        trouble=next(filter(None, troubles), None),
    )


def tabulate_evaluations(config: Config, done: Mapping[str, Evaluated]) -> Suite:
    """Return the table of evaluations, which are given by folder. Figures are those that each report shows first."""
    first = next(iter(done.values())).evaluation
    known = {info.name: info for info in first.metrics}
    infos = [known[name] for name in config.declared if name in known]
    projects = tuple(_row(folder, evaluation, infos) for folder, evaluation in done.items())
    values = {name: [project.figures[name].value for project in projects if name in project.figures] for name in known}
    return Suite(
        title=first.title,
        about=f"({label(first.headline)})",
        projects=projects,
        overall=over_projects({name: _known(shares) for name, shares in values.items()}, infos),
        metrics=tuple(infos),
        compared=False,
    )


def _row(folder: str, done: Evaluated, infos: Sequence[MetricInfo]) -> SuiteProject:
    _, figures = shown_filter(done.evaluation)
    return SuiteProject(
        project=done.evaluation.project,
        folder=folder,
        sessions=figures.sessions,
        figures={info.name: figures.metrics[info.name] for info in infos if info.name in figures.metrics},
        busy=done.evaluation.machine.busy,
        trouble=_message(done.trouble),
    )


def tabulate_comparisons(
    comparisons: Mapping[str, Comparison], troubles: Sequence[CiEvalError | None], pairs: int = 1
) -> Suite:
    """Return the table of comparisons, which are given by folder.

    `troubles`: the failure of each comparison, or None. `pairs`: the number of such tables over the same projects.
    """
    first = next(iter(comparisons.values()))
    infos = [info for name in first.declared for info in first.metrics if info.name == name]
    projects = tuple(
        SuiteProject(
            project=comparison.new.project,
            folder=folder,
            sessions=comparison.counts[comparison.headline].sessions,
            differences={name: comparison.filters[comparison.headline][name] for name in first.declared},
            busy=any(warning.startswith(BUSY) for warning in comparison.warnings),
            trouble=_message(trouble),
        )
        for (folder, comparison), trouble in zip(comparisons.items(), troubles, strict=True)
    )
    values = {name: [project.differences[name].difference for project in projects] for name in first.declared}
    known = {name: _known(differences) for name, differences in values.items()}
    return Suite(
        title=f"{first.base.title} → {first.new.title}",
        about=f"({label(first.headline)})",
        projects=projects,
        overall=differences_over_projects(known, infos, pairs),
        metrics=tuple(infos),
        compared=True,
        pairs=pairs,
    )


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _message(trouble: CiEvalError | None) -> str:
    return str(trouble) if trouble else ""
