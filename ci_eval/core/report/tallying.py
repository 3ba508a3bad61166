"""Sum the sessions of a workspace in several processes."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from ci_eval.core import machine
from ci_eval.core.catalogs import tasks
from ci_eval.core.contracts import Metric, Observation, Task
from ci_eval.core.filters import EVERYTHING, ReportFilter
from ci_eval.core.model import Estimate, FileFigures, FilterFigures, Kind, SessionScore, Status
from ci_eval.core.scoring import Observe, ResponseCounts, evaluated, observe_metrics, observe_rounds, score, task_band
from ci_eval.core.statistics.population import Key, Strata, Stratum
from ci_eval.core.statistics.querying import Cases
from ci_eval.core.statistics.repeated import Repeats, Rounds, SecondQuestions, Wavering
from ci_eval.core.statistics.stats import Collected, Collector, Columns, Observations, Prompts, estimate, pack_location
from ci_eval.core.workers import Workers
from ci_eval.core.workspace import Workspace

MANY = 20_000
"""If there are fewer sessions, several processes take more time to start than they save."""
AT_ONCE = 16
"""The number of files that are summed together. It is constant, since the last digits of sums depend on it."""
MOST = 65_536
"""The largest number of sessions whose columns are in memory."""
NUMBERS = {kind: number for number, kind in enumerate(Kind)}

Seen = Sequence[Sequence[Observation]]
Named = Callable[[Iterable[str]], Mapping[str, Metric]]
"""A function that worker processes call to get metrics by name."""
_PartOfAll = tuple[dict[str, "_Part"], "Sums"]


class Facts(NamedTuple):
    """The facts of a session that filters and counts need. Many sessions have the same facts."""

    passes: tuple[bool | None, ...]
    """Whether the session passes each filter; None if that depends on an unknown property."""
    status: Status
    kind: Kind
    stratum: Key
    band: str | None
    """The session's band; None if it was not asked."""


class _Part(msgspec.Struct, kw_only=True):
    """The sums of one filter. Unlike a `Tally`, a `_Part` can be pickled, since it holds no functions."""

    files: list[str] = msgspec.field(default_factory=list)
    clusters: list[str] = msgspec.field(default_factory=list)
    kinds: set[Kind] = msgspec.field(default_factory=set)
    statuses: Counter[Status] = msgspec.field(default_factory=Counter)
    evaluated: list[int] = msgspec.field(default_factory=list)
    bands: Counter[str] = msgspec.field(default_factory=Counter)
    undecided: int = 0
    collected: list[Collected] = msgspec.field(default_factory=list)
    wavering: dict[Kind | None, list[Wavering]] = msgspec.field(default_factory=dict)
    """The differences between rounds for each kind of token, and for all kinds (None); one element per metric."""


class Tally:
    def __init__(
        self,
        task: Task,
        metrics: Sequence[Metric],
        part: ReportFilter,
        rounds: int,
        strata: Mapping[Key, Stratum],
        repeats: Repeats,
    ) -> None:
        """`strata`: the strata of the filter's sessions if they were asked in unequal shares, else empty."""
        self._sums = _Part()
        self._task, self._metrics, self._part, self._rounds = task, metrics, part, rounds
        self._observations: list[Observations] = []
        stored: dict[tuple[Observe, str], Observations] = {}
        for metric in metrics:
            alike = metric.observe, metric.statistic
            seen = Observations(metric, [*strata.values()], stored.get(alike))
            self._observations.append(seen)
            if not seen.is_summed:
                stored.setdefault(alike, seen)
        self._strata = {key: (number, stratum.weight) for number, (key, stratum) in enumerate(strata.items(), 1)}
        self._weighted, self._repeats = bool(strata), repeats

    def begin(self, path: str, cluster: str) -> None:
        self._sums.files.append(path)
        self._sums.clusters.append(cluster)
        self._sums.evaluated.append(0)

    def add(self, columns: Columns, facts: Sequence[Facts], at: int) -> None:
        """Count the sessions that pass this filter, the one at index `at` of all filters. A place in `columns` is
        file << 32 | index in `facts`."""
        sums, numbers = self._sums, columns.places & (1 << 32) - 1
        passing = np.array([bool(of.passes[at]) for of in facts])[numbers]
        for of, count in zip(facts, np.bincount(numbers, minlength=len(facts)).tolist(), strict=True):
            sums.undecided += 0 if of.passes[at] is not None else count
            if of.passes[at]:
                sums.statuses[of.status] += count
                sums.kinds.add(of.kind)
        own = np.flatnonzero(passing)
        numbers, files = numbers[own], columns.places[own] >> 32
        # Number 0 stands for sessions without a weight, such as sessions that were not asked.
        strata = [self._strata.get(of.stratum, (0, 1.0)) for of in facts]
        located = [pack_location(0, NUMBERS[of.kind], number) for of, (number, _) in zip(facts, strata, strict=True)]
        columns.pass_on(self._observations, own, files << 32 | np.array(located)[numbers])
        asked = np.array([of.band is not None for of in facts])[numbers]
        for file, count in enumerate(np.bincount(files[asked], minlength=len(sums.files)).tolist()):
            sums.evaluated[file] += count
        bands = {name: number for number, name in enumerate(dict.fromkeys(of.band for of in facts))}
        weights = np.array([weight for _, weight in strata])[numbers]
        stand_for = np.bincount(np.array([bands[of.band] for of in facts])[numbers], weights, len(bands))
        # The type stubs of Counter allow integers only.
        sums.bands.update({name: stand_for[number] for name, number in bands.items() if name is not None})

    def waver(self, facts: Facts, moved: Sequence[Seen]) -> None:
        """Count what differs between the rounds of a session of the last file. `moved`: its observations by round."""
        _, stands_for = self._strata.get(facts.stratum, (0, 1.0))
        for number in range(len(self._metrics)):
            rounds = np.array([np.sum(seen[number] or [(0.0, 0.0)], axis=0) for seen in moved])[:, None, :]
            for of_kind in (None, facts.kind):
                self._wavering(of_kind)[number].add(rounds * stands_for, len(self._sums.files) - 1)

    def _wavering(self, kind: Kind | None) -> list[Wavering]:
        return self._sums.wavering.setdefault(kind, [Wavering(self._rounds) for _ in self._metrics])

    def part(self) -> _Part:
        return replace(self._sums, collected=[observations.collected() for observations in self._observations])

    def add_part(self, part: _Part) -> None:
        sums, before = self._sums, len(self._sums.files)
        for mine, theirs in zip(self._observations, part.collected, strict=True):
            mine.merge_observations(theirs, before)
        for kind, waverings in part.wavering.items():
            for moved, added in zip(self._wavering(kind), waverings, strict=True):
                moved.add_all(added, before)
        sums.files += part.files
        sums.clusters += part.clusters
        sums.kinds |= part.kinds
        sums.statuses += part.statuses
        sums.evaluated += part.evaluated
        sums.bands.update(part.bands)
        sums.undecided += part.undecided

    def _estimates(self, asked: float, again: SecondQuestions, kind: Kind | None = None) -> dict[str, Estimate]:
        numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(self._sums.clusters))}
        clusters = [numbers[cluster] for cluster in self._sums.clusters]
        number = None if kind is None else NUMBERS[kind]
        return {
            seen.metric.info.name: estimate(
                seen, asked, moved, kind=number, clusters=clusters, repeats=self._repeats, again=again
            )
            for seen, moved in zip(self._observations, self._wavering(kind), strict=True)
        }

    @property
    def sessions(self) -> int:
        return sum(self._sums.evaluated)

    def _group_figures(self, groups: Mapping[str, Sequence[int]]) -> dict[str, FileFigures]:
        """Return the figures of groups of files. `groups`: name → indices of files."""
        names = [metric.info.name for metric in self._metrics]
        columns = [seen.list_figures([*groups.values()]) for seen in self._observations]
        return {
            group: FileFigures(
                sessions=sum(self._sums.evaluated[file] for file in files),
                metrics={name: column[number] for name, column in zip(names, columns, strict=True)},
            )
            for number, (group, files) in enumerate(groups.items())
        }

    def figures(self, asked: float, again: SecondQuestions) -> FilterFigures:
        sums, is_detailed = self._sums, self._part.detailed
        files = self._group_figures({path: [file] for file, path in enumerate(sums.files)})
        by_file: dict[str, float | None] = {}
        for metric in self._metrics:
            # There is no mean over files for a weighted sample, which may have no session of some files.
            if metric.statistic == "ratio" and not self._weighted:
                values = [of.metrics[metric.info.name] for of in files.values()]
                known = [value for value in values if value is not None]
                by_file[metric.info.name] = sum(known) / len(known) if known else None
        return FilterFigures(
            sessions=self.sessions,
            planned=sums.statuses.total(),
            undecided=sums.undecided,
            statuses={
                status.value: sums.statuses[status]
                for status in Status
                # Only language models have UNREADABLE sessions.
                if status is not Status.UNREADABLE or sums.statuses[status]
            },
            metrics=self._estimates(asked, again),
            by_file=by_file,
            files=files if is_detailed else {},
            folders=self._group_figures(index_folders(sums.files)) if is_detailed else {},
            kinds={
                kind.value: self._estimates(asked, again, kind) for kind in sorted(sums.kinds if is_detailed else ())
            },
            ranks={band.name: round(sums.bands[band.name]) for band in self._task.bands},
        )


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    rounds: Rounds
    prompts: Prompts
    cases: Cases = msgspec.field(default_factory=Cases)
    responses: ResponseCounts = msgspec.field(default_factory=ResponseCounts)
    again: SecondQuestions = msgspec.field(default_factory=SecondQuestions)

    def add_all(self, other: Sums) -> None:
        for name in self.__struct_fields__:
            getattr(self, name).add_all(getattr(other, name))


class Tallies(msgspec.Struct, frozen=True, kw_only=True):
    by_filter: dict[str, Tally]
    sums: Sums
    population: int
    """The number of sessions of this project under this strategy, asked or not."""
    asked: float
    """The smallest asked share of all strata."""
    asked_by_filter: dict[str, float]


class TallyJob(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    workspace: Workspace
    named: Named | None
    """The function by which workers get metrics. If None, this process sums all files."""
    filters: tuple[ReportFilter, ...]

    @cached_property
    def _strata(self) -> Strata:
        return self.workspace.strata()

    @cached_property
    def _asked(self) -> tuple[Counter[Key], dict[str, dict[Key, None]]]:
        """The number of asked sessions by stratum, and the strata by filter. For a single stratum, both are empty."""
        asked, touched = Counter[Key](), {part.name: dict[Key, None]() for part in self.filters}
        for _, sessions in self.workspace.sessions(SessionScore) if self._strata.is_divided else ():
            for session in filter(evaluated, sessions):
                key = self._strata.find(session)
                asked[key] += 1
                for part in self.filters:
                    if key not in touched[part.name] and part.passes(session):
                        touched[part.name][key] = None
        return asked, touched

    def all(self, observed: Sequence[Metric]) -> Tallies:
        by_filter, sums = self._empty(observed)
        for part, more in self._parts(observed):
            for name, tally in by_filter.items():
                tally.add_part(part[name])
            sums.add_all(more)
        asked, touched = self._asked
        if not self._strata.is_divided:
            asked = Counter({("", ""): by_filter[EVERYTHING].sessions})
        # If answers depend on random draws, whose number has no limit, the asked share counts as 0.
        endless = bool(self.workspace.manifest().draws)
        return Tallies(
            by_filter=by_filter,
            sums=sums,
            population=self._strata.total(asked),
            asked=0.0 if endless else self._strata.share(asked),
            asked_by_filter={
                name: 0.0 if endless else self._strata.share(asked, keys) for name, keys in touched.items()
            },
        )

    def _parts(self, observed: Sequence[Metric]) -> Iterator[_PartOfAll]:
        """Yield the sums of each AT_ONCE files in the order of the files, since the last digits depend on the order."""
        manifest = self.workspace.manifest()
        files = self.workspace.session_files()
        waiting = deque(tuple(files[begin : begin + AT_ONCE]) for begin in range(0, len(files), AT_ONCE))
        jobs = min(manifest.jobs, machine.cores())
        if jobs < 2 or manifest.finished < MANY or self.named is None:
            yield from (self._part(paths, observed) for paths in waiting)
            return
        done: dict[tuple[Path, ...], _PartOfAll] = {}
        order = deque(waiting)
        # Metrics hold functions, which cannot be pickled, so workers get the names of the metrics.
        names = tuple(metric.info.name for metric in observed)
        with Workers[tuple[Path, ...], _PartOfAll](TallyJob.part, jobs=jobs, shared=(self, names)) as workers:
            for outcome in filter(None, workers.map(waiting)):
                # A part that failed in a worker is summed again in this process, so that the error keeps its type.
                done[outcome.task] = outcome.result or self._part(outcome.task, observed)
                while order and order[0] in done:
                    yield done.pop(order.popleft())

    def part(self, names: Sequence[str], paths: Sequence[Path]) -> _PartOfAll:
        assert self.named
        metrics = self.named(names)
        return self._part(paths, [metrics[name] for name in names])

    def _empty(self, observed: Sequence[Metric]) -> tuple[dict[str, Tally], Sums]:
        manifest = self.workspace.manifest()
        rounds, repeats = manifest.rounds, Repeats.of([(manifest.is_function, manifest.rounds, manifest.state)])
        task, tallies = tasks.CATALOG.load(manifest.task), {}
        asked, touched = self._asked
        for part in self.filters:
            keys = touched[part.name]
            # `weighted` returns [] if no weights are needed; then `strata` is empty.
            strata = dict(zip(keys, self._strata.weighted(asked, keys), strict=False))
            tallies[part.name] = Tally(task, observed, part, rounds, strata, repeats)
        return tallies, Sums(rounds=Rounds(rounds), prompts=Prompts(observed))

    def _part(self, paths: Sequence[Path], observed: Sequence[Metric]) -> _PartOfAll:
        manifest = self.workspace.manifest()
        task, rounds = tasks.CATALOG.load(manifest.task), manifest.rounds
        by_filter, sums = self._empty(observed)
        tallies, known = [*by_filter.values()], dict[Facts, int]()
        collector = Collector([Observations(metric) for metric in observed])

        def add_columns() -> None:
            columns, facts = collector.take(), [*known]
            for at, tally in enumerate(tallies if facts else ()):
                tally.add(columns, facts, at)

        for number, (file, sessions) in enumerate(self.workspace.read_session_files(paths, SessionScore)):
            cluster = manifest.cluster(file.path)
            for tally in tallies:
                tally.begin(file.path, cluster)
            again: list[SessionScore] = []
            for session in sessions:
                asked, kind = evaluated(session), session.properties.kind
                again += [session] if asked and session.again else []
                if rounds > 1:
                    sums.rounds.add(session)
                if session.properties.strategy and asked:
                    sums.cases.add(file.path, cluster, session, score(task, session))
                sums.responses.add(session)
                facts = Facts(
                    passes=tuple([part.passes(session) for part in self.filters]),
                    status=session.status,
                    kind=kind,
                    stratum=self._strata.find(session),
                    band=task_band(task, session) if asked else None,
                )
                place = number << 32 | known.setdefault(facts, len(known))
                if asked and session.properties.prompt is not None:
                    seen = observe_metrics(observed, session)
                    sums.prompts.add(session, seen)
                    collector.add(place, seen)
                else:
                    collector.observe(place, session)
                # The observations of each round, if the answers differed between rounds.
                if session.otherwise and rounds > 1:
                    moved = list(zip(*(observe_rounds(metric, session, rounds) for metric in observed), strict=True))
                    for tally, passes in zip(tallies, facts.passes, strict=True):
                        if passes:
                            tally.waver(facts, moved)
                if len(collector) == MOST:
                    add_columns()
            sums.again.add(again)
        add_columns()
        return {name: tally.part() for name, tally in by_filter.items()}, sums


def index_folders(paths: Sequence[str]) -> dict[str, list[int]]:
    """Return folder → indices of the paths below it. Folders with all paths, or with just one folder, are excluded."""
    by_folder: dict[str, list[int]] = defaultdict(list)
    for number, path in enumerate(paths):
        for position, character in enumerate(path):
            if character == "/":
                by_folder[path[: position + 1]].append(number)
    # Of several folders with the same files, the innermost comes last and replaces the others.
    innermost = {
        tuple(numbers): folder for folder, numbers in sorted(by_folder.items(), key=lambda entry: len(entry[0]))
    }
    return {folder: [*numbers] for numbers, folder in innermost.items() if len(numbers) < len(paths)}
