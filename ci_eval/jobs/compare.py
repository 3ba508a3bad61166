"""The job `compare`: compares workspaces, writes reports and checks gates. A history adds a trend."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as dataclass_replace
from itertools import combinations
from pathlib import Path
from time import strftime

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import compare as stage
from ci_eval.core import machine
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, GateFailed, WorkspaceError
from ci_eval.core.catalogs import reporters
from ci_eval.core.config.loading import UNCHANGED, View
from ci_eval.core.manifest import unlike
from ci_eval.core.model import Comparison, MetricInfo, Overview, Trend
from ci_eval.core.model.units import TRENDS
from ci_eval.core.rendering.figures import format_count
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import comparison_rules, runs
from ci_eval.jobs import user_models as users
from ci_eval.jobs.comparison_rules import Judging, make_gate_error
from ci_eval.jobs.pipeline import load_grammars


@dataclass(frozen=True, kw_only=True)
class Compared:
    folder: Path
    comparison: Comparison
    sides: tuple[Path, Path]
    reports: dict[str, Path]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    folder: Path
    comparisons: tuple[Compared, ...]
    overview: Overview | None = None
    reports: dict[str, Path] = field(default_factory=dict)
    history: Path | None = None
    """The folder that the figures were added to, if there is one."""
    unjudged: tuple[str, ...] = ()
    """The rules that were given and not judged, since there was nothing to compare with."""

    @property
    def trouble(self) -> GateFailed | None:
        if self.unjudged:
            return unjudged_error(self.unjudged, "there is no earlier evaluation to compare with", FIRST_NIGHT)
        several = len(self.comparisons) > 1
        pairs = [compared.comparison for compared in self.comparisons]
        return make_gate_error([(pair.new.title * several, gate) for pair in pairs for gate in pair.gates])


FIRST_NIGHT = "give a base, or --first-night if there has never been one"
"""The advice if gates have no base."""


def unjudged_error(rules: Sequence[str], why: str, advice: str) -> GateFailed:
    """Return an error that says which gates were not judged, so that a job without a verdict does not look kept."""
    count = f"{len(rules)} {'gate was' if len(rules) == 1 else 'gates were'}"
    return GateFailed(f"{count} not judged: {why} ({', '.join(rules)}); {advice}")


def compare(
    folders: Sequence[Path],
    *,
    gates: Sequence[str],
    output: Path | None,
    history: Path | None,
    same_ranker: bool = False,
    first_night: bool = False,
    user: str | None = None,
    view: View = UNCHANGED,
    each_with_each: bool = False,
    screen: Screen,
) -> Outcome:
    """Compare the first of the workspaces with each of the others.

    The first folder may be one of past evaluations. A single workspace is compared with the newest past one that it can
    be compared with. `history`: a folder of past evaluations, to which the new figures are added. `same_ranker`: leave
    out a base whose suggestions another ranker ordered, as if there were none. `first_night`: gates need not be judged
    if there is no base. `user`: compare by what that user (a
    profile or a file) would do on average. `view`: a change of the view of each new workspace, for this comparison
    alone. `each_with_each`: compare all pairs; gates are about those with the first workspace. Raises ConfigError,
    WorkspaceError or NothingToEvaluate.
    """
    candidates, past = _split_folders(folders, history, screen)
    candidates = candidates or _newest(past)
    if output:
        Workspace.check_free(output)
    workspaces = _add_base(candidates, past, screen, same_ranker=same_ranker)
    for workspace in workspaces:
        # Gates must not judge the figures of a workspace that changed since it was sealed.
        workspace.verify()
    base, others = workspaces[0], workspaces[1:]
    if view.title and len(others) > 1:
        raise ConfigError(f"--title names one evaluation, and here are {len(others)} beside the base: leave it out")
    # A mistake in a rule fails before anything is compared.
    rules = {workspace.folder: load_rules(workspace, gates, user, view, screen) for workspace in others or workspaces}
    if base.folder.resolve() in [workspace.folder.resolve() for workspace in others]:
        screen.warn(f"{base.folder} is compared with itself, so that nothing can differ: give two evaluations")
    names = name_sides(workspaces, view)
    target = atomic.empty_folder(output or Path("ci-eval-comparison") / strftime("%Y-%m-%d_%H-%M-%S"))
    if history:
        atomic.make_folder(history, "--history")
    comparisons = []
    pairs = combinations(workspaces, 2) if each_with_each else ((base, new) for new in others)
    for number, (one, new) in enumerate(pairs, 1):
        screen.say(f"Comparing {one.folder} with {new.folder}")
        # The number keeps workspaces of one name apart.
        prefix = slug(one.folder.name) if each_with_each else f"{number:02}"
        subfolder = target if len(others) == 1 else target / f"{prefix}-{slug(new.folder.name)}"
        judged = rules[new.folder] if one is base else dataclass_replace(rules[new.folder], gates=())
        comparisons.append(compare_pair(one, new, judged, subfolder, past, user, view, names))
    overview, reports = None, {}
    left_out = len(workspaces) < len(candidates)
    unjudged = () if others else _check_unjudged(rules[base.folder], screen, first_night=first_night or left_out)
    if len(others) != 1:
        newest = workspaces[-1]
        judged = rules[newest.folder]
        overview = (
            rank(names, comparisons, judged, target, view)
            if comparisons
            else Overview(title=f"{names[newest]} over time", trend=make_trend(past, newest, judged) if past else None)
        )
        reports = reporters.write(overview, None, target)
    if history:
        _append_figures(others or workspaces, comparisons, history, screen.host.run)
    if screen.host.pull_request:
        # This workflow may not comment on pull requests. Another one, which may, reads the number from this file.
        (target / "number.txt").write_text(f"{screen.host.pull_request}\n", encoding="utf-8")
    return Outcome(
        folder=target,
        comparisons=tuple(comparisons),
        overview=overview,
        reports=reports,
        history=history,
        unjudged=unjudged,
    )


def _add_base(
    candidates: Sequence[Workspace], past: stage.History | None, screen: Screen, *, same_ranker: bool
) -> list[Workspace]:
    """Return the workspaces to compare, base first. A single workspace gets a base from the past, if there is one."""
    if same_ranker and len(candidates) == 2 and candidates[0].manifest().model != candidates[1].manifest().model:
        screen.say(f"{candidates[0].folder} is not a base: another ranker ordered its lists, so two things may differ")
        return list(candidates[1:])
    base = _find_base(past, candidates[0], screen) if len(candidates) == 1 else None
    return [base, *candidates] if base else list(candidates)


def _check_unjudged(rules: Judging, screen: Screen, *, first_night: bool) -> tuple[str, ...]:
    """Return the gates that cannot be judged without a base, of which a first night only warns."""
    unjudged = tuple(gate.rule for gate in rules.gates)
    if unjudged and first_night:
        screen.warn(f"no gate was judged, since there is no evaluation before this one: {', '.join(unjudged)}")
        return ()
    return unjudged


def _append_figures(workspaces: Sequence[Workspace], comparisons: Sequence[Compared], history: Path, run: str) -> None:
    # Without a comparison, the only workspace is stored without gates.
    gate_results = [compared.comparison.gates for compared in comparisons] or [()]
    for workspace, gates in zip(workspaces, gate_results, strict=True):
        declared = runs.stored_config(workspace).declared
        for figures in stage.read_figures(workspace):
            stage.append(history, figures, declared=declared, gates=gates, run=run)


def _split_folders(
    folders: Sequence[Path], history: Path | None, screen: Screen
) -> tuple[list[Workspace], stage.History | None]:
    """Return the workspaces, and the past evaluations in BASE and in the history; None if neither was given. BASE alone
    may be a folder of past evaluations. Raises WorkspaceError if another folder is not a workspace: its role would have
    to be guessed."""
    base, *others = folders
    workspaces = [Workspace.open(folder) for folder in others]
    pasts = [read_history(history, screen)] if history else []
    if (base / "manifest.json").is_file():
        workspaces.insert(0, Workspace.open(base))
    else:
        past = read_history(base, screen)
        if not (past.evaluations or past.workspaces):
            Workspace.open(base)  # raises an error that says what is wrong
        pasts.insert(0, past)
    if not pasts:
        return workspaces, None
    return workspaces, stage.History(
        tuple(evaluation for past in pasts for evaluation in past.evaluations),
        tuple(path for past in pasts for path in past.workspaces),
    )


def read_history(folder: Path, screen: Screen) -> stage.History:
    """Return the past evaluations in a folder, with a warning if files were left out."""
    past = stage.read(folder)
    if past.damaged:
        screen.warn(f"{format_count(len(past.damaged), 'file')} of {folder} left out: {'; '.join(past.damaged[:3])}")
    return past


def _newest(past: stage.History | None) -> list[Workspace]:
    workspaces = [Workspace.open(folder) for folder in (past.workspaces if past else ())]
    if not workspaces:
        raise WorkspaceError("there is no workspace to look at: give NEW, or a folder that holds some")
    return [max(workspaces, key=_start)]


def _start(workspace: Workspace) -> float:
    return machine.seconds(workspace.manifest().start)


def _find_base(past: stage.History | None, new: Workspace, screen: Screen) -> Workspace | None:
    if past is None:
        raise WorkspaceError(f"there is only {new.folder}: give a second workspace, or --history")
    now = new.manifest()
    # The folder may hold newer evaluations as well, which are no base.
    earlier = [workspace for workspace in map(Workspace.open, past.workspaces) if _start(workspace) < _start(new)]
    for workspace in sorted(earlier, key=_start, reverse=True):
        difference = next(unlike(workspace.manifest().series(), now.series()), None)
        if difference is None:
            return workspace
        what, was, is_now = difference
        screen.say(f"{workspace.folder} is no base: its {what} is {was or 'none'}, not {is_now or 'none'}")
    return None


def load_rules(workspace: Workspace, gates: Sequence[str], user: str | None, view: View, screen: Screen) -> Judging:
    """Return the rules by which a workspace is judged: its own, by the view, and more gates. Raises ConfigError."""
    if user is None:
        loaded = runs.load_workspace(workspace, view)
        config, old = loaded.config, loaded.config.comparison.gates
        if old and not loaded.own_headline:
            # These gates are from before gates named a filter: they were about all sessions.
            now = tuple(map(comparison_rules.upgrade_rule, old))
            config = replace(config, comparison=replace(config.comparison, gates=now))
            screen.warn(
                f"the gates of {workspace.folder} are older than their filters, and are read as of all sessions: "
                f"{', '.join(now)}; write RecallAt1[names] >= -1pp, or leave the filter out, for names alone"
            )
        return comparison_rules.judging(config, gates)
    return comparison_rules.attach_gates(users.metrics_of_user(users.load_user_model(user)), users.DECLARED, gates)


def compare_pair(
    base: Workspace,
    new: Workspace,
    rules: Judging,
    folder: Path,
    past: stage.History | None,
    user: str | None,
    view: View,
    names: Mapping[Workspace, str],
) -> Compared:
    """Compare two workspaces, and write the reports into a folder. `names`: see `name_sides`. Raises the errors of
    `core.compare.compare`."""
    filters = comparison_rules.add_gate_filters(runs.stored_config(new, view), rules.gates).report_filters
    if user:
        users.check_every_prefix(base)
        users.check_every_prefix(new)
    comparison = stage.compare(base, new, rules.metrics, filters, rules.declared)
    ours, theirs = replace(comparison.base, title=names[base]), replace(comparison.new, title=names[new])
    comparison = replace(comparison, base=ours, new=theirs)
    if user:
        warning = f"by what the user {Path(user).name} would do on average, at the prefixes that user would ask at"
        comparison = replace(comparison, warnings=(warning, *comparison.warnings))
    infos = {info.name: info for info in comparison.metrics}
    gates = tuple(
        stage.judge_since(gate, past.evaluations if past else None, next(stage.read_figures(new)), infos)
        if gate.since
        else gate.judge(comparison.filters, comparison.headline, infos)
        for gate in rules.gates
    )
    # The history has no figures of what this user would do on average.
    comparison = replace(comparison, gates=gates, trend=make_trend(past, new, rules) if past and not user else None)
    filters = dataclass_replace(filters, headline=comparison.headline)
    sources = stage.StoredPairs(base, new, filters, load_grammars(new))
    reports = reporters.write(comparison, sources, folder)
    return Compared(folder=folder, comparison=comparison, sides=(base.folder, new.folder), reports=reports)


def name_sides(workspaces: Sequence[Workspace], view: View = UNCHANGED) -> dict[Workspace, str]:
    """Return the name of each workspace: its title, and what tells it from others of that title. `view`: a change of
    the view of each new workspace."""
    titles = {}
    for workspace in workspaces:
        own_view = UNCHANGED if workspace is workspaces[0] and len(workspaces) > 1 else view
        # A view may change the title after the evaluation.
        title = runs.stored_config(workspace, own_view).reports.evaluation_title
        titles[workspace] = title or workspace.manifest().title
    return stage.name_sides(titles)


def make_trend(past: stage.History, new: Workspace, rules: Judging) -> Trend:
    names = (*rules.declared, *TRENDS)
    infos: list[MetricInfo] = [metric.info for metric in rules.metrics if metric.info.name in names]
    figures, *_ = stage.read_figures(new)
    return stage.trend(past.evaluations, figures, infos, new.manifest().seed)


def rank(
    names: Mapping[Workspace, str], comparisons: Sequence[Compared], rules: Judging, folder: Path, view: View
) -> Overview:
    """Return the ranking of the workspaces that have these names, with the comparisons made of them, for a page in
    `folder`. Raises the errors of `core.compare.rank`."""
    workspaces = list(names)
    filters = runs.stored_config(workspaces[-1], view).report_filters
    ranking = stage.rank(workspaces, rules.metrics, filters, rules.declared)
    folders = [workspace.folder for workspace in workspaces]
    pairs = {(folders.index(of.sides[0]), folders.index(of.sides[1])): of.comparison for of in comparisons}
    ordered = [workspaces[index] for index in ranking.order]
    sides = (replace(side, title=names[of]) for side, of in zip(ranking.sides, ordered, strict=True))
    infos = [workspace.manifest().project for workspace in workspaces]
    projects = {f"{info.name} {info.revision}" for info in infos}
    return Overview(
        title=f"{len(workspaces)} evaluations compared{f' on {projects.pop()}' if len(projects) == 1 else ''}",
        ranking=stage.take_verdicts(replace(ranking, sides=tuple(sides)), pairs),
        # Relative paths still hold after the folders are moved together.
        workspaces=tuple(Path(os.path.relpath(of.folder.resolve(), folder.resolve())).as_posix() for of in ordered),
        comparisons={
            f"{compared.comparison.base.title} → {compared.comparison.new.title}": compared.folder.name
            for compared in comparisons
        },
    )


def slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "new"
