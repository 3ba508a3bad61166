"""Stage 3: sessions → figures, and the reports made of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from ci_eval import machine, tasks
from ci_eval.contracts import Metric, Observation, Task
from ci_eval.errors import WorkspaceError
from ci_eval.filters import decide
from ci_eval.grammar.colours import colours_in
from ci_eval.manifest import Manifest
from ci_eval.model import (
    Estimate,
    Evaluation,
    FileFigures,
    FilterFigures,
    FiltersConfig,
    GateResult,
    Kind,
    Session,
    SessionScore,
    SessionsFilter,
    SourceFile,
    Status,
    Vocabulary,
)
from ci_eval.model.sampling import Sampling
from ci_eval.observing import all_observations_of, by_round, evaluated, score
from ci_eval.rendering.advice import listed
from ci_eval.rendering.contract import Reporter
from ci_eval.rendering.painting import Paint, unasked
from ci_eval.statistics import footprint
from ci_eval.statistics.noise import Rounds
from ci_eval.statistics.population import counted, share
from ci_eval.statistics.querying import Cases
from ci_eval.statistics.stats import Collector, Observations, estimate, placed
from ci_eval.statistics.wavering import Wavering
from ci_eval.workspace import Workspace

EVERYTHING = "ALL"


def report(
    workspace: Workspace,
    metrics: Sequence[Metric],
    filters: Sequence[SessionsFilter],
    reporters: Sequence[Reporter],
    folder: Path,
    *,
    shown: Sequence[str] = (),
    lengths: Sequence[int] = (),
    weights: Mapping[Kind, float] | None = None,
    judge: Callable[[Evaluation], tuple[GateResult, ...]] = lambda _: (),
    grammars: Mapping[str, str] | None = None,
    edition: int = 0,
) -> tuple[Evaluation, dict[str, Path]]:
    """Write every report below `folder`; the figures, and by reporter the file to open first.

    `shown`: names of the metrics that are shown where there is no room for all; none = those of the task that have a
    figure. `lengths`: of the prefixes that get figures of their own, since one figure over a ladder of them would mean
    little. `weights`: of a session of each kind, for the figures `Weighted`; none = there are none. `judge`:
    figures → the gates that they keep or break. `grammars`: end of a file's name → the grammar that its source is
    coloured by. `edition`: see Evaluation.
    """
    evaluation = evaluate(workspace, metrics, filters, lengths, weights or {})
    figures = evaluation.filters[EVERYTHING].metrics
    usual = [info.name for info in evaluation.metrics if info.shown and figures[info.name].value is not None]
    infos = tuple(replace(info, shown=info.name in (shown or usual)) for info in evaluation.metrics)
    evaluation = replace(evaluation, metrics=infos, gates=judge(evaluation), edition=edition)
    stored = WorkspaceSessions(workspace, [*evaluation.filters[EVERYTHING].files], grammars or {})
    return evaluation, {each.name: each.write(evaluation, stored, folder) for each in reporters}


class WorkspaceSessions:
    """The sessions of a workspace, file by file."""

    def __init__(self, workspace: Workspace, paths: Sequence[str], grammars: Mapping[str, str]) -> None:
        self._workspace = workspace
        self.paths = paths
        self._grammars = grammars
        manifest = workspace.manifest()
        self._is_sample = manifest.is_sample
        self.processes = min(manifest.jobs, machine.cores())

    def __iter__(self) -> Iterator[tuple[SourceFile, Iterator[Session]]]:
        return self._workspace.sessions(Session)

    def of(self, path: str) -> tuple[SourceFile, Iterator[Session]]:
        """See StoredSessions."""
        return self._workspace.source(path), self._workspace.sessions_in(path, Session)

    def paint(self, source: SourceFile, asked: Container[int]) -> Paint:
        """See StoredSessions."""
        return Paint(
            colours_in(source.path, source.text, self._grammars),
            unasked(self._workspace.places_in(source.path), asked) if self._is_sample else (),
        )


def evaluate(
    workspace: Workspace,
    metrics: Sequence[Metric],
    filters: Sequence[SessionsFilter],
    lengths: Sequence[int],
    weights: Mapping[Kind, float],
) -> Evaluation:
    """The figures under each filter; the filter ALL lets every session through and comes first."""
    manifest = workspace.manifest()
    task = tasks.CATALOG.load(manifest.task)
    metrics = [metric for metric in metrics if metric.of in manifest.figures]
    everything = SessionsFilter(name=EVERYTHING)
    of, sampling = manifest.rounds, manifest.sampling
    tallies = {
        f"Prefix {length}": Tally(task, metrics, everything, length, rounds=of, sampling=sampling) for length in lengths
    }
    tallies = {
        each.name: Tally(task, metrics, each, rounds=of, sampling=sampling) for each in (everything, *filters)
    } | tallies
    if weights:
        tallies["Weighted"] = Tally(task, metrics, everything, weights=weights, rounds=of, sampling=sampling)
    rounds, cases = Rounds(of), Cases()
    for file, sessions in workspace.sessions(SessionScore):
        for tally in tallies.values():
            tally.begin(file.path, manifest.cluster(file.path))
        for session in sessions:
            if sampling and not 1 <= session.stratum <= len(sampling.strata):
                raise WorkspaceError(f"session {session.id} of {file.path} is in no stratum: evaluate again")
            if of > 1:
                rounds.add(session)
            if session.properties.strategy and evaluated(session):
                cases.add(file.path, manifest.cluster(file.path), session, score(task, session))
            band = task.band(session).name if evaluated(session) else None
            seen = all_observations_of(metrics, session)
            # Observed as each round answered, where that is not the same.
            moved = (
                list(zip(*(by_round(metric, session, of) for metric in metrics), strict=True))
                if session.otherwise and of > 1
                else []
            )
            for tally in tallies.values():
                tally.add(session, band, seen, moved)
    known, asked = population(workspace, tallies[EVERYTHING].evaluated)
    of_run = footprint.figures(manifest.footprint)
    return Evaluation(
        title=manifest.title,
        workspace=workspace.folder.name,
        engine=manifest.engine,
        project=manifest.project,
        completion_type=manifest.completion_type,
        client=manifest.client,
        language=manifest.language,
        task=task.name,
        seed=manifest.seed,
        conditions=manifest.series(),
        started=manifest.start,
        environment=environment(manifest),
        lacking=manifest.unresolved_packages if manifest.dependencies_left_out else {},
        noise=rounds.noise(),
        population=known,
        sampling=sampling,
        clusters=manifest.clusters,
        queries=cases.figures(manifest.pairs),
        filters=_filters(tallies, asked, of_run),
        errors=tuple(workspace.errors()),
        metrics=(*(metric.info for metric in metrics), *(footprint.INFOS[name] for name in of_run)),
        footprint=manifest.footprint,
        unfinished=None if manifest.complete else _not_through(workspace),
    )


def _filters(tallies: Mapping[str, Tally], asked: float, of_run: Mapping[str, Estimate]) -> dict[str, FilterFigures]:
    """The figures under each filter; under ALL also those of the whole run."""
    found = {name: tally.figures(asked) for name, tally in tallies.items()}
    whole = found[EVERYTHING]
    return found | {EVERYTHING: replace(whole, metrics=whole.metrics | dict(of_run))}


def _not_through(workspace: Workspace) -> int:
    return sum(each.sessions > 0 and not workspace.has_sessions(each.path) for each in workspace.action_heads())


def population(workspace: Workspace, asked: Mapping[str, int]) -> tuple[int, float]:
    """The sessions this project has under this strategy, and which share of them was asked; `asked`: by file."""
    manifest = workspace.manifest()
    merged = bool(manifest.projects)
    if merged or manifest.dealt is not None:
        files = {each.path: each.sessions for each in workspace.action_heads()}
        known = counted(files, shard=manifest.dealt, merged=merged)
    else:
        known = Counter({"": manifest.generated})
    return share(known, asked, merged=merged)


def environment(manifest: Manifest) -> dict[str, str]:
    """What the run stood on, for the reader."""
    packages = [f"{name} {version}" for name, version in manifest.engine.packages.items()]
    return {
        "ci-eval": manifest.ci_eval,
        "Engine packages": ", ".join(packages) or "none",
        "Grammar": manifest.grammar,
        "Python": manifest.python,
        "Operating system": manifest.os,
        "CPU": manifest.cpu,
        "Workers": str(manifest.jobs),
        "Strategy": manifest.strategy,
        "Dependencies": ", ".join(f"{name} {version}" for name, version in manifest.dependencies.items()) or "none",
        "Unresolved imports": _unresolved(manifest),
        "Confined": manifest.confined or "the engine has no process of its own",
        **({"Answers of an earlier run": f"{manifest.reused:,} sessions"} if manifest.reused else {}),
        **({"Vocabulary": _spelled(manifest.vocabulary)} if manifest.vocabulary else {}),
    }


def _unresolved(manifest: Manifest) -> str:
    if manifest.unresolved_imports is None:
        return "not known"
    share, packages = f"{manifest.unresolved_imports:.1%}", [*manifest.unresolved_packages]
    return f"{share} ({listed(packages)})" if packages else share


def _spelled(found: Vocabulary) -> str:
    return (
        f"{found.texts:,} texts in {found.tokens:,} tokens; {found.open:.1%} of the tokens are in no other file (the "
        f"open-vocabulary rate), {found.new:.1%} neither there nor before in their own"
    )


Seen = Sequence[Sequence[Observation]]
"""What each metric observed in a session."""


class Tally:
    """Collects what one filter lets through."""

    def __init__(
        self,
        task: Task,
        metrics: Sequence[Metric],
        part: SessionsFilter,
        length: int | None = None,
        weights: Mapping[Kind, float] | None = None,
        rounds: int = 1,
        sampling: Sampling | None = None,
    ) -> None:
        """`length`: only sessions with a prefix of so many characters. `weights`: what a session of a kind counts.
        `sampling`: how many sessions each one stands for."""
        self._wavering = [Wavering(rounds) for _ in metrics]
        self._wavering_of_kind: dict[int, list[Wavering]] = defaultdict(lambda: [Wavering(rounds) for _ in metrics])
        self._length = length
        self._weights = weights
        self._metrics = metrics
        self._filters = part.filters
        self._lets_all_through = part.filters == FiltersConfig()
        self._files: list[str] = []
        self._clusters: dict[str, int] = {}
        self._cluster_of_file: list[int] = []
        self._kinds: dict[Kind, int] = {}
        self._observations = [Observations(metric, sampling) for metric in metrics]
        self._collector = Collector(self._observations)
        self._stands_for = [1.0, *(each.weight for each in sampling.strata)] if sampling else [1.0]
        self._statuses: Counter[Status] = Counter()
        self._evaluated: list[int] = []
        self._bands: dict[str, float] = defaultdict(float)
        self._undecided = 0
        self._task = task
        self._sampled = sampling is not None

    def begin(self, path: str, cluster: str) -> None:
        """The next sessions are of this file, which is one with others of the same cluster."""
        self._files.append(path)
        self._cluster_of_file.append(self._clusters.setdefault(cluster, len(self._clusters)))
        self._evaluated.append(0)

    def add(self, session: SessionScore, band: str | None, seen: Seen, moved: Sequence[Seen] = ()) -> None:
        """Count a session, if the filter lets it through; `band`: None where it was not asked. `seen`: what each metric
        observed in it. `moved`: the same round by round, where not all are alike."""
        if self._length is not None and session.typed != self._length:
            return
        weight = 1.0 if self._weights is None else self._weights.get(session.properties.kind, 0.0)
        if not weight:
            return
        verdict = self._lets_all_through or decide(session.properties, session.expected_text, self._filters)
        self._undecided += verdict is None
        if not verdict:
            return
        self._statuses[session.status] += 1
        if band is not None:
            self._evaluated[-1] += 1
            self._bands[band] += self._stands_for[session.stratum]
        file = len(self._files) - 1
        kind = self._kinds.setdefault(session.properties.kind, len(self._kinds))
        place = placed(file, kind, session.stratum)
        self._collector.add(place, seen if weight == 1 else self._weighted(seen, weight))
        if moved:
            self._add_moved(kind, weight, moved)

    def _weighted(self, seen: Seen, weight: float) -> Seen:
        return [
            [(weight * above, weight * below) for above, below in observed] if metric.statistic == "ratio" else observed
            for metric, observed in zip(self._metrics, seen, strict=True)
        ]

    def _add_moved(self, kind: int, weight: float, moved: Sequence[Seen]) -> None:
        for place in range(len(self._metrics)):
            rounds = np.array([np.sum(each[place] or [(0.0, 0.0)], axis=0) for each in moved])[:, None, :] * weight
            self._wavering[place].add(rounds)
            self._wavering_of_kind[kind][place].add(rounds)

    def _estimates(self, asked: float, wavering: Sequence[Wavering], kind: int | None = None) -> dict[str, Estimate]:
        return {
            seen.metric.info.name: estimate(seen, asked, moved, kind=kind, clusters=self._cluster_of_file)
            for seen, moved in zip(self._observations, wavering, strict=True)
        }

    @property
    def evaluated(self) -> dict[str, int]:
        """By file: the sessions that were asked and let through."""
        return dict(zip(self._files, self._evaluated, strict=True))

    def _folders(self) -> dict[str, FileFigures]:
        groups = folders_of(self._files)
        figures = {each.metric.info.name: each.by_group([*groups.values()]) for each in self._observations}
        return {
            folder: FileFigures(
                sessions=sum(self._evaluated[file] for file in files),
                metrics={name: found[number] for name, found in figures.items()},
            )
            for number, (folder, files) in enumerate(groups.items())
        }

    def figures(self, asked: float) -> FilterFigures:
        """The figures of all that was let through; `asked`: the share of the project's sessions that was asked."""
        self._collector.hand_on()
        by_file = {each.metric.info.name: each.by_file(len(self._files)) for each in self._observations}
        return FilterFigures(
            sessions=sum(self._evaluated),
            planned=self._statuses.total(),
            undecided=self._undecided,
            statuses={status.value: self._statuses[status] for status in Status},
            metrics=self._estimates(asked, self._wavering),
            by_file={
                metric.info.name: _mean(by_file[metric.info.name])
                for metric in self._metrics
                if metric.statistic == "ratio" and not self._sampled
            },
            files={
                path: FileFigures(sessions=count, metrics={name: found[file] for name, found in by_file.items()})
                for file, (path, count) in enumerate(zip(self._files, self._evaluated, strict=True))
            },
            folders=self._folders(),
            kinds={
                kind.value: self._estimates(asked, self._wavering_of_kind[number], number)
                for kind, number in sorted(self._kinds.items())
            },
            ranks={band.name: round(self._bands[band.name]) for band in self._task.bands},
        )


def folders_of(paths: Sequence[str]) -> dict[str, list[int]]:
    """Folder → which of the paths are below it; not where these are all, or the same as below a folder in it."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, path in enumerate(paths):
        for place, sign in enumerate(path):
            if sign == "/":
                found[path[: place + 1]].append(number)
    # The innermost of several with the same files comes last.
    innermost = {tuple(numbers): folder for folder, numbers in sorted(found.items(), key=lambda each: len(each[0]))}
    return {folder: [*numbers] for numbers, folder in innermost.items() if len(numbers) < len(paths)}


def _mean(figures: Iterable[float | None]) -> float | None:
    """Of the files that have a figure; None where none has."""
    known = [each for each in figures if each is not None]
    return sum(known) / len(known) if known else None
