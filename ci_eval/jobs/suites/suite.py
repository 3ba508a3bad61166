"""The jobs for a suite, a table with a row for each of a configuration's `projects`.

Each is evaluated, or engines are compared over it; suites that were evaluated are compared, and shards of one merged.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclass_replace
from itertools import combinations
from pathlib import Path
from time import strftime

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import CiEvalError, ConfigError, WorkspaceError
from ci_eval.core.base.shards import Shard
from ci_eval.core.catalogs import reporters
from ci_eval.core.compare.compare import BUSY
from ci_eval.core.config import Config, ProjectConfig
from ci_eval.core.config.loading import UNCHANGED, View
from ci_eval.core.filters import label
from ci_eval.core.manifest import unlike
from ci_eval.core.model import Comparison, MetricInfo, Suite, SuiteProject, Value
from ci_eval.core.rendering.figures import shown_filter
from ci_eval.core.statistics.projects import differences_over_projects, over_projects
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import compare as compare_job
from ci_eval.jobs import compare_engines as compare_engines_job
from ci_eval.jobs import evaluate as evaluate_job
from ci_eval.jobs import runs, single_stages
from ci_eval.jobs.compare import Outcome
from ci_eval.jobs.compare_engines import Asked
from ci_eval.jobs.engine.sides import Side
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.jobs.suites.table import Row, name_row, run_rows

NAME = "suite.json"
NOTE = "shard.json"


@dataclass(frozen=True, kw_only=True)
class Suited:
    folder: Path
    suite: Suite
    reports: dict[str, Path]
    trouble: CiEvalError | None
    """The reason why the job fails although its reports are written: that of the first failed project; None if it does
    not fail."""


class SuiteShard(Value, frozen=True, kw_only=True):
    """The note in a folder that holds a shard of a suite, which evaluates some of its projects as wholes."""

    shard: str
    projects: tuple[str, ...]
    """The specs of all projects of the suite, in the order of the configuration."""


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
    """Evaluate each project in an own workspace; with a `shard`, only the projects of that shard. Raises as
    `evaluate` of one project does."""
    folder = runs.choose_output(config, output)
    if shard:
        check_shard(config, shard)
    if not resume:
        atomic.empty_folder(folder)
    if shard:
        # The note comes after the check above that the folder is empty.
        note_shard(folder, config, shard)

    def one(own: Config, place: Path) -> Evaluated:
        return evaluate_job.evaluate(
            own, output=place, jobs=jobs, resume=resume, rounds=rounds, gates=gates, screen=screen
        )

    done = run_rows("Project", list_rows(config), folder, one, screen, shard)
    return _tabulate_evaluations(config, done, folder)


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
    folder = runs.choose_output(sides[0].config, output)
    if not resume:
        atomic.empty_folder(folder)

    def one(own: Config, place: Path) -> Asked:
        return compare_engines_job.compare_engines(
            [dataclass_replace(side, config=_of_project(side.config, own.project.spec)) for side in sides],
            rounds=rounds,
            gates=gates,
            output=place,
            jobs=jobs,
            resume=resume,
            screen=screen,
            allow_conditions=allow_conditions,
        )

    done = run_rows("Project", list_rows(sides[0].config), folder, one, screen)
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
        return [_write(table, folder, troubles)]
    pairs = [*combinations(compare_engines_job.name_folders(sides), 2)]
    tables = []
    for number, pair in enumerate(pairs):
        target = folder / "pairs" / "-".join(pair)
        compared = [outcome.comparisons[number] for outcome in outcomes.values()]
        # Relative paths still hold after the folders are moved together.
        comparisons = {Path(os.path.relpath(of.folder, target)).as_posix(): of.comparison for of in compared}
        of_gates = [Outcome(folder=of.folder, comparisons=(of,)).trouble for of in compared]
        tables.append(_write(tabulate_comparisons(comparisons, of_gates, len(pairs)), target, troubles))
    return tables


def is_suite(folder: Path) -> bool:
    # A workspace is never taken for a suite.
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
) -> Suited:
    """Compare the projects that both suites have, and write the table of all. Gates were not judged for a project in
    one suite alone: that is a failure, unless it is the `first_night` of a project in `new`. Raises WorkspaceError if a
    suite holds no evaluations, or if no project is in both; else as `compare` of one project does."""
    mine, theirs = _workspaces(base), _workspaces(new)
    both = [spec for spec in mine if spec in theirs]
    if not both:
        raise WorkspaceError(
            f"no project is in both suites: {base} has {', '.join(mine)}; {new} has {', '.join(theirs)}. Projects "
            "are the same where `projects` names them alike, versions included"
        )
    alone = {base: sorted(mine.keys() - theirs.keys()), new: sorted(theirs.keys() - mine.keys())}
    for side, missing in alone.items():
        if missing:
            screen.warn(f"left out, since they are in {side} alone: {', '.join(missing)}")
    unjudged = alone[base] + ([] if first_night else alone[new])
    folder = atomic.empty_folder(output or Path("ci-eval-comparison") / strftime("%Y-%m-%d_%H-%M-%S"))

    def one(sides: tuple[Path, Path], place: Path) -> Outcome:
        return compare_job.compare(sides, gates=gates, output=place, history=None, user=user, view=view, screen=screen)

    rows = [Row(folder=theirs[spec].name, title=spec, given=(mine[spec], theirs[spec])) for spec in both]
    done = run_rows("Project", rows, folder, one, screen)
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


def merge(folders: Sequence[Path], *, output: Path, view: View = UNCHANGED) -> Suited:
    """Return the suite that one machine would have made, with a changed view of each project. Raises WorkspaceError if
    shards are missing, unfinished, or do not belong together."""
    sources = _check_shards(folders)
    atomic.empty_folder(output)
    for name, source in sources.items():
        with atomic.writing(output / name):
            shutil.copytree(source, output / name)
    reported = single_stages.only_reports([output / name for name in sources], view=view)
    config = runs.stored_config(Workspace.open(output / next(iter(sources))))
    return _tabulate_evaluations(config, dict(zip(sources, reported, strict=True)), output)


def _check_shards(folders: Sequence[Path]) -> dict[str, Path]:
    """Return the folder of each project, by its name, in the order of the projects. Raises WorkspaceError unless all
    were evaluated to their ends, in the same way."""
    notes = {folder: read_shard(folder) for folder in folders}
    first = notes[folders[0]]
    of = Shard.parse(first.shard).of
    shards: dict[int, Path] = {}
    for folder, note in notes.items():
        own = Shard.parse(note.shard)
        if (note.projects, own.of) != (first.projects, of):
            raise WorkspaceError(f"{folder} is of another suite than {folders[0]}, or of one with more or fewer shards")
        if own.index in shards:
            raise WorkspaceError(f"{folder} and {shards[own.index]} are both shard {own}: give one of them")
        shards[own.index] = folder
    if missing := [f"{index}/{of}" for index in range(1, of + 1) if index not in shards]:
        raise WorkspaceError(f"shards are missing: {', '.join(missing)}; give all {of} folders")
    project_folders = {}
    whole: Workspace | None = None
    for number, spec in enumerate(first.projects, 1):
        # This is the inverse of `table.is_of`.
        above, name = shards[(number - 1) % of + 1], folder_name(number, spec)
        folder = project_folders[name] = above / name
        if not (folder / "manifest.json").is_file() or not Workspace.open(folder).manifest().complete:
            raise WorkspaceError(
                f"{folder} was not finished; take it up with --resume --output {shlex.quote(str(above))}"
            )
        workspace = Workspace.open(folder)
        workspace.verify()
        whole = whole or workspace
        for condition, was, now in unlike(_conditions(whole), _conditions(workspace)):
            raise WorkspaceError(f"{folder} does not go with {whole.folder}: its {condition} is {now}, not {was}")
    return project_folders


def _conditions(workspace: Workspace) -> dict[str, object]:
    manifest = workspace.manifest()
    config = replace(runs.stored_config(workspace), project=ProjectConfig())
    # Each project has its own files.
    return {**manifest.answering(), "file filter": "", "ci-eval": manifest.ci_eval, "configuration": config}


def check_shard(config: Config, shard: Shard) -> None:
    """Check that the shard has a project. Raises ConfigError if it would have nothing to do."""
    if shard.of > len(config.projects):
        raise ConfigError(
            f"--shard {shard}: a suite of {len(config.projects)} projects has {len(config.projects)} shards at most, "
            "since each project is evaluated as a whole"
        )


def note_shard(folder: Path, config: Config, shard: Shard) -> None:
    """Write the note of a shard into its folder. Raises WorkspaceError if the folder holds another shard."""
    note = SuiteShard(shard=str(shard), projects=config.projects)
    if (folder / NOTE).is_file() and read_shard(folder) != note:
        raise WorkspaceError(f"{folder} holds another shard, or one of another suite: choose another --output")
    atomic.write(folder / NOTE, msgspec.json.format(msgspec.json.encode(note), indent=2) + b"\n")


def find_shards(places: Sequence[Path]) -> list[Path]:
    """Return the shards of suites among these folders, and directly below the folders that are no shards."""
    shards: list[Path] = []
    for place in places:
        shards += [place] if (place / NOTE).is_file() else sorted(path.parent for path in place.glob(f"*/{NOTE}"))
    return shards


def read_shard(folder: Path) -> SuiteShard:
    path = folder / NOTE
    return stored.decode_json(stored.read(path, stored.MANIFEST), SuiteShard, path)


def list_rows(config: Config) -> list[Row[Config]]:
    return [
        Row(folder=folder_name(number, spec), title=spec, given=_of_project(config, spec))
        for number, spec in enumerate(config.projects, 1)
    ]


def _of_project(config: Config, spec: str) -> Config:
    # `prepare` refuses a configuration with `projects`.
    return replace(config, projects=(), project=ProjectConfig(spec=spec, dependencies=config.project.dependencies))


def folder_name(number: int, spec: str) -> str:
    """Return the name of the folder with the project of that number (from 1)."""
    return name_row(number, spec.partition("#")[0], "project", ending=True)


def _write(suite: Suite, folder: Path, troubles: Sequence[CiEvalError | None]) -> Suited:
    """Write the reports of the suite, and return it with their paths. `troubles`: the failures of projects, in their
    order."""
    return Suited(
        folder=folder,
        suite=suite,
        reports=reporters.write(suite, None, folder),
        trouble=next(filter(None, troubles), None),
    )


def _tabulate_evaluations(config: Config, done: Mapping[str, Evaluated], folder: Path) -> Suited:
    """Write the table of evaluations, which are given by folder. Figures are those that each report shows first."""
    first = next(iter(done.values())).evaluation
    known = {info.name: info for info in first.metrics}
    infos = [known[name] for name in config.declared if name in known]
    projects = tuple(_row(name, evaluation, infos) for name, evaluation in done.items())
    values = {name: [project.figures[name].value for project in projects if name in project.figures] for name in known}
    table = Suite(
        title=first.title,
        about=f"({label(first.headline)})",
        projects=projects,
        overall=over_projects({name: _known(shares) for name, shares in values.items()}, infos),
        metrics=tuple(infos),
        compared=False,
    )
    return _write(table, folder, [evaluation.trouble for evaluation in done.values()])


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
    """Return the table of comparisons, which are given by folder. `troubles`: the failure of each comparison, or None.
    `pairs`: the number of such tables over the same projects."""
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
