"""The jobs for suites. A suite is a table with a row for each of a configuration's `projects`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import strftime

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import CiEvalError, ConfigError, WorkspaceError
from ci_eval.core.compare.compare import BUSY
from ci_eval.core.config import Config, ProjectConfig
from ci_eval.core.config.loading import UNCHANGED, View
from ci_eval.core.filters import label
from ci_eval.core.model import Comparison, Suite, SuiteProject
from ci_eval.core.statistics.paired import over_projects
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import compare as compare_job
from ci_eval.jobs import compare_engines as compare_engines_job
from ci_eval.jobs import evaluate as evaluate_job
from ci_eval.jobs import runs
from ci_eval.jobs.compare_engines import Side
from ci_eval.jobs.pipeline import Done
from ci_eval.jobs.runs import RunOptions
from ci_eval.rendering import reporters
from ci_eval.rendering.figures import shown_filter

MOST_NAMED = 60
NAME = "suite.json"


def announce_rows(kind: str, rows: Mapping[str, str], screen: Screen) -> Iterator[tuple[str, str]]:
    for number, (name, title) in enumerate(rows.items(), 1):
        screen.say(f"{kind} {number} of {len(rows)}: {title}")
        yield name, title


def name_row(number: int, text: str, otherwise: str, *, ending: bool = False) -> str:
    """Return the name of a row's folder: the number (from 1) and the text. Only the beginning of a long text is used,
    or its end if `ending`. `otherwise` replaces a text without usable characters."""
    # The number distinguishes texts that are equal after the replacement.
    characters = re.sub(r"[^A-Za-z0-9._-]+", "-", text)
    characters = characters[-MOST_NAMED:] if ending else characters[:MOST_NAMED]
    return f"{number:02}-{characters.strip('-.') or otherwise}"


def evaluate(config: Config, run: RunOptions, *, rounds: int = 1, gates: Sequence[str] = ()) -> Done[Suite]:
    """Evaluate each project. Raises the errors of `evaluate` for a single project."""
    folder = runs.choose_output(config, run.output)
    if not run.resume:
        atomic.empty_folder(folder)
    done = {
        name: evaluate_job.evaluate(
            _of_project(config, spec), replace(run, output=folder / name), rounds=rounds, gates=gates
        )
        for name, spec in announce_rows("Project", _name_folders(config.projects), run.screen)
    }
    first = next(iter(done.values())).result
    known = {info.name: info for info in first.metrics}
    infos = [known[name] for name in config.declared if name in known]
    projects = []
    for name, evaluated in done.items():
        # The table has the figures that each report shows first.
        _, figures = shown_filter(evaluated.result)
        projects.append(
            SuiteProject(
                project=evaluated.result.project,
                folder=name,
                sessions=figures.sessions,
                figures={info.name: figures.metrics[info.name] for info in infos if info.name in figures.metrics},
                busy=evaluated.result.machine.busy,
                trouble=str(evaluated.trouble or ""),
            )
        )
    shown = {name: [project.figures[name] for project in projects if name in project.figures] for name in known}
    values = {name: [figure.value for figure in of if figure.value is not None] for name, of in shown.items()}
    table = Suite(
        title=first.title,
        about=f"({label(first.headline)})",
        projects=tuple(projects),
        overall=over_projects(values, infos),
        metrics=tuple(infos),
        compared=False,
    )
    return _write(table, folder, [evaluation.trouble for evaluation in done.values()])


def compare_engines(
    sides: Sequence[Side], run: RunOptions, *, rounds: int, gates: Sequence[str], allow_conditions: bool = False
) -> Done[Suite]:
    """Compare two sides in each project. Raises the errors of `compare_engines` for a single project."""
    if len(sides) > 2:
        raise ConfigError(f"a suite of projects compares two sides, and {len(sides)} are given: leave out the others")
    folder = runs.choose_output(sides[0].config, run.output)
    if not run.resume:
        atomic.empty_folder(folder)
    done = {
        name: compare_engines_job.compare_engines(
            [replace(side, config=_of_project(side.config, spec)) for side in sides],
            replace(run, output=folder / name),
            rounds=rounds,
            gates=gates,
            allow_conditions=allow_conditions,
        )
        for name, spec in announce_rows("Project", _name_folders(sides[0].config.projects), run.screen)
    }
    alone = [compared.trouble for compared in done.values() if not compared.result and compared.trouble]
    outcomes = {name: compared.result for name, compared in done.items() if compared.result}
    for trouble in alone:
        # If no project has a comparison, there is no table, and the first failure is raised.
        if not outcomes:
            raise trouble
        run.screen.warn(f"left out of the table: {trouble}")
    troubles = [done[name].trouble for name in outcomes]
    comparisons = {f"{name}/comparison": outcome.comparisons[0].comparison for name, outcome in outcomes.items()}
    return _write(tabulate_comparisons(comparisons, troubles), folder, [*alone, *troubles])


def is_suite(folder: Path) -> bool:
    # A folder with a manifest is a workspace.
    return (folder / NAME).is_file() and not (folder / "manifest.json").exists()


def compare_suites(
    base: Path,
    new: Path,
    *,
    gates: Sequence[str],
    output: Path | None,
    user: str | None,
    first_night: bool = False,
    view: View = UNCHANGED,
    screen: Screen,
) -> Done[Suite]:
    """Compare the projects that both suites have. Gates of a project that only one suite has are not judged, which is a
    failure; on a `first_night`, `new` may have more projects. Raises WorkspaceError without evaluations or a common
    project, and the errors of `compare`."""
    mine, theirs = _workspaces(base), _workspaces(new)
    both = [spec for spec in mine if spec in theirs]
    if not both:
        raise WorkspaceError(
            f"no project is in both suites: {base} has {', '.join(mine)}; {new} has {', '.join(theirs)}. A project "
            "is in both if `projects` has the same SPEC, with the same version, in both"
        )
    alone = {base: sorted(mine.keys() - theirs.keys()), new: sorted(theirs.keys() - mine.keys())}
    for side, missing in alone.items():
        if missing:
            screen.warn(f"left out, since only {side} has them: {', '.join(missing)}")
    unjudged = alone[base] + ([] if first_night else alone[new])
    folder = atomic.empty_folder(output or Path("ci-eval-comparison") / strftime("%Y-%m-%d_%H-%M-%S"))

    done = {
        name: compare_job.compare(
            (mine[spec], theirs[spec]),
            gates=gates,
            output=folder / name,
            history=None,
            user=user,
            view=view,
            screen=screen,
        )
        for name, spec in announce_rows("Project", {theirs[spec].name: spec for spec in both}, screen)
    }
    troubles: list[CiEvalError | None] = [outcome.trouble for outcome in done.values()]
    comparisons = {name: outcome.comparisons[0].comparison for name, outcome in done.items()}
    table = tabulate_comparisons(comparisons, troubles)
    if unjudged and any(comparison.gates for comparison in comparisons.values()):
        rules = [gate.rule for gate in next(iter(comparisons.values())).gates]
        why = f"one suite lacks {', '.join(unjudged)}"
        troubles.append(compare_job.unjudged_error(rules, why, "evaluate these in both, or remove them from both"))
    return _write(table, folder, troubles)


def _workspaces(folder: Path) -> dict[str, Path]:
    path = folder / NAME
    suite = stored.decode_json(stored.read(path, stored.FIGURES), Suite, path)
    if suite.compared:
        raise WorkspaceError(f"{folder} holds comparisons: give suites that `ci-eval evaluate` made")
    try:
        # Somebody else may have written the file, and a path in it could lead out of the folder.
        workspaces = {project.project.spec: folder / stored.inside(project.folder) for project in suite.projects}
    except ValueError as error:
        raise WorkspaceError(f"{path} is damaged: {error}; evaluate again") from error
    for workspace in workspaces.values():
        Workspace.open(workspace)
    return workspaces


def _name_folders(projects: Sequence[str]) -> dict[str, str]:
    numbered = enumerate(projects, 1)
    return {name_row(number, spec.partition("#")[0], "project", ending=True): spec for number, spec in numbered}


def _of_project(config: Config, spec: str) -> Config:
    # `prepare` refuses a configuration with `projects`.
    return replace(config, projects=(), project=ProjectConfig(spec=spec, dependencies=config.project.dependencies))


def _write(suite: Suite, folder: Path, troubles: Sequence[CiEvalError | None]) -> Done[Suite]:
    reports = reporters.write(suite, None, folder)
    return Done(folder=folder, result=suite, reports=reports, trouble=next(filter(None, troubles), None))


def tabulate_comparisons(comparisons: Mapping[str, Comparison], troubles: Sequence[CiEvalError | None]) -> Suite:
    first = next(iter(comparisons.values()))
    infos = [info for name in first.declared for info in first.metrics if info.name == name]
    projects = tuple(
        SuiteProject(
            project=comparison.new.project,
            folder=folder,
            sessions=comparison.counts[comparison.headline].sessions,
            differences={name: comparison.filters[comparison.headline][name] for name in first.declared},
            busy=any(warning.startswith(BUSY) for warning in comparison.warnings),
            trouble=str(trouble or ""),
        )
        for (folder, comparison), trouble in zip(comparisons.items(), troubles, strict=True)
    )
    shown = {name: [project.differences[name].difference for project in projects] for name in first.declared}
    known = {name: [value for value in values if value is not None] for name, values in shown.items()}
    return Suite(
        title=f"{first.base.title} → {first.new.title}",
        about=f"({label(first.headline)})",
        projects=projects,
        overall=over_projects(known, infos, judged=True),
        metrics=tuple(infos),
        compared=True,
    )
