"""A suite: each of a configuration's `projects` evaluated, or two engines compared over it; and one table of all."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from ci_eval import atomic, reporters
from ci_eval.ci import Screen
from ci_eval.config import Config, ProjectConfig
from ci_eval.errors import CiEvalError
from ci_eval.jobs import compare_engines as compare_engines_job
from ci_eval.jobs import evaluate as evaluate_job
from ci_eval.jobs.compare_engines import Asked
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.jobs.runs import workspace_for
from ci_eval.jobs.suites import shards
from ci_eval.model import Comparison, MetricInfo, Suite, SuiteProject
from ci_eval.rendering.ladder import label, shown_filter
from ci_eval.shards import Shard
from ci_eval.statistics.projects import differences_over_projects, over_projects

T = TypeVar("T", Evaluated, Asked)


@dataclass(frozen=True, kw_only=True)
class Suited:
    """The result of either job."""

    folder: Path
    suite: Suite
    reports: dict[str, Path]
    trouble: CiEvalError | None
    """Why the job fails although its reports are written: that of the first project with any; None if it does not."""


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
    """Evaluate each project in a workspace of its own; of a `shard`, only its own projects.

    Raises as `evaluate` of one project does.
    """

    def one(own: Config, folder: Path) -> Evaluated:
        return evaluate_job.evaluate(
            own, output=folder, jobs=jobs, resume=resume, rounds=rounds, gates=gates, screen=screen
        )

    folder, done = _each(config, output, one, resume=resume, screen=screen, shard=shard)
    return written(evaluated(config, done), folder, [each.trouble for each in done.values()])


def compare_engines(
    config: Config,
    engines: Sequence[str],
    *,
    rounds: int,
    gates: Sequence[str],
    output: Path | None,
    jobs: int,
    resume: bool,
    screen: Screen,
    like: str | None = None,
    allow_conditions: bool = False,
) -> Suited:
    """Compare two engines over each project. Raises as `compare_engines` of one project does."""

    def one(own: Config, folder: Path) -> Asked:
        return compare_engines_job.compare_engines(
            own,
            engines,
            rounds=rounds,
            gates=gates,
            output=folder,
            jobs=jobs,
            resume=resume,
            screen=screen,
            like=like,
            allow_conditions=allow_conditions,
        )

    folder, done = _each(config, output, one, resume=resume, screen=screen)
    found = {
        f"{name}/comparison": each.outcome.comparisons[0].comparison for name, each in done.items() if each.outcome
    }
    alone = [each.trouble for each in done.values() if not each.outcome and each.trouble]
    for trouble in alone:
        if not found:
            raise trouble
        screen.warn(f"left out of the table: {trouble}")
    troubles = [each.trouble for each in done.values() if each.outcome]
    return written(compared(found, troubles), folder, [*alone, *troubles])


def _each(
    config: Config,
    output: Path | None,
    one: Callable[[Config, Path], T],
    *,
    resume: bool,
    screen: Screen,
    shard: Shard | None = None,
) -> tuple[Path, dict[str, T]]:
    """Folder of the suite; by the name of its folder, what came of each project."""
    folder = workspace_for(config, output)
    if shard:
        shards.check(config, shard)
    if not resume:
        atomic.empty_folder(folder)
    if shard:
        shards.note(folder, config, shard)
    done = {}
    for number, spec in enumerate(config.projects, 1):
        if shard and not shards.is_of(number, shard):
            continue
        screen.say(f"Project {number} of {len(config.projects)}: {spec}")
        name = folder_name(number, spec)
        own = replace(config, projects=(), project=ProjectConfig(spec=spec, dependencies=config.project.dependencies))
        done[name] = one(own, folder / name)
    return folder, done


def folder_name(number: int, spec: str) -> str:
    """Return the name of the folder with the project of that number (from 1)."""
    return f"{number:02}-{_slug(spec)}"


def _slug(spec: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", spec.partition("#")[0])[-60:].strip("-.") or "project"


def written(suite: Suite, folder: Path, troubles: Sequence[CiEvalError | None]) -> Suited:
    """Return the suite with its reports, which are written; `troubles`: why projects fail, in their order."""
    return Suited(
        folder=folder,
        suite=suite,
        reports={each.name: each.write(suite, folder) for each in reporters.SUITES.all()},
        trouble=next(filter(None, troubles), None),
    )


def evaluated(config: Config, done: Mapping[str, Evaluated]) -> Suite:
    """Return the table of evaluations, given by folder; figures are those that each report shows first."""
    first = next(iter(done.values())).evaluation
    known = {info.name: info for info in first.metrics}
    infos = [known[name] for name in config.declared if name in known]
    projects = tuple(_row(folder, each, infos) for folder, each in done.items())
    values = {name: [project.figures[name].value for project in projects if name in project.figures] for name in known}
    return Suite(
        title=first.title,
        about=f"({label(first.headline)})",
        projects=projects,
        overall=over_projects({name: _known(each) for name, each in values.items()}, infos),
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
        trouble=_said(done.trouble),
    )


def compared(found: Mapping[str, Comparison], troubles: Sequence[CiEvalError | None]) -> Suite:
    """Return the table of comparisons, given by folder; `troubles`: why each of them fails, if it does."""
    first = next(iter(found.values()))
    infos = [info for name in first.declared for info in first.metrics if info.name == name]
    projects = tuple(
        SuiteProject(
            project=each.new.project,
            folder=folder,
            sessions=each.counts[each.headline].sessions,
            differences={name: each.filters[each.headline][name] for name in first.declared},
            trouble=_said(trouble),
        )
        for (folder, each), trouble in zip(found.items(), troubles, strict=True)
    )
    values = {name: [project.differences[name].difference for project in projects] for name in first.declared}
    return Suite(
        title=f"{first.base.title} → {first.new.title}",
        about=f"({label(first.headline)})",
        projects=projects,
        overall=differences_over_projects({name: _known(each) for name, each in values.items()}, infos),
        metrics=tuple(infos),
        compared=True,
    )


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _said(trouble: CiEvalError | None) -> str:
    return str(trouble) if trouble else ""
