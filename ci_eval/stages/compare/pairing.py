"""The same sessions on both sides, file by file, added up as the statistics need them."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ci_eval import tasks
from ci_eval.contracts import Metric, Pair, Task
from ci_eval.filters import decide
from ci_eval.model import FAILED, Change, FiltersConfig, Kind, Session, SessionScore, SourceFile
from ci_eval.observing import band, evaluated, score, shown_rank
from ci_eval.statistics.latencies import BINS, binned
from ci_eval.statistics.student import Floats
from ci_eval.statistics.wavering import Wavering, answers
from ci_eval.workspace import Workspace

SHOWN = 200
"""Regressions and improvements that are kept by name."""

ABSENT = 1_000
"""The place an absent text is taken to have where changes are ordered by size."""

LONGEST_PREFIX = 5


@dataclass(kw_only=True)
class Sums:
    """Of the sessions of one filter, or of one part, over so many figures.

    A figure is observed in a session as four numbers: numerator and denominator of base, then of new.
    """

    figures: int
    total: Floats = field(init=False)
    """(figures x 4)."""
    products: Floats = field(init=False)
    """(4 figures x 4 figures): of each two of these numbers, summed over sessions."""
    observed: Floats = field(init=False)
    """Sessions in which each figure was observed, on the side that has fewer."""
    rounds: tuple[int, int] = (1, 1)
    """How often base's sessions, and new's, were asked."""
    wavering: tuple[Wavering, Wavering] = field(init=False)
    """Of base and new."""

    def __post_init__(self) -> None:
        self.wavering = (Wavering(self.rounds[0]), Wavering(self.rounds[1]))
        self.total = np.zeros((self.figures, 4))
        self.products = np.zeros((4 * self.figures, 4 * self.figures))
        self.observed = np.zeros(self.figures)

    def add(self, seen: Floats) -> Floats:
        """Sessions of one file (sessions x figures x 4); their sum."""
        flat = seen.reshape(len(seen), 4 * self.figures)
        here: Floats = seen.sum(axis=0)
        self.total += here
        self.products += flat.T @ flat
        self.observed += np.minimum((seen[:, :, 1] != 0).sum(axis=0), (seen[:, :, 3] != 0).sum(axis=0))
        return here


@dataclass(kw_only=True)
class FilterSums(Sums):
    """Of one filter: also file by file, and how long lookups took."""

    rows: list[Floats] = field(default_factory=list)
    """Of each file with a pair: (figures x 4)."""
    latencies: Floats = field(default_factory=lambda: np.zeros((2, BINS)))
    """Of base and new."""


@dataclass(kw_only=True)
class PartSums(Sums):
    """Of the sessions that share a property, and the leading metric alone."""

    figures: int = 1
    sessions: int = 0
    wins: int = 0
    losses: int = 0
    files: int = 0


@dataclass
class Paired:
    """Everything that is known once all pairs were seen."""

    rounds: tuple[int, int]
    filters: dict[str, FilterSums]
    parts: dict[tuple[str, str], PartSums] = field(init=False)
    transitions: Counter[tuple[str, str]] = field(default_factory=Counter)
    regressions: list[tuple[float, str, Change]] = field(default_factory=list)
    improvements: list[tuple[float, str, Change]] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    """Path → pairs."""
    pairs: int = 0
    only_base: int = 0
    only_new: int = 0
    changed_text: int = 0
    failed_base: int = 0
    failed_new: int = 0
    wins: int = 0
    losses: int = 0

    def __post_init__(self) -> None:
        self.parts = defaultdict(lambda: PartSums(rounds=self.rounds))

    def gather(self, names: Sequence[str]) -> None:
        """Make one cluster of the files that have the same name in `names`, which has one per file."""
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        for sums in self.filters.values():
            whole = np.zeros((len(numbers), *sums.rows[0].shape))
            np.add.at(whole, [numbers[name] for name in names], np.stack(sums.rows))
            sums.rows = list(whole)


Weight = Callable[[SessionScore], float]
"""What a session counts: 1 or 0, or as much as people ask for its kind."""


def pair(
    base: Workspace, new: Workspace, metrics: Sequence[Metric], filters: Mapping[str, Weight], leading: int
) -> Paired:
    """Go through both workspaces at once. `leading`: the number of the metric that the parts are compared by."""
    manifest = base.manifest()
    rounds = (manifest.rounds, new.manifest().rounds)
    paired = Paired(rounds, {name: FilterSums(figures=len(metrics), rounds=rounds) for name in filters})
    for source, checksum, ours, theirs in _files(base, new):
        if source is None:
            paired.only_new += sum(map(evaluated, theirs))
            continue
        mine = {session.id: session for session in ours if evaluated(session)}
        # A file that new does not have did not change: its sessions are base's alone.
        _FilePairs(paired, tasks.CATALOG.load(manifest.task), metrics, list(filters.values()), leading, source).add(
            mine, theirs, same_text=checksum in {"", source.checksum}
        )
    names = [manifest.cluster(path) for path in paired.files]
    if paired.pairs and names != list(paired.files):
        paired.gather(names)
    return paired


def through(filters: FiltersConfig) -> Weight:
    """1 for the sessions that pass, 0 for the others."""
    if filters == FiltersConfig():
        return lambda _: 1.0
    return lambda session: float(bool(decide(session.properties, session.expected_text, filters)))


def by_kind(weights: Mapping[Kind, float]) -> Weight:
    """As much as people ask for a token of that kind; a kind that is not named is not asked for."""
    return lambda session: weights.get(session.properties.kind, 0.0)


def _files(
    base: Workspace, new: Workspace
) -> Iterator[tuple[SourceFile | None, str, Iterator[SessionScore], Iterator[SessionScore]]]:
    """Base's file, if any; the checksum of new's, empty where there is none; the sessions of both."""
    nothing: tuple[SessionScore, ...] = ()
    there = {source.path: source.checksum for source in new.sources()}
    for source, sessions in base.sessions(SessionScore):
        checksum = there.pop(source.path, "")
        yield source, checksum, sessions, new.sessions_in(source.path, SessionScore) if checksum else iter(nothing)
    for path, checksum in there.items():
        yield None, checksum, iter(nothing), new.sessions_in(path, SessionScore)


class _FilePairs:
    """Adds the pairs of one file to the sums."""

    def __init__(
        self,
        paired: Paired,
        task: Task,
        metrics: Sequence[Metric],
        weights: Sequence[Weight],
        leading: int,
        source: SourceFile,
    ) -> None:
        self._paired = paired
        self._task = task
        # Quantiles are not sums: they are made of the latencies.
        self._summed = [(number, metric) for number, metric in enumerate(metrics) if metric.statistic == "ratio"]
        self._leading = leading
        self._width = len(metrics)
        self._weights = weights
        self._source = source
        self._lines: list[int] = []
        # Of one session after the other: what it shows, counts under each filter, how long it took, what it gained.
        self._seen: list[list[float]] = []
        self._through: list[list[float]] = []
        self._latencies: list[tuple[list[float], list[float]]] = []
        self._gains: list[float] = []
        self._parts: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._moved: dict[int, list[tuple[int, Floats]]] = {}
        """Place of a session that was not always answered alike → side, and what it shows round by round."""

    def add(self, mine: dict[str, SessionScore], theirs: Iterator[SessionScore], *, same_text: bool) -> None:
        """Both sides' sessions of the file."""
        paired, pairs, alone = self._paired, 0, 0
        for theirs_one in theirs:
            if not evaluated(theirs_one):
                continue
            own = mine.pop(theirs_one.id, None)
            if own is None:
                alone += 1
            else:
                pairs += 1
                self._pair(own, theirs_one)
        if same_text:
            paired.only_new += alone
            paired.only_base += len(mine)
        else:
            paired.changed_text += alone + len(mine)
        if pairs:
            paired.pairs += pairs
            paired.files[self._source.path] = pairs
            self._add_up(np.array(self._seen).reshape(pairs, self._width, 4))

    def _add_up(self, seen: Floats) -> None:
        through = np.array(self._through)
        for number, sums in enumerate(self._paired.filters.values()):
            chosen = np.flatnonzero(through[:, number])
            sums.rows.append(sums.add(seen[chosen] * through[chosen, number][:, None, None]))
            for place in self._moved.keys() & set(chosen.tolist()):
                for side, rounds in self._moved[place]:
                    sums.wavering[side].add(rounds * through[place, number])
            for side in range(2):
                times = [time for place in chosen for time in self._latencies[place][side]]
                sums.latencies[side] += binned(np.array(times)) if times else 0
        gains = np.array(self._gains)
        for key, places in self._parts.items():
            part = self._paired.parts[key]
            part.add(seen[places, self._leading : self._leading + 1])
            for place in self._moved.keys() & set(places):
                for side, rounds in self._moved[place]:
                    part.wavering[side].add(rounds[:, self._leading : self._leading + 1])
            part.sessions += len(places)
            part.wins += int((gains[places] > 0).sum())
            part.losses += int((gains[places] < 0).sum())
            part.files += 1

    def _pair(self, base: SessionScore, new: SessionScore) -> None:
        paired = self._paired
        paired.failed_base += base.status in FAILED
        paired.failed_new += new.status in FAILED
        gain = score(self._task, new) - score(self._task, base)
        paired.wins += gain > 0
        paired.losses += gain < 0
        paired.transitions[band(self._task, base), band(self._task, new)] += 1
        if gain:
            self._remember(gain, base, new)
        place = len(self._gains)
        self._gains.append(gain)
        self._seen.append(self._observed(base, new))
        if base.otherwise or new.otherwise:
            self._moved[place] = list(self._by_round(base, new))
        self._through.append([weight(base) for weight in self._weights])
        times = ([lookup.latency for lookup in base.lookups], [lookup.latency for lookup in new.lookups])
        self._latencies.append(times)
        for key in _keys(base):
            self._parts[key].append(place)

    def _by_round(self, base: SessionScore, new: SessionScore) -> Iterator[tuple[int, Floats]]:
        for side, (session, rounds) in enumerate(zip((base, new), self._paired.rounds, strict=True)):
            if session.otherwise and rounds > 1:
                pairs = [(each, new) if side == 0 else (base, each) for each in answers(session, rounds)]
                yield side, np.array([self._observed(*each) for each in pairs]).reshape(rounds, self._width, 4)

    def _observed(self, base: SessionScore, new: SessionScore) -> list[float]:
        row = [0.0] * (4 * self._width)
        for number, metric in self._summed:
            on_base, on_new = metric.observe(base), metric.observe(new)
            if metric.found_by_both and not (on_base and on_new):
                continue
            for above, below in on_base:
                row[4 * number] += above
                row[4 * number + 1] += below
            for above, below in on_new:
                row[4 * number + 2] += above
                row[4 * number + 3] += below
        return row

    def _remember(self, gain: float, base: SessionScore, new: SessionScore) -> None:
        ranks = shown_rank(self._task, base), shown_rank(self._task, new)
        # First what a person feels most: the first place lost; then how far it fell. Ids make the order reproducible.
        size = abs(gain) + abs((ranks[0] or ABSENT) - (ranks[1] or ABSENT)) / 1e6
        kept = self._paired.improvements if gain > 0 else self._paired.regressions
        if len(kept) == SHOWN and (size, base.id) <= kept[0][:2]:
            return
        change = Change(
            id=base.id,
            file=base.file,
            offset=base.offset,
            line=self._line_of(base.offset),
            expected=base.expected_text,
            prefix=base.lookups[-1].prefix if base.lookups else "",
            kind=base.properties.kind.value,
            base_rank=ranks[0],
            new_rank=ranks[1],
            base_status=base.status.value,
            new_status=new.status.value,
        )
        (heapq.heappush if len(kept) < SHOWN else heapq.heappushpop)(kept, (size, base.id, change))

    def _line_of(self, offset: int) -> int:
        if not self._lines:
            self._lines = [place for place, each in enumerate(self._source.text) if each == "\n"] or [-1]
        return bisect_right(self._lines, offset - 1) + 1 if self._lines != [-1] else 1


_YES = {True: "yes", False: "no"}


def _keys(session: SessionScore) -> Iterator[tuple[str, str]]:
    """The parts a session belongs to; what is not known of it makes no part."""
    known = session.properties
    yield "file", session.file
    yield "kind", known.kind.value
    if known.is_static is not None:
        yield "static", _YES[known.is_static]
    if known.is_argument is not None:
        yield "argument", _YES[known.is_argument]
    if known.first_use is not None:
        yield "first use", _YES[known.first_use]
    if known.location is not None:
        yield "declared in", known.location
    if known.package:
        yield "package", known.package.split(".")[0]
    yield "prefix length", str(session.typed) if session.typed < LONGEST_PREFIX else f"{LONGEST_PREFIX} or more"


class StoredPairs:
    """The sessions of both sides with their suggestions, one file at a time."""

    def __init__(self, base: Workspace, new: Workspace) -> None:
        self._base = base
        self._new = new

    def of(self, wanted: Container[str]) -> Iterator[tuple[SourceFile, Sequence[Pair]]]:
        """See PairedSources."""
        for source, sessions in self._base.sessions(Session):
            if source.path not in wanted or not self._new.has_sessions(source.path):
                continue
            mine = {session.id: session for session in sessions if evaluated(session)}
            theirs = {each.id: each for each in self._new.sessions_in(source.path, Session) if evaluated(each)}
            # Where nothing is shared, the text is another one, and offsets mean nothing.
            if mine.keys() & theirs.keys():
                either = mine | theirs
                order = sorted(either, key=lambda each: (either[each].offset, either[each].typed, each))
                yield source, [(mine.get(each), theirs.get(each)) for each in order]
