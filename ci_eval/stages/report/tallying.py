"""What metrics observe in the sessions of a workspace, added up by file; several processes share the files."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from ci_eval import machine, tasks
from ci_eval.contracts import Metric, Observation, Task
from ci_eval.errors import WorkspaceError
from ci_eval.filters import ReportFilter
from ci_eval.manifest import Manifest
from ci_eval.model import (
    Determinism,
    Estimate,
    FileFigures,
    FilterFigures,
    Kind,
    SessionScore,
    Status,
)
from ci_eval.model.sampling import Sampling, Stratum
from ci_eval.observing import (
    UNGRADED_BAND,
    ResponseCounts,
    all_observations_of,
    by_round,
    evaluated,
    is_ungraded,
    score,
)
from ci_eval.statistics.population import counted, project_of
from ci_eval.statistics.querying import Cases
from ci_eval.statistics.repeated.noise import Rounds
from ci_eval.statistics.repeated.wavering import Wavering
from ci_eval.statistics.stats import Collected, Collector, Observations, estimate, placed
from ci_eval.statistics.weighted import unequal
from ci_eval.workers import Workers
from ci_eval.workspace import Workspace

MANY = 20_000
"""With fewer sessions, to start processes takes longer than they save."""
AT_ONCE = 16
"""Files that are added up before they are added to the rest: always as many, since the last digits of sums depend on
their order."""
NUMBERS = {kind: number for number, kind in enumerate(Kind)}
"""Of kinds, where places are numbers."""

Seen = Sequence[Sequence[Observation]]
"""What each metric observed in a session."""
Named = Callable[[Iterable[str]], Mapping[str, Metric]]
"""Names → the metrics that other processes take for them."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """See Tally; of some files."""

    files: list[str]
    clusters: list[str]
    kinds: set[Kind]
    statuses: Counter[Status]
    evaluated: list[int]
    bands: dict[str, float]
    undecided: int
    collected: list[Collected]
    wavering: list[Wavering]
    wavering_of_kind: dict[Kind, list[Wavering]]


class Tally:
    """Adds up what one filter lets through: either sessions, or what other processes added up."""

    def __init__(
        self,
        task: Task,
        metrics: Sequence[Metric],
        part: ReportFilter,
        rounds: int = 1,
        sampling: Sampling | None = None,
        repeats: Determinism | None = None,
    ) -> None:
        """`sampling`: how many sessions each one stands for."""
        self._wavering = [Wavering(rounds) for _ in metrics]
        self._wavering_of_kind: dict[Kind, list[Wavering]] = defaultdict(lambda: [Wavering(rounds) for _ in metrics])
        self._metrics = metrics
        self._part = part
        self._files: list[str] = []
        self._clusters: list[str] = []
        self._kinds: set[Kind] = set()
        self._observations = [Observations(metric, sampling) for metric in metrics]
        self._collector = Collector(self._observations)
        self._stands_for = [1.0, *(each.weight for each in sampling.strata)] if sampling else [1.0]
        self._statuses: Counter[Status] = Counter()
        self._evaluated: list[int] = []
        self._bands: dict[str, float] = defaultdict(float)
        self._undecided = 0
        self._task = task
        self._sampled = sampling is not None
        self._repeats = repeats

    def begin(self, path: str, cluster: str) -> None:
        """The next sessions are of this file, which is one with others of the same cluster."""
        self._files.append(path)
        self._clusters.append(cluster)
        self._evaluated.append(0)

    def add(self, session: SessionScore, band: str | None, seen: Seen, moved: Sequence[Seen] = ()) -> None:
        """Count a session, if the filter lets it through; `band`: None where it was not asked. `seen`: what each metric
        observed in it. `moved`: the same round by round, where not all are alike."""
        weight = self._part.weight(session)
        self._undecided += weight is None
        if not weight:
            return
        self._statuses[session.status] += 1
        if band is not None:
            self._evaluated[-1] += 1
            self._bands[band] += self._stands_for[session.stratum]
        kind = session.properties.kind
        self._kinds.add(kind)
        place = placed(len(self._files) - 1, NUMBERS[kind], session.stratum)
        self._collector.add(place, seen if weight == 1 else self._weighted(seen, weight))
        if moved:
            self._add_moved(kind, weight, moved)

    def _weighted(self, seen: Seen, weight: float) -> Seen:
        return [
            [(weight * above, weight * below) for above, below in observed] if metric.statistic == "ratio" else observed
            for metric, observed in zip(self._metrics, seen, strict=True)
        ]

    def _add_moved(self, kind: Kind, weight: float, moved: Sequence[Seen]) -> None:
        for place in range(len(self._metrics)):
            rounds = np.array([np.sum(each[place] or [(0.0, 0.0)], axis=0) for each in moved])[:, None, :] * weight
            self._wavering[place].add(rounds)
            self._wavering_of_kind[kind][place].add(rounds)

    def part(self) -> _Part:
        """What was added up so far, for another process's Tally."""
        self._collector.hand_on()
        return _Part(
            files=self._files,
            clusters=self._clusters,
            kinds=self._kinds,
            statuses=self._statuses,
            evaluated=self._evaluated,
            bands=dict(self._bands),
            undecided=self._undecided,
            collected=[each.collected() for each in self._observations],
            wavering=self._wavering,
            wavering_of_kind=dict(self._wavering_of_kind),
        )

    def add_part(self, part: _Part) -> None:
        """Add the next files."""
        for mine, theirs in zip(self._observations, part.collected, strict=True):
            mine.add_collected(theirs, len(self._files))
        self._files += part.files
        self._clusters += part.clusters
        self._kinds |= part.kinds
        self._statuses += part.statuses
        self._evaluated += part.evaluated
        for band, count in part.bands.items():
            self._bands[band] += count
        self._undecided += part.undecided
        for moved, other in zip(self._wavering, part.wavering, strict=True):
            moved.add_all(other)
        for kind, found in part.wavering_of_kind.items():
            for moved, other in zip(self._wavering_of_kind[kind], found, strict=True):
                moved.add_all(other)

    def _estimates(self, asked: float, wavering: Sequence[Wavering], kind: Kind | None = None) -> dict[str, Estimate]:
        numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(self._clusters))}
        clusters = [numbers[cluster] for cluster in self._clusters]
        number = None if kind is None else NUMBERS[kind]
        return {
            seen.metric.info.name: estimate(seen, asked, moved, kind=number, clusters=clusters, repeats=self._repeats)
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
            }
            if self._part.detailed
            else {},
            folders=self._folders() if self._part.detailed else {},
            kinds={
                kind.value: self._estimates(asked, self._wavering_of_kind[kind], kind) for kind in sorted(self._kinds)
            }
            if self._part.detailed
            else {},
            ranks={band.name: round(self._bands[band.name]) for band in self._task.bands},
        )


@dataclass(frozen=True, kw_only=True)
class Tallies:
    """The sessions of a workspace under each filter."""

    by_filter: dict[str, Tally]
    rounds: Rounds
    cases: Cases
    responses: ResponseCounts


@dataclass(frozen=True, kw_only=True)
class _PartOfAll:
    by_filter: dict[str, _Part]
    rounds: Rounds
    cases: Cases
    responses: ResponseCounts


@dataclass(frozen=True, kw_only=True)
class Tallying:
    """Adds up the sessions of a workspace; other processes may add up some of its files."""

    workspace: Workspace
    named: Named | None
    """None: one process adds up all files, since others could not be told what to observe."""
    filters: tuple[ReportFilter, ...]

    @cached_property
    def _manifest(self) -> Manifest:
        return self.workspace.manifest()

    @cached_property
    def _sampling(self) -> Sampling | None:
        """How the sessions were drawn, if they stand for different numbers of others: that of the run, or merged
        projects of which unequal shares were asked."""
        return self._manifest.sampling or (self._of_projects[1] if self._of_projects else None)

    @cached_property
    def _strata(self) -> Mapping[str, int]:
        return self._of_projects[0] if self._of_projects else {}

    @cached_property
    def _of_projects(self) -> tuple[Mapping[str, int], Sampling] | None:
        if not self._manifest.projects or self._manifest.sampling:
            return None
        asked: Counter[str] = Counter()
        for source, sessions in self.workspace.sessions(SessionScore):
            asked[project_of(source.path, merged=True)] += sum(map(evaluated, sessions))
        known = counted({head.path: head.sessions for head in self.workspace.action_heads()}, shard=None, merged=True)
        names = [name for name in asked if asked[name]]
        if not unequal([asked[name] / max(known[name], asked[name]) for name in names]):
            return None
        strata = tuple(
            Stratum(phase=0, sessions=max(known[name], asked[name]), asked=asked[name], share=1.0, later=0.0)
            for name in names
        )
        return {name: number for number, name in enumerate(names, 1)}, Sampling(metric="", precision=0.5, strata=strata)

    def all(self, observed: Sequence[Metric]) -> Tallies:
        """Of all files."""
        manifest = self._manifest
        found = self._empty(observed)
        files = self.workspace.session_files()
        waiting = deque(tuple(files[begin : begin + AT_ONCE]) for begin in range(0, len(files), AT_ONCE))
        jobs = min(manifest.jobs, machine.cores())
        if jobs < 2 or manifest.finished < MANY or self.named is None:
            for paths in waiting:
                _add(found, self._part(paths, observed))
            return found
        done: dict[tuple[Path, ...], _PartOfAll] = {}
        order = deque(waiting)
        names = tuple(metric.info.name for metric in observed)
        with Workers[tuple[Path, ...], _PartOfAll](Tallying.part, jobs=jobs, shared=(self, names)) as workers:
            for outcome in filter(None, workers.map(waiting)):
                # What went wrong in a worker is raised here as what it is, if it goes wrong again.
                done[outcome.task] = outcome.result or self._part(outcome.task, observed)
                while order and order[0] in done:
                    _add(found, done.pop(order.popleft()))
        return found

    def part(self, names: Sequence[str], paths: Sequence[Path]) -> _PartOfAll:
        """In a worker: the sessions in these files."""
        assert self.named
        metrics = self.named(names)
        return self._part(paths, [metrics[name] for name in names])

    def _empty(self, observed: Sequence[Metric]) -> Tallies:
        of, sampling, repeats = self._manifest.rounds, self._sampling, self._manifest.state
        task = tasks.CATALOG.load(self._manifest.task)
        tallies = {each.name: Tally(task, observed, each, of, sampling, repeats) for each in self.filters}
        return Tallies(by_filter=tallies, rounds=Rounds(of), cases=Cases(), responses=ResponseCounts())

    def _part(self, paths: Sequence[Path], observed: Sequence[Metric]) -> _PartOfAll:
        manifest = self._manifest
        task, of, sampling = tasks.CATALOG.load(manifest.task), manifest.rounds, self._sampling
        found = self._empty(observed)
        tallies = [*found.by_filter.values()]
        for file, sessions in self.workspace.sessions_at(paths, SessionScore):
            cluster = manifest.cluster(file.path)
            for tally in tallies:
                tally.begin(file.path, cluster)
            stratum = self._strata.get(project_of(file.path, merged=True), 0)
            for session in sessions:
                if stratum:
                    session = replace(session, stratum=stratum)
                if sampling and evaluated(session) and not 1 <= session.stratum <= len(sampling.strata):
                    raise WorkspaceError(f"session {session.id} of {file.path} is in no stratum: evaluate again")
                asked = evaluated(session)
                if of > 1:
                    found.rounds.add(session)
                if session.properties.strategy and asked:
                    found.cases.add(file.path, cluster, session, score(task, session))
                band = band_of(task, session) if asked else None
                found.responses.add(session)
                seen = all_observations_of(observed, session)
                # Observed as each round answered, where that is not the same.
                moved = (
                    list(zip(*(by_round(metric, session, of) for metric in observed), strict=True))
                    if session.otherwise and of > 1
                    else []
                )
                for tally in tallies:
                    tally.add(session, band, seen, moved)
        parts = {name: tally.part() for name, tally in found.by_filter.items()}
        return _PartOfAll(by_filter=parts, rounds=found.rounds, cases=found.cases, responses=found.responses)


def band_of(task: Task, session: SessionScore) -> str:
    """Return the band of an evaluated session; one that nobody can grade is in none of the task's."""
    return UNGRADED_BAND if is_ungraded(session) else task.band(session).name


def _add(tallies: Tallies, part: _PartOfAll) -> None:
    for name, tally in tallies.by_filter.items():
        tally.add_part(part.by_filter[name])
    tallies.rounds.add_all(part.rounds)
    tallies.cases.add_all(part.cases)
    tallies.responses.add_all(part.responses)


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
