"""Compute the figures of a workspace, and give reporters the data that they read."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval.core.base.quoting import abbreviate_names
from ci_eval.core.contracts import Metric
from ci_eval.core.filters import EVERYTHING, ReportFilters
from ci_eval.core.grammar.syntax import colour_file
from ci_eval.core.manifest import Manifest
from ci_eval.core.model.report import Estimate, Evaluation, FilterFigures, GateResult, OtherCode, Responses
from ci_eval.core.model.sessions import Paint, Session, SourceFile, Status, unasked_stretches
from ci_eval.core.model.tokens import pick
from ci_eval.core.report.tallying import Named, TallyJob
from ci_eval.core.statistics import footprint
from ci_eval.core.statistics.population import Strata
from ci_eval.core.workspace import Workspace

OF_THE_RUN = (
    *("title", "engine", "revision", "project", "completion_type", "client", "language", "task", "seed", "clusters"),
    *("remedies", "unparsable", "unparsable_files", "is_function", "footprint", "sent", "machine"),
)
"""The fields of an evaluation that its manifest has under the same names."""


def report(
    workspace: Workspace,
    metrics: Sequence[Metric],
    filters: ReportFilters,
    write: Callable[[Evaluation, WorkspaceSessions, Path], dict[str, Path]],
    folder: Path,
    *,
    shown: Sequence[str] = (),
    judge: Callable[[Evaluation], tuple[GateResult, ...]] = lambda _: (),
    grammars: Mapping[str, str] | None = None,
    named: Named | None = None,
    title: str | None = None,
) -> tuple[Evaluation, dict[str, Path]]:
    """Write the reports. Return the evaluation, and reporter → the file to open first.

    `shown`: the metrics to show if not all fit; if empty, the task's metrics that have a figure.
    `grammars`: file ending → grammar that colours the file. `named`: see TallyJob. `title`: None for the stored title.
    """
    evaluation = evaluate(workspace, metrics, filters, named)
    figures = evaluation.filters[EVERYTHING].metrics
    usual = [
        info.name
        for info in evaluation.metrics
        # Times of a single run depend on the machine, so they are not shown by default.
        if info.shown and info.unit != "ms" and figures[info.name].value is not None
    ]
    infos = tuple(replace(info, shown=info.name in (shown or usual)) for info in evaluation.metrics)
    evaluation = replace(evaluation, metrics=infos, gates=judge(evaluation), title=title or evaluation.title)
    filters = replace(filters, headline=evaluation.headline)
    stored = WorkspaceSessions(workspace, [*evaluation.filters[EVERYTHING].files], filters, grammars or {})
    return evaluation, write(evaluation, stored, folder)


class WorkspaceSessions:
    def __init__(
        self, workspace: Workspace, paths: Sequence[str], filters: ReportFilters, grammars: Mapping[str, str]
    ) -> None:
        self._workspace = workspace
        self.paths = paths
        self.filters = filters
        self._grammars = grammars
        self._is_sample = workspace.manifest().is_sample

    def __iter__(self) -> Iterator[tuple[SourceFile, Iterator[Session]]]:
        return self._workspace.sessions(Session)

    def of(self, path: str) -> tuple[SourceFile, Iterator[Session]]:
        return self._workspace.source(path), self._workspace.decode_sessions(path, Session)

    def strata(self) -> Strata:
        return self._workspace.strata()

    def paint(self, source: SourceFile, asked: Container[int]) -> Paint:
        return Paint(
            colour_file(source.path, source.text, self._grammars),
            unasked_stretches(self._workspace.find_extents(source.path), asked) if self._is_sample else (),
        )


def evaluate(
    workspace: Workspace, metrics: Sequence[Metric], filters: ReportFilters, named: Named | None = None
) -> Evaluation:
    manifest = workspace.manifest()
    metrics = [metric for metric in metrics if metric.of in manifest.figures]
    tallies = TallyJob(workspace=workspace, named=named, filters=filters.all).all(metrics)
    sums = tallies.sums
    of_run = footprint.figures(manifest.footprint)
    responses = sums.responses.figures()
    if responses and responses.unreadable:
        sessions = (session for _, of_file in workspace.sessions(Session) for session in of_file)
        example = next(session.lookups[-1].answer for session in sessions if session.status is Status.UNREADABLE)
        responses = replace(responses, example=example)
    # A tally is dropped with its figures, since it has every time of its sessions.
    by_filter = {
        name: tallies.by_filter.pop(name).figures(asked, sums.again) for name, asked in tallies.asked_by_filter.items()
    }
    whole = by_filter[EVERYTHING]
    by_filter[EVERYTHING] = replace(whole, metrics=whole.metrics | dict(of_run))
    if responses and manifest.statuses.get(Status.SKIPPED.value):
        # The budget ended the run early. The sessions asked until then are not a random sample.
        by_filter = {name: _without_intervals(figures) for name, figures in by_filter.items()}
    if manifest.precision:
        # The size of the sample was chosen for the figure over all sessions, so that figure is the headline.
        filters = filters.led_by_all()
    return Evaluation(
        **pick(manifest, *OF_THE_RUN),
        workspace=workspace.folder.name,
        conditions=manifest.series(),
        started=manifest.start,
        environment=environment(manifest, responses),
        lacking=manifest.unresolved_packages if manifest.dependencies_left_out or manifest.remedies else {},
        noise=sums.rounds.noise(),
        repeats=manifest.state,
        population=tallies.population,
        population_estimated=manifest.sampling is not None,
        drawn=manifest.draws,
        asked=tallies.asked,
        prompts=sums.prompts.figures(),
        queries=sums.cases.figures(manifest.pairs, manifest.histories),
        filters=by_filter,
        headline=filters.over({name: figures.planned for name, figures in by_filter.items()}).headline,
        errors=tuple(workspace.errors()),
        metrics=(*(metric.info for metric in metrics), *(footprint.INFOS[name] for name in of_run)),
        responses=responses,
        unfinished=None
        if manifest.complete
        else sum(head.sessions > 0 and not workspace.has_sessions(head.path) for head in workspace.heads().values()),
    )


def _without_intervals(figures: FilterFigures) -> FilterFigures:
    def strip(estimates: Mapping[str, Estimate]) -> dict[str, Estimate]:
        return {name: replace(old, low=None, high=None, elsewhere=OtherCode()) for name, old in estimates.items()}

    kinds = {kind: strip(estimates) for kind, estimates in figures.kinds.items()}
    return replace(figures, metrics=strip(figures.metrics), kinds=kinds)


def environment(manifest: Manifest, responses: Responses | None = None) -> dict[str, str]:
    packages, dependencies = (
        ", ".join(f"{name} {version}" for name, version in versions.items()) or "none"
        for versions in (manifest.engine.packages, manifest.dependencies)
    )
    vocabulary, unresolved = "", "not known"
    if known := manifest.vocabulary:
        vocabulary = (
            f"{known.texts:,} texts in {known.tokens:,} tokens; {known.open:.1%} of the tokens are in no other file "
            f"(the open-vocabulary rate), and {known.new:.1%} not even earlier in their own file"
        )
    if manifest.unresolved_imports is not None:
        missing = abbreviate_names([*manifest.unresolved_packages])
        unresolved = f"{manifest.unresolved_imports:.1%}{f' ({missing})' if missing else ''}"
    return {
        "ci-eval": manifest.ci_eval,
        "Engine packages": packages,
        **({"Extended by": ", ".join(map(" ".join, manifest.plugins.items()))} if manifest.plugins else {}),
        "Grammar": manifest.grammar,
        "Python": manifest.python,
        "Operating system": manifest.os,
        "CPU": manifest.processor,
        "Workers": str(manifest.jobs),
        "Strategy": manifest.strategy,
        "Dependencies": dependencies,
        "Unresolved imports": unresolved,
        **({"Files": describe_left_out(manifest.left_out)} if manifest.left_out else {}),
        "Confined": manifest.confined or "the engine has no process of its own",
        **({"Settings left out": manifest.settings_left_out} if manifest.settings_left_out else {}),
        **({"Answers were read by": _counts_text(responses.rules)} if responses and responses.rules else {}),
        **({"Answers ended by": _counts_text(responses.finishes)} if responses else {}),
        **({"Answers of an earlier run": f"{manifest.reused:,} sessions"} if manifest.reused else {}),
        **({"Vocabulary": vocabulary} if vocabulary else {}),
    }


def _counts_text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))


def describe_left_out(counts: Mapping[str, int]) -> str:
    named = " and ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))
    return f"Left out: {named} files (project.generated: include evaluates them)"
