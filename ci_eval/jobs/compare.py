"""The jobs that compare workspaces, write reports and check gates, or rank the evaluations of one nightly run."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from time import strftime

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import compare as stage
from ci_eval.core import machine
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, GateFailed, NothingToEvaluate, WorkspaceError
from ci_eval.core.config.loading import UNCHANGED, View
from ci_eval.core.manifest import unlike
from ci_eval.core.model import Comparison, GateResult, MetricInfo, Overview, Trend
from ci_eval.core.model.units import TRENDS
from ci_eval.core.workspace import Workspace, find_workspaces
from ci_eval.jobs import comparison_rules, ml, runs
from ci_eval.jobs.comparison_rules import Rules, make_gate_error
from ci_eval.jobs.pipeline import Done, load_grammars
from ci_eval.rendering import reporters
from ci_eval.rendering.figures import format_count


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    comparison: Comparison
    sides: tuple[Path, Path]
    reports: dict[str, Path]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    comparisons: tuple[Compared, ...]
    overview: Overview | None = None
    reports: dict[str, Path] = msgspec.field(default_factory=dict)
    unjudged: tuple[str, ...] = ()
    """The rules of the gates that were not judged because there was no base."""

    @property
    def trouble(self) -> GateFailed | None:
        if self.unjudged:
            advice = "give a base, or --first-night if there has never been one"
            return unjudged_error(self.unjudged, "there is no earlier evaluation to compare with", advice)
        several = len(self.comparisons) > 1
        pairs = [compared.comparison for compared in self.comparisons]
        return make_gate_error([(pair.new.title * several, gate) for pair in pairs for gate in pair.gates])


def unjudged_error(rules: Sequence[str], why: str, advice: str) -> GateFailed:
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
    """Compare the first workspace with each of the others, or every pair of workspaces if `each_with_each` is set.

    The first folder may hold past evaluations; a single workspace is compared with the newest comparable one.
    If `same_ranker` is set, a base whose suggestions another ranker ordered is not used. If `first_night` is set, gates
    may stay unjudged. With `user`, a profile or a file, figures are averages of what that user would do. `view`
    changes each new workspace, for this comparison only. Gates only judge pairs with the first workspace. Raises
    ConfigError, WorkspaceError or NothingToEvaluate.
    """
    candidates, past = _split_folders(folders, history, screen)
    if not candidates:
        found = [Workspace.open(folder) for folder in (past.workspaces if past else ())]
        if not found:
            raise WorkspaceError("there is no workspace to compare: give NEW, or a folder of workspaces")
        candidates = [max(found, key=_start)]
    if output:
        Workspace.check_free(output)
    workspaces = _add_base(candidates, past, screen, same_ranker=same_ranker)
    for workspace in workspaces:
        # Gates must not judge the figures of a workspace that changed since it was sealed.
        workspace.verify()
    base, others = workspaces[0], workspaces[1:]
    if view.title and len(others) > 1:
        raise ConfigError(f"--title names one evaluation, and {len(others)} are compared with the base: drop --title")
    # Parse all rules now, so that a mistake is reported before anything is compared.
    user_metrics = ml.metrics_of_user(ml.load_user_model(user)) if user else ()
    rules = {
        workspace.folder: comparison_rules.attach_gates(user_metrics, ml.DECLARED, gates)
        if user
        else comparison_rules.judging(runs.stored_config(workspace, view), gates)
        for workspace in others or workspaces
    }
    if base.folder.resolve() in [workspace.folder.resolve() for workspace in others]:
        screen.warn(f"{base.folder} is compared with itself, so nothing can differ: give two evaluations")
    names = name_sides(workspaces, view)
    target = atomic.empty_folder(output or Path("ci-eval-comparison") / strftime("%Y-%m-%d_%H-%M-%S"))
    if history:
        atomic.make_folder(history, "--history")
    comparisons = []
    pairs = combinations(workspaces, 2) if each_with_each else ((base, new) for new in others)
    for number, (one, new) in enumerate(pairs, 1):
        screen.say(f"Comparing {one.folder} with {new.folder}")
        # The number distinguishes workspaces with the same name.
        prefix = slug(one.folder.name) if each_with_each else f"{number:02}"
        subfolder = target if len(others) == 1 else target / f"{prefix}-{slug(new.folder.name)}"
        judged = rules[new.folder] if one is base else replace(rules[new.folder], gates=())
        comparisons.append(compare_pair(one, new, judged, subfolder, past, user, view, names))
    overview, reports = None, {}
    unjudged = () if others else tuple(gate.rule for gate in rules[base.folder].gates)
    if unjudged and (first_night or len(workspaces) < len(candidates)):
        screen.warn(f"no gate was judged, since there is no evaluation before this one: {', '.join(unjudged)}")
        unjudged = ()
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
        # If nothing was compared, the only workspace is stored without gate results.
        gate_results = [compared.comparison.gates for compared in comparisons] or [()]
        append_figures(zip(others or workspaces, gate_results, strict=True), history, screen.host.run)
    if screen.host.pull_request:
        # This workflow may not comment on pull requests. The workflow that may do so reads the number from this file.
        (target / "number.txt").write_text(f"{screen.host.pull_request}\n", encoding="utf-8")
    return Outcome(folder=target, comparisons=tuple(comparisons), overview=overview, reports=reports, unjudged=unjudged)


def _add_base(
    candidates: Sequence[Workspace], past: stage.History | None, screen: Screen, *, same_ranker: bool
) -> list[Workspace]:
    """Return the workspaces with the base first. For a single workspace, the base is an earlier evaluation, if any."""
    if same_ranker and len(candidates) == 2 and candidates[0].manifest().model != candidates[1].manifest().model:
        screen.say(
            f"{candidates[0].folder} is not a base: another ranker ordered its lists, so a difference could "
            "come from the engine or from the ranker"
        )
        return list(candidates[1:])
    if len(candidates) != 1:
        return list(candidates)
    (new,) = candidates
    if past is None:
        raise WorkspaceError(f"there is only {new.folder}: give a second workspace, or --history")
    now = new.manifest()
    # The folder may also hold newer evaluations, which cannot be a base.
    earlier = [workspace for workspace in map(Workspace.open, past.workspaces) if _start(workspace) < _start(new)]
    for workspace in sorted(earlier, key=_start, reverse=True):
        difference = next(unlike(workspace.manifest().series(), now.series()), None)
        if difference is None:
            return [workspace, new]
        what, was, is_now = difference
        screen.say(f"{workspace.folder} is not a base: its {what} is {was or 'none'}, not {is_now or 'none'}")
    return [new]


def append_figures(
    results: Iterable[tuple[Workspace, Sequence[GateResult]]],
    history: Path,
    run: str,
    known: Collection[tuple[str, tuple[str, ...]]] = (),
) -> None:
    """Add figures and gate results of workspaces to a history, except figures whose start and series are in `known`."""
    for workspace, gates in results:
        declared = runs.stored_config(workspace).declared
        for figures in stage.read_figures(workspace):
            if (figures.started, figures.series) not in known:
                stage.append(history, figures, declared=declared, gates=gates, run=run)


def _split_folders(
    folders: Sequence[Path], history: Path | None, screen: Screen
) -> tuple[list[Workspace], stage.History | None]:
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
    past = stage.read(folder)
    if past.damaged:
        screen.warn(f"{format_count(len(past.damaged), 'file')} of {folder} left out: {'; '.join(past.damaged[:3])}")
    return past


def _start(workspace: Workspace) -> float:
    return machine.seconds(workspace.manifest().start)


def compare_pair(
    base: Workspace,
    new: Workspace,
    rules: Rules,
    folder: Path,
    past: stage.History | None,
    user: str | None,
    view: View,
    names: Mapping[Workspace, str],
) -> Compared:
    """Compare two workspaces, and write the reports into a folder. Raises the errors of `core.compare.compare`."""
    filters = comparison_rules.add_gate_filters(runs.stored_config(new, view), rules.gates).report_filters
    if user:
        ml.check_every_prefix(base)
        ml.check_every_prefix(new)
    comparison = stage.compare(base, new, rules.metrics, filters, rules.declared)
    ours, theirs = replace(comparison.base, title=names[base]), replace(comparison.new, title=names[new])
    comparison = replace(comparison, base=ours, new=theirs)
    if user:
        warning = f"averages of what the user {Path(user).name} would do, at the prefixes at which that user asks"
        comparison = replace(comparison, warnings=(warning, *comparison.warnings))
    infos = {info.name: info for info in comparison.metrics}
    gates = tuple(
        stage.judge_since(gate, past.evaluations if past else None, next(stage.read_figures(new)), infos)
        if gate.since
        else gate.judge(comparison.filters, comparison.headline, infos)
        for gate in rules.gates
    )
    # The history has no figures of a user's average behaviour, so there is no trend with `user`.
    comparison = replace(comparison, gates=gates, trend=make_trend(past, new, rules) if past and not user else None)
    filters = replace(filters, headline=comparison.headline)
    sources = stage.StoredPairs(base, new, filters, load_grammars(new))
    reports = reporters.write(comparison, sources, folder)
    return Compared(folder=folder, comparison=comparison, sides=(base.folder, new.folder), reports=reports)


def name_sides(workspaces: Sequence[Workspace], view: View = UNCHANGED) -> dict[Workspace, str]:
    """Return the title of each workspace. Equal titles are extended so that they differ."""
    titles, programs = {}, {}
    for workspace in workspaces:
        own_view = UNCHANGED if workspace is workspaces[0] and len(workspaces) > 1 else view
        config = runs.stored_config(workspace, own_view)
        # A view may change the title after the evaluation.
        titles[workspace] = config.reports.evaluation_title or workspace.manifest().title
        if config.engine.command:
            programs[workspace] = str(runs.find_program(config.engine.command).absolute())
    return stage.name_sides(titles, programs)


def make_trend(past: stage.History, new: Workspace, rules: Rules) -> Trend:
    names = (*rules.declared, *TRENDS)
    infos: list[MetricInfo] = [metric.info for metric in rules.metrics if metric.info.name in names]
    figures, *_ = stage.read_figures(new)
    return stage.trend(past.evaluations, figures, infos, new.manifest().seed)


def rank(
    names: Mapping[Workspace, str], comparisons: Sequence[Compared], rules: Rules, folder: Path, view: View
) -> Overview:
    """Return the overview of ranked workspaces. Raises the errors of `core.compare.rank`."""
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
        # Relative paths stay valid if the folders are moved together.
        workspaces=tuple(Path(os.path.relpath(of.folder.resolve(), folder.resolve())).as_posix() for of in ordered),
        comparisons={
            f"{compared.comparison.base.title} → {compared.comparison.new.title}": compared.folder.name
            for compared in comparisons
        },
    )


def slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "new"


UNGATED = View(overrides=("comparison.gates=[]",))
"""A view that removes the gates of the configuration, which only compare an evaluation with its own past."""


def rank_nightly(
    folders: Sequence[Path], *, gates: Sequence[str], history: Path | None, output: Path, screen: Screen
) -> Done[dict[str, Outcome]]:
    """Write a ranking for each group of evaluations of the same language and project under the same conditions.

    A single ranking is written to `output` itself, several to a subfolder each. A folder that is not a workspace stands
    for the workspaces directly below it. `gates` compare each evaluation with the first of its ranking. `history` has a
    folder for each evaluation, named like its workspace; tonight's figures are added. Evaluations that are alone in
    their group, or share no session with it, are not ranked but reported. Raises ConfigError and WorkspaceError.
    """
    workspaces = [Workspace.open(folder) for folder in find_workspaces(folders)]
    Workspace.check_free(output)
    for workspace in workspaces:
        # Gates must not judge the figures of a workspace that changed since it was sealed.
        workspace.verify()
    groups = _group(workspaces)
    single = [group[0].folder.name for group in groups.values() if len(group) == 1]
    if single:
        screen.warn(f"not ranked, since no other evaluation has the same sessions: {', '.join(single)}")
    groups = {name: group for name, group in groups.items() if len(group) > 1}
    # Parse all gates before the output folder is made.
    rules = {
        workspace.folder: comparison_rules.judging(runs.stored_config(workspace, UNGATED), gates)
        for workspace in workspaces
    }
    target = atomic.empty_folder(output)
    if not groups:
        screen.warn("there is nothing to rank: a ranking needs two evaluations of one project with the same sessions")
    outcomes, unranked = {}, list(single)
    for name, group in groups.items():
        screen.say(f"Ranking {len(group)} evaluations of {name}")
        subfolder = target if len(groups) == 1 else target / name
        try:
            outcomes[name] = _rank_group(group, rules, history, subfolder, screen)
        except NothingToEvaluate as error:
            screen.warn(f"{name} is not ranked: {error}")
            unranked += [workspace.folder.name for workspace in group]
    compared = [pair for outcome in outcomes.values() for pair in outcome.comparisons]
    gate_results = {pair.sides[1].resolve(): pair.comparison.gates for pair in compared}
    for workspace in workspaces if history else ():
        assert history
        # A comparison with the last night may have stored these figures already, with the results of its own gates.
        past = stage.read(_find_past(workspace, history)).evaluations
        known = {(figures.started, figures.series) for figures in past}
        results = gate_results.get(workspace.folder.resolve(), ())
        append_figures([(workspace, results)], _past_folder(workspace, history), screen.host.run, known)
    broken = [f"{name}: {outcome.trouble}" for name, outcome in outcomes.items() if outcome.trouble]
    if gates and unranked:
        why = f"nothing to compare {', '.join(unranked)} with"
        broken.append(str(unjudged_error(gates, why, "rank it without gates")))
    return Done(folder=target, result=outcomes, trouble=GateFailed("\n".join(broken)) if broken else None)


def _group(workspaces: Sequence[Workspace]) -> dict[str, list[Workspace]]:
    series: dict[tuple[str, ...], list[Workspace]] = {}
    for workspace in workspaces:
        manifest = workspace.manifest()
        conditions = manifest.conditions()
        key = (*(conditions[name] for name in sorted(conditions)), manifest.project.name, manifest.project.revision)
        series.setdefault(key, []).append(workspace)
    groups: dict[str, list[Workspace]] = {}
    counts: Counter[str] = Counter()
    for group in series.values():
        manifest = group[0].manifest()
        name = slug(f"{manifest.language}-{manifest.project.name}")
        counts[name] += 1
        # The same project may be evaluated under several conditions.
        groups[name if counts[name] == 1 else f"{name}-{counts[name]}"] = group
    return groups


def _rank_group(
    workspaces: Sequence[Workspace], rules: Mapping[Path, Rules], history: Path | None, target: Path, screen: Screen
) -> Outcome:
    base, *others = workspaces
    pasts = {one.folder: read_history(_find_past(one, history), screen) if history else None for one in workspaces}
    names = name_sides(workspaces)
    comparisons = []
    for number, new in enumerate(others, 1):
        subfolder = target / f"{number:02}-{slug(new.folder.name)}"
        past = pasts[new.folder]
        comparisons.append(compare_pair(base, new, rules[new.folder], subfolder, past, None, UNGATED, names))
    overview = rank(names, comparisons, rules[others[-1].folder], target, UNCHANGED)
    ordered = [workspaces[index] for index in overview.ranking.order] if overview.ranking else []
    trends = (make_trend(past, one, rules[one.folder]) for one in ordered if (past := pasts[one.folder]))
    overview = replace(overview, trends=tuple(trends))
    reports = reporters.write(overview, None, target)
    return Outcome(folder=target, comparisons=tuple(comparisons), overview=overview, reports=reports)


def _past_folder(workspace: Workspace, history: Path) -> Path:
    # Workflows name their artifacts workspace-NAME and history-NAME.
    return history / workspace.folder.name.replace("workspace-", "history-", 1)


def _find_past(workspace: Workspace, history: Path) -> Path:
    own = _past_folder(workspace, history)
    # GitHub unpacks a single artifact directly into the folder.
    return own if own.is_dir() else history
