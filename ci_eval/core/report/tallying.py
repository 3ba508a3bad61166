"""The sums of what metrics observe in the sessions of a workspace, by file; several processes share the files."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from ci_eval.core import machine
from ci_eval.core.catalogs import tasks
from ci_eval.core.contracts import Metric, Observation, Task
from ci_eval.core.filters import EVERYTHING, ReportFilter
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import (
    Estimate,
    FileFigures,
    FilterFigures,
    Kind,
    SessionScore,
    Status,
)
from ci_eval.core.scoring import ResponseCounts, evaluated, observe_metrics, observe_rounds, score, task_band
from ci_eval.core.statistics.population import Key, Strata, Stratum
from ci_eval.core.statistics.querying import Cases
from ci_eval.core.statistics.repeated import DETERMINISTIC, Repeats, Rounds, SecondQuestions, Wavering
from ci_eval.core.statistics.stats import Collected, Collector, Observations, Prompts, estimate, pack_location
from ci_eval.core.workers import Workers
from ci_eval.core.workspace import Workspace

MANY = 20_000
"""The number of sessions below which starting processes takes longer than they save."""
AT_ONCE = 16
"""The number of files that are added up before they join the other files. It never varies, since the last digits of
sums depend on their order."""
NUMBERS = {kind: number for number, kind in enumerate(Kind)}
"""The number of each kind, as `pack_location` takes it."""

Seen = Sequence[Sequence[Observation]]
"""The observations of each metric in a session."""
Named = Callable[[Iterable[str]], Mapping[str, Metric]]
"""A function: names → the metrics that other processes take for them."""


@dataclass(frozen=True, kw_only=True)
class _Part:
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
    def __init__(
        self,
        task: Task,
        metrics: Sequence[Metric],
        part: ReportFilter,
        rounds: int = 1,
        strata: Mapping[Key, Stratum] | None = None,
        repeats: Repeats = DETERMINISTIC,
    ) -> None:
        """Begin with no files. `strata`: those that the filter's sessions are in, if they were asked in unequal
        shares."""
        strata = strata or {}
        self._wavering = [Wavering(rounds) for _ in metrics]
        self._wavering_of_kind: dict[Kind, list[Wavering]] = defaultdict(lambda: [Wavering(rounds) for _ in metrics])
        self._metrics = metrics
        self._part = part
        self._files: list[str] = []
        self._clusters: list[str] = []
        self._kinds: set[Kind] = set()
        self._observations = [Observations(metric, [*strata.values()]) for metric in metrics]
        self._collector = Collector(self._observations)
        self._strata = {key: (number, stratum.weight) for number, (key, stratum) in enumerate(strata.items(), 1)}
        self._statuses: Counter[Status] = Counter()
        self._evaluated: list[int] = []
        self._bands: dict[str, float] = defaultdict(float)
        self._undecided = 0
        self._task = task
        self._weighted = bool(strata)
        self._repeats = repeats

    def begin(self, path: str, cluster: str) -> None:
        """Begin a file, to which the next sessions belong. Files of one cluster count as one."""
        self._files.append(path)
        self._clusters.append(cluster)
        self._evaluated.append(0)

    def add(
        self, session: SessionScore, stratum: Key, band: str | None, seen: Seen, moved: Sequence[Seen] = ()
    ) -> None:
        """Count a session, if the filter lets it through. `band`: None if the session was not asked. `seen`: the
        observations of each metric in it. `moved`: the same round by round, if not all rounds are alike."""
        weight = self._part.weight(session)
        self._undecided += weight is None
        if not weight:
            return
        # Number 0 is for sessions without a weight, such as those that were not asked.
        number_of_stratum, stands_for = self._strata.get(stratum, (0, 1.0))
        self._statuses[session.status] += 1
        if band is not None:
            self._evaluated[-1] += 1
            self._bands[band] += stands_for
        kind = session.properties.kind
        self._kinds.add(kind)
        key = pack_location(len(self._files) - 1, NUMBERS[kind], number_of_stratum)
        self._collector.add(key, seen if weight == 1 else self._apply_weight(seen, weight))
        for number in range(len(self._metrics) if moved else 0):
            rounds = np.array([np.sum(seen[number] or [(0.0, 0.0)], axis=0) for seen in moved])[:, None, :]
            rounds = rounds * weight * stands_for
            self._wavering[number].add(rounds, len(self._files) - 1)
            self._wavering_of_kind[kind][number].add(rounds, len(self._files) - 1)

    def _apply_weight(self, seen: Seen, weight: float) -> Seen:
        return [
            [(weight * above, weight * below) for above, below in observed] if metric.statistic == "ratio" else observed
            for metric, observed in zip(self._metrics, seen, strict=True)
        ]

    def part(self) -> _Part:
        self._collector.flush_observations()
        return _Part(
            files=self._files,
            clusters=self._clusters,
            kinds=self._kinds,
            statuses=self._statuses,
            evaluated=self._evaluated,
            bands=dict(self._bands),
            undecided=self._undecided,
            collected=[observations.collected() for observations in self._observations],
            wavering=self._wavering,
            wavering_of_kind=dict(self._wavering_of_kind),
        )

    def add_part(self, part: _Part) -> None:
        """Add the next files, which another process has added up."""
        for mine, theirs in zip(self._observations, part.collected, strict=True):
            mine.merge_observations(theirs, len(self._files))
        self._clusters += part.clusters
        self._kinds |= part.kinds
        self._statuses += part.statuses
        self._evaluated += part.evaluated
        for band, count in part.bands.items():
            self._bands[band] += count
        self._undecided += part.undecided
        for moved, added in zip(self._wavering, part.wavering, strict=True):
            moved.add_all(added, len(self._files))
        for kind, waverings in part.wavering_of_kind.items():
            for moved, added in zip(self._wavering_of_kind[kind], waverings, strict=True):
                moved.add_all(added, len(self._files))
        self._files += part.files

    def _estimates(
        self, asked: float, again: SecondQuestions, wavering: Sequence[Wavering], kind: Kind | None = None
    ) -> dict[str, Estimate]:
        numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(self._clusters))}
        clusters = [numbers[cluster] for cluster in self._clusters]
        number = None if kind is None else NUMBERS[kind]
        return {
            seen.metric.info.name: estimate(
                seen, asked, moved, kind=number, clusters=clusters, repeats=self._repeats, again=again
            )
            for seen, moved in zip(self._observations, wavering, strict=True)
        }

    @property
    def evaluated(self) -> dict[str, int]:
        """Return the number of sessions that were asked and let through, by file."""
        return dict(zip(self._files, self._evaluated, strict=True))

    def _folders(self) -> dict[str, FileFigures]:
        groups = index_folders(self._files)
        figures = {
            observations.metric.info.name: observations.list_group_figures([*groups.values()])
            for observations in self._observations
        }
        return {
            folder: FileFigures(
                sessions=sum(self._evaluated[file] for file in files),
                metrics={name: values[number] for name, values in figures.items()},
            )
            for number, (folder, files) in enumerate(groups.items())
        }

    def figures(self, asked: float, again: SecondQuestions) -> FilterFigures:
        """Return the figures of all that was let through; `asked`: the share of the project's sessions that was
        asked, `again`: its second questions."""
        by_file = {
            observations.metric.info.name: observations.by_file(len(self._files)) for observations in self._observations
        }
        return FilterFigures(
            sessions=sum(self._evaluated),
            planned=self._statuses.total(),
            undecided=self._undecided,
            statuses={
                status.value: self._statuses[status]
                for status in Status
                # Engines that are no language models have no such session.
                if status is not Status.UNREADABLE or self._statuses[status]
            },
            metrics=self._estimates(asked, again, self._wavering),
            by_file={
                metric.info.name: _mean(by_file[metric.info.name])
                for metric in self._metrics
                # Files without an asked session would be missing from the mean over a sample.
                if metric.statistic == "ratio" and not self._weighted
            },
            files={
                path: FileFigures(sessions=count, metrics={name: values[file] for name, values in by_file.items()})
                for file, (path, count) in enumerate(zip(self._files, self._evaluated, strict=True))
            }
            if self._part.detailed
            else {},
            folders=self._folders() if self._part.detailed else {},
            kinds={
                kind.value: self._estimates(asked, again, self._wavering_of_kind[kind], kind)
                for kind in sorted(self._kinds)
            }
            if self._part.detailed
            else {},
            ranks={band.name: round(self._bands[band.name]) for band in self._task.bands},
        )


@dataclass(frozen=True, kw_only=True)
class Tallies:
    """The sums over the sessions of a workspace under each filter."""

    by_filter: dict[str, Tally]
    rounds: Rounds
    cases: Cases
    prompts: Prompts
    responses: ResponseCounts
    again: SecondQuestions
    population: int
    """The number of sessions that this project has under this strategy."""
    asked: float
    """The share of them that was asked, the smallest one of all strata."""
    asked_by_filter: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class _PartOfAll:
    by_filter: dict[str, _Part]
    rounds: Rounds
    cases: Cases
    prompts: Prompts
    responses: ResponseCounts
    again: SecondQuestions


@dataclass(frozen=True, kw_only=True)
class Tallying:
    """A job that adds up the sessions of a workspace; other processes may add up some of its files."""

    workspace: Workspace
    named: Named | None
    """The metrics by their names. If it is None, one process adds up all files, since the others cannot be told what to
    observe."""
    filters: tuple[ReportFilter, ...]

    @cached_property
    def _manifest(self) -> Manifest:
        return self.workspace.manifest()

    @cached_property
    def _strata(self) -> Strata:
        return self.workspace.strata()

    @cached_property
    def _asked(self) -> tuple[Counter[Key], dict[str, dict[Key, None]]]:
        """Return the number of asked sessions of each stratum, and the strata that each filter's sessions are in; of an
        undivided population nothing, which takes no second look at all sessions."""
        asked, touched = Counter[Key](), {part.name: dict[Key, None]() for part in self.filters}
        for _, sessions in self.workspace.sessions(SessionScore) if self._strata.is_divided else ():
            for session in filter(evaluated, sessions):
                key = self._strata.find(session)
                asked[key] += 1
                for part in self.filters:
                    if part.weight(session):
                        touched[part.name][key] = None
        return asked, touched

    def _weighted(self, name: str) -> dict[Key, Stratum]:
        """Return the strata of a filter's sessions, if these have to be weighted."""
        asked, touched = self._asked
        return dict(zip(touched[name], self._strata.weighted(asked, touched[name]), strict=False))

    def all(self, observed: Sequence[Metric]) -> Tallies:
        """Return the sums over all sessions."""
        tallies = self._add_up(observed)
        asked, touched = self._asked
        if not self._strata.is_divided:
            asked = Counter({("", ""): sum(tallies.by_filter[EVERYTHING].evaluated.values())})
        # What was drawn is a sample of all that might have been drawn, which has no end.
        endless = bool(self._manifest.draws)
        shares = {name: 0.0 if endless else self._strata.share(asked, keys) for name, keys in touched.items()}
        share = 0.0 if endless else self._strata.share(asked)
        return replace(tallies, population=self._strata.total(asked), asked=share, asked_by_filter=shares)

    def _add_up(self, observed: Sequence[Metric]) -> Tallies:
        manifest = self._manifest
        tallies = self._empty(observed)
        files = self.workspace.session_files()
        waiting = deque(tuple(files[begin : begin + AT_ONCE]) for begin in range(0, len(files), AT_ONCE))
        jobs = min(manifest.jobs, machine.cores())
        if jobs < 2 or manifest.finished < MANY or self.named is None:
            for paths in waiting:
                _add(tallies, self._part(paths, observed))
            return tallies
        done: dict[tuple[Path, ...], _PartOfAll] = {}
        order = deque(waiting)
        # Metrics hold functions that cannot be pickled, so workers get their names.
        names = tuple(metric.info.name for metric in observed)
        with Workers[tuple[Path, ...], _PartOfAll](Tallying.part, jobs=jobs, shared=(self, names)) as workers:
            for outcome in filter(None, workers.map(waiting)):
                # A part that failed in a worker is added up again here, so that its error is raised as it is.
                done[outcome.task] = outcome.result or self._part(outcome.task, observed)
                # Parts are added in the order of the files: the last digits of sums depend on it.
                while order and order[0] in done:
                    _add(tallies, done.pop(order.popleft()))
        return tallies

    def part(self, names: Sequence[str], paths: Sequence[Path]) -> _PartOfAll:
        """Return the sums over the sessions in these files, in a worker."""
        assert self.named
        metrics = self.named(names)
        return self._part(paths, [metrics[name] for name in names])

    def _empty(self, observed: Sequence[Metric]) -> Tallies:
        manifest = self._manifest
        rounds, repeats = manifest.rounds, Repeats.of([(manifest.is_function, manifest.rounds, manifest.state)])
        task = tasks.CATALOG.load(self._manifest.task)
        tallies = {
            report_filter.name: Tally(
                task, observed, report_filter, rounds, self._weighted(report_filter.name), repeats
            )
            for report_filter in self.filters
        }
        return Tallies(
            by_filter=tallies,
            rounds=Rounds(rounds),
            cases=Cases(),
            prompts=Prompts(observed),
            responses=ResponseCounts(),
            again=SecondQuestions(),
            population=0,
            asked=0.0,
            asked_by_filter={},
        )

    def _part(self, paths: Sequence[Path], observed: Sequence[Metric]) -> _PartOfAll:
        manifest = self._manifest
        task, rounds = tasks.CATALOG.load(manifest.task), manifest.rounds
        sums = self._empty(observed)
        tallies = [*sums.by_filter.values()]
        for file, sessions in self.workspace.read_session_files(paths, SessionScore):
            cluster = manifest.cluster(file.path)
            for tally in tallies:
                tally.begin(file.path, cluster)
            again: list[SessionScore] = []
            for session in sessions:
                asked, stratum = evaluated(session), self._strata.find(session)
                again += [session] if asked and session.again else []
                if rounds > 1:
                    sums.rounds.add(session)
                if session.properties.strategy and asked:
                    sums.cases.add(file.path, cluster, session, score(task, session))
                band = task_band(task, session) if asked else None
                sums.responses.add(session)
                seen = observe_metrics(observed, session)
                if asked:
                    sums.prompts.add(session, seen)
                # The observations round by round, if not all rounds were answered alike.
                moved = (
                    list(zip(*(observe_rounds(metric, session, rounds) for metric in observed), strict=True))
                    if session.otherwise and rounds > 1
                    else []
                )
                for tally in tallies:
                    tally.add(session, stratum, band, seen, moved)
            sums.again.add(again)
        parts = {name: tally.part() for name, tally in sums.by_filter.items()}
        return _PartOfAll(
            by_filter=parts,
            rounds=sums.rounds,
            cases=sums.cases,
            prompts=sums.prompts,
            responses=sums.responses,
            again=sums.again,
        )


def _add(tallies: Tallies, part: _PartOfAll) -> None:
    for name, tally in tallies.by_filter.items():
        tally.add_part(part.by_filter[name])
    tallies.rounds.add_all(part.rounds)
    tallies.cases.add_all(part.cases)
    tallies.prompts.add_all(part.prompts)
    tallies.responses.add_all(part.responses)
    tallies.again.add_all(part.again)


def index_folders(paths: Sequence[str]) -> dict[str, list[int]]:
    """Return the indices of the paths below each folder. A folder that holds all paths, or the same as a folder in it,
    is left out."""
    by_folder: dict[str, list[int]] = defaultdict(list)
    for number, path in enumerate(paths):
        for position, character in enumerate(path):
            if character == "/":
                by_folder[path[: position + 1]].append(number)
    # Of several folders with the same files, the innermost comes last.
    innermost = {
        tuple(numbers): folder for folder, numbers in sorted(by_folder.items(), key=lambda entry: len(entry[0]))
    }
    return {folder: [*numbers] for numbers, folder in innermost.items() if len(numbers) < len(paths)}


def _mean(figures: Iterable[float | None]) -> float | None:
    """Return the mean over the files that have a figure; None if none has."""
    known = [figure for figure in figures if figure is not None]
    return sum(known) / len(known) if known else None
