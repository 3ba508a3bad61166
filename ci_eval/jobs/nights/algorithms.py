"""The ranking of all evaluations of one nightly run, engines and completion types, on the sessions they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import compare as stage
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import GateFailed, NothingToEvaluate
from ci_eval.core.catalogs import reporters
from ci_eval.core.config.loading import UNCHANGED, View
from ci_eval.core.model import Trend
from ci_eval.core.workspace import Workspace, find_workspaces
from ci_eval.jobs import compare as compare_job
from ci_eval.jobs import runs
from ci_eval.jobs.comparison_rules import Judging

UNGATED = View(overrides=("comparison.gates=[]",))
"""The view of an evaluation among others: the gates of its configuration are about its own past."""


@dataclass(frozen=True, kw_only=True)
class Ranked:
    folder: Path
    outcomes: dict[str, compare_job.Outcome]
    history: Path | None
    unjudged: GateFailed | None = None
    """The error that names the evaluations that have gates, but none to be compared with."""

    @property
    def trouble(self) -> GateFailed | None:
        """Return an error that names the gates of all rankings that are broken or were not judged; None if there are
        none."""
        broken = [f"{name}: {outcome.trouble}" for name, outcome in self.outcomes.items() if outcome.trouble]
        broken += [str(self.unjudged)] if self.unjudged else []
        return GateFailed("\n".join(broken)) if broken else None


def rank_nightly(
    folders: Sequence[Path], *, gates: Sequence[str], history: Path | None, output: Path, screen: Screen
) -> Ranked:
    """Rank the evaluations that were asked the same: those of one language and project, under the same conditions.

    Each ranking has a page. A single one is written to `output` itself, several to a folder each. A folder that is no
    workspace stands for those directly below it. `gates`: rules by which each evaluation is compared with the first
    one of its ranking. `history`: a folder of past figures, in a folder for each evaluation, named like its workspace;
    tonight's figures are added.

    An evaluation without a second one is left out, and so are evaluations that share no session; both are reported.
    Raises ConfigError for a mistake in the gates, and WorkspaceError for a damaged workspace.
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
    # A mistake in a gate is found before there is an output.
    rules = {
        workspace.folder: compare_job.load_rules(workspace, gates, None, UNGATED, screen) for workspace in workspaces
    }
    target = atomic.empty_folder(output)
    if not groups:
        screen.warn("there is nothing to rank: it takes two evaluations of one project with the same sessions")
    outcomes, unranked = {}, list(single)
    for name, group in groups.items():
        screen.say(f"Ranking {len(group)} evaluations of {name}")
        subfolder = target if len(groups) == 1 else target / name
        try:
            outcomes[name] = _rank_group(group, rules, history, subfolder, screen)
        except NothingToEvaluate as error:
            screen.warn(f"{name} is not ranked: {error}")
            unranked += [workspace.folder.name for workspace in group]
    if history:
        _append(workspaces, outcomes, history, screen.host.run)
    unjudged = compare_job.unjudged_error(
        gates, f"nothing to compare {', '.join(unranked)} with", "rank it without gates"
    )
    return Ranked(folder=target, outcomes=outcomes, history=history, unjudged=unjudged if gates and unranked else None)


def _group(workspaces: Sequence[Workspace]) -> dict[str, list[Workspace]]:
    """Return the workspaces of each language, project and set of conditions, by a name that can be a folder's."""
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
        name = compare_job.slug(f"{manifest.language}-{manifest.project.name}")
        counts[name] += 1
        # The same project may be asked under several conditions.
        groups[name if counts[name] == 1 else f"{name}-{counts[name]}"] = group
    return groups


def _rank_group(
    workspaces: Sequence[Workspace], rules: Mapping[Path, Judging], history: Path | None, target: Path, screen: Screen
) -> compare_job.Outcome:
    base, *others = workspaces
    pasts = {
        one.folder: compare_job.read_history(_past(one, history), screen) if history else None for one in workspaces
    }
    names = compare_job.name_sides(workspaces)
    comparisons = []
    for number, new in enumerate(others, 1):
        subfolder = target / f"{number:02}-{compare_job.slug(new.folder.name)}"
        past = pasts[new.folder]
        comparisons.append(
            compare_job.compare_pair(base, new, rules[new.folder], subfolder, past, None, UNGATED, names)
        )
    overview = compare_job.rank(names, comparisons, rules[others[-1].folder], target, UNCHANGED)
    order = overview.ranking.order if overview.ranking else ()
    trends: list[Trend] = []
    for index in order:
        workspace = workspaces[index]
        if past := pasts[workspace.folder]:
            trends.append(compare_job.make_trend(past, workspace, rules[workspace.folder]))
    overview = replace(overview, trends=tuple(trends))
    reports = reporters.write(overview, None, target)
    return compare_job.Outcome(folder=target, comparisons=tuple(comparisons), overview=overview, reports=reports)


def _past_folder(workspace: Workspace, history: Path) -> Path:
    # Artifacts of a workflow are called workspace-NAME and history-NAME.
    return history / workspace.folder.name.replace("workspace-", "history-", 1)


def _past(workspace: Workspace, history: Path) -> Path:
    own = _past_folder(workspace, history)
    # GitHub unpacks a single artifact directly into the folder.
    return own if own.is_dir() else history


def _append(
    workspaces: Sequence[Workspace], outcomes: Mapping[str, compare_job.Outcome], history: Path, run: str
) -> None:
    gates = {
        compared.sides[1].resolve(): compared.comparison.gates
        for outcome in outcomes.values()
        for compared in outcome.comparisons
    }
    for workspace in workspaces:
        declared = runs.stored_config(workspace).declared
        results = gates.get(workspace.folder.resolve(), ())
        past = stage.read(_past(workspace, history))
        stored = {(figures.started, figures.series) for figures in past.evaluations}
        for figures in stage.read_figures(workspace):
            # A comparison with the last night may have stored the same figures, with its own gates.
            if (figures.started, figures.series) in stored:
                continue
            stage.append(_past_folder(workspace, history), figures, declared=declared, gates=results, run=run)
