"""The job `compare`: compares workspaces, writes reports, judges gates, and draws the trend where there is a
history."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import strftime

from msgspec.structs import replace

from ci_eval import atomic, reporters
from ci_eval.ci import Screen
from ci_eval.errors import GateFailed, WorkspaceError
from ci_eval.jobs import runs
from ci_eval.jobs import user_models as users
from ci_eval.jobs.comparison_rules import Judging, judging, pooled, trouble_of, with_gates
from ci_eval.jobs.pipeline import grammars_of
from ci_eval.manifest import unlike
from ci_eval.model import Comparison, MetricInfo, Overview, Side, Trend
from ci_eval.rendering.verdicts import TRENDS
from ci_eval.stages import compare as stage
from ci_eval.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A comparison of two workspaces, with the path of each reporter's report."""

    folder: Path
    comparison: Comparison
    sides: tuple[Path, Path]
    """The workspaces of base and new."""
    reports: dict[str, Path]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one call; it has an overview where more than two workspaces, or a history alone, were given."""

    folder: Path
    comparisons: tuple[Compared, ...]
    overview: Overview | None = None
    reports: dict[str, Path] = field(default_factory=dict)
    """The paths of the overview's reports, by reporter."""

    @property
    def trouble(self) -> GateFailed | None:
        """An error that names the gates broken in any of the comparisons; None where all are kept."""
        gates = [(each.comparison.new.title, gate) for each in self.comparisons for gate in each.comparison.gates]
        broken = [
            f"  {f'{title}: ' if len(self.comparisons) > 1 else ''}{gate.rule}: {trouble_of(gate)}"
            for title, gate in gates
            if not gate.passed
        ]
        return GateFailed("\n".join([f"{len(broken)} of {len(gates)} gates failed", *broken])) if broken else None


def compare(
    folders: Sequence[Path],
    *,
    gates: Sequence[str],
    output: Path | None,
    history: Path | None,
    same_ranker: bool = False,
    user: str | None = None,
    screen: Screen,
) -> Outcome:
    """Compare the first of the workspaces with each of the others.

    A folder that is no workspace is taken for one of past evaluations. `history`: such a folder too, to which the new
    figures are added. `same_ranker`: leave out a base whose suggestions another ranker ordered. `user`: compare by what
    that user (a profile or a file) would do on average. Raises ConfigError, WorkspaceError, NothingToEvaluate.
    """
    given, past = _sorted_out([*folders, *([history] if history else [])], history)
    given = given or _newest(past)
    if output:
        Workspace.check_free(output)
    workspaces = _with_base(given, past, screen, same_ranker=same_ranker)
    for workspace in workspaces:
        workspace.verify()
    base, others = workspaces[0], workspaces[1:]
    judged = {each.folder: _judging(each, gates, user, screen) for each in others or workspaces}
    if base.folder.resolve() in [each.folder.resolve() for each in others]:
        screen.warn(f"{base.folder} is compared with itself, so that nothing can differ: give two evaluations")
    target = _target(output)
    if history:
        atomic.make_folder(history, "--history")
    done = []
    for number, new in enumerate(others, 1):
        screen.say(f"Comparing {base.folder} with {new.folder}")
        where = target if len(others) == 1 else target / f"{number:02}-{_slug(new.folder.name)}"
        done.append(_compared(base, new, judged[new.folder], where, past, user))
    overview, reports = None, {}
    if len(others) != 1:
        if not others and judged[base.folder].gates:
            screen.warn("no gate was judged: there is no evaluation before this one to compare with")
        overview = _overview(workspaces, done, past, judged[workspaces[-1].folder], target)
        reports = {each.name: each.write(overview, target) for each in reporters.OVERVIEWS.all()}
    if history:
        _remember(others or workspaces, done, history, screen.host.run)
    _address(target, screen.host.pull_request)
    return Outcome(folder=target, comparisons=tuple(done), overview=overview, reports=reports)


def _with_base(
    given: Sequence[Workspace], past: stage.History | None, screen: Screen, *, same_ranker: bool
) -> list[Workspace]:
    """The workspaces to compare, base first: to a single one, a base from the past is added, if there is one."""
    if same_ranker and len(given) == 2 and _ranked_by_another(*given):
        screen.say(f"{given[0].folder} is no base: another ranker ranked its lists, and the engine may differ too")
        return list(given[1:])
    base = _before(past, given[0], screen) if len(given) == 1 else None
    return [base, *given] if base else list(given)


def _address(folder: Path, pull_request: str) -> None:
    """Write down which pull request the report is about, for a workflow that may comment: this one may not."""
    if pull_request:
        (folder / "number.txt").write_text(f"{pull_request}\n", encoding="utf-8")


def _remember(workspaces: Sequence[Workspace], done: Sequence[Compared], history: Path, run: str) -> None:
    judged = [each.comparison.gates for each in done] or [()]
    for workspace, gates in zip(workspaces, judged, strict=True):
        declared = runs.stored_config(workspace).declared
        for figures in stage.figures_of(workspace):
            stage.append(history, figures, declared=declared, gates=gates, run=run)


def _sorted_out(folders: Sequence[Path], history: Path | None) -> tuple[list[Workspace], stage.History | None]:
    """The workspaces among the folders, and what the folders of past evaluations hold, if there is one."""
    workspaces, pasts = [], []
    for folder in folders:
        if folder != history and (folder / "manifest.json").is_file():
            workspaces.append(Workspace.open(folder))
            continue
        found = stage.read(folder)
        if not found.evaluations and folder != history:
            Workspace.open(folder)  # says what is wrong
        pasts.append(found)
    if not pasts:
        return workspaces, None
    return workspaces, stage.History(
        tuple(each for past in pasts for each in past.evaluations),
        tuple(each for past in pasts for each in past.workspaces),
    )


def _ranked_by_another(base: Workspace, new: Workspace) -> bool:
    return base.manifest().model != new.manifest().model


def _newest(past: stage.History | None) -> list[Workspace]:
    found = [Workspace.open(folder) for folder in (past.workspaces if past else ())]
    if not found:
        raise WorkspaceError("there is no workspace to look at: give NEW, or a folder that holds some")
    return [max(found, key=lambda each: each.manifest().start)]


def _before(past: stage.History | None, new: Workspace, screen: Screen) -> Workspace | None:
    """The newest of the past workspaces that `new` can be compared with."""
    if past is None:
        raise WorkspaceError(f"there is only {new.folder}: give a second workspace, or --history")
    now = new.manifest()
    earlier = [each for each in map(Workspace.open, past.workspaces) if each.manifest().start < now.start]
    for each in sorted(earlier, key=lambda found: found.manifest().start, reverse=True):
        other = next(unlike(each.manifest().series(), now.series()), None)
        if other is None:
            return each
        what, was, is_now = other
        screen.say(f"{each.folder} is no base: its {what} is {was or 'none'}, not {is_now or 'none'}")
    return None


def _judging(workspace: Workspace, gates: Sequence[str], user: str | None, screen: Screen) -> Judging:
    if user is None:
        loaded = runs.load_stored(workspace)
        config, old = loaded.config, loaded.config.comparison.gates
        if old and not loaded.own_headline:
            # Written before gates named a filter: they were about all sessions.
            now = tuple(map(pooled, old))
            config = replace(config, comparison=replace(config.comparison, gates=now))
            screen.warn(
                f"the gates of {workspace.folder} are older than their filters, and are read as of all sessions: "
                f"{', '.join(now)}; write RecallAt1[names] >= -1pp, or leave the filter out, for names alone"
            )
        return judging(config, gates)
    return with_gates(users.metrics_of_user(users.user_of(user)), users.DECLARED, gates)


def _compared(
    base: Workspace, new: Workspace, judged: Judging, folder: Path, past: stage.History | None, user: str | None
) -> Compared:
    filters = runs.stored_config(new).report_filters
    if user:
        users.check_every_prefix(base)
        users.check_every_prefix(new)
    found = stage.compare(base, new, judged.metrics, filters, judged.declared)
    found = replace(found, base=_titled(found.base, base), new=_titled(found.new, new))
    if user:
        said = f"by what the user {Path(user).name} would do on average, at the prefixes that user would ask at"
        found = replace(found, warnings=(said, *found.warnings))
    compared = {info.name: info for info in found.metrics}
    gates = tuple(gate.judge(found.filters, found.headline, compared) for gate in judged.gates)
    found = replace(found, gates=gates, trend=_trend(past, new, judged) if past and not user else None)
    sources = stage.StoredPairs(base, new, grammars_of(new))
    reports = {each.name: each.write(found, sources, folder) for each in reporters.COMPARISONS.all()}
    return Compared(folder=folder, comparison=found, sides=(base.folder, new.folder), reports=reports)


def _titled(side: Side, workspace: Workspace) -> Side:
    title = runs.stored_config(workspace).reports.evaluation_title
    return replace(side, title=title) if title else side


def _trend(past: stage.History, new: Workspace, judged: Judging) -> Trend:
    wanted = (*judged.declared, *TRENDS)
    infos: list[MetricInfo] = [each.info for each in judged.metrics if each.info.name in wanted]
    figures, *_ = stage.figures_of(new)
    return stage.trend(past.evaluations, figures, infos, new.manifest().seed)


def _overview(
    workspaces: Sequence[Workspace],
    done: Sequence[Compared],
    past: stage.History | None,
    judged: Judging,
    folder: Path,
) -> Overview:
    if not done:
        new = workspaces[-1]
        trend = _trend(past, new, judged) if past else None
        return Overview(title=f"{new.manifest().title} over time", trend=trend)
    filters = runs.stored_config(workspaces[-1]).report_filters
    ranking = stage.rank(workspaces, judged.metrics, filters, judged.declared)
    ordered = [workspaces[each].folder.resolve() for each in ranking.order]
    return Overview(
        title=f"{len(workspaces)} evaluations compared{_where(workspaces)}",
        ranking=ranking,
        workspaces=tuple(Path(os.path.relpath(each, folder.resolve())).as_posix() for each in ordered),
        comparisons={f"{each.comparison.base.title} → {each.comparison.new.title}": each.folder.name for each in done},
    )


def _where(workspaces: Sequence[Workspace]) -> str:
    projects = {f"{found.name} {found.revision}" for each in workspaces for found in [each.manifest().project]}
    return f" on {projects.pop()}" if len(projects) == 1 else ""


def _target(output: Path | None) -> Path:
    return atomic.empty_folder(output or Path("ci-eval-comparison") / strftime("%Y-%m-%d_%H-%M-%S"))


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "new"
