"""Pair the sessions of two workspaces, and sum over the pairs."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from ci_eval.core.catalogs import tasks
from ci_eval.core.compare.sums import FileNumbers, FilterSums, Sums
from ci_eval.core.contracts import Metric, Task
from ci_eval.core.filters import GROUPS, ReportFilters, find_alike, find_class, standard_parts
from ci_eval.core.grammar.syntax import colour_file
from ci_eval.core.model.comparison import Change, Failures
from ci_eval.core.model.sessions import FAILED, Paint, Pair, Session, SessionScore, SourceFile, unasked_stretches
from ci_eval.core.model.tokens import pick
from ci_eval.core.scoring import answers, band, evaluated, observe_metrics, observe_rounds, score, shown_rank
from ci_eval.core.statistics.population import FILES, Key, Strata, project_from_path, select_shard_files
from ci_eval.core.statistics.repeated import SecondQuestions
from ci_eval.core.statistics.stats import Collector, Numbers, Observations
from ci_eval.core.statistics.student import Floats
from ci_eval.core.statistics.timing import bin_latencies
from ci_eval.core.workspace import Workspace, read_items

SHOWN = 200

ABSENT = 1_000
"""The rank that an absent text counts as when changes are ordered by size."""

ListedChange = tuple[float, str, str, Change]
"""A listed change: its size, session and file. Two files of a damaged workspace may have a session with the same id."""

LONGEST_PREFIX = 5
"""Longer prefixes are in the same part as prefixes of this length."""


class FailureCount(msgspec.Struct):
    rounds: int
    first: int = 0
    """The number of failures in the first round, from which the figures are computed."""
    sessions: int = 0
    always: int = 0
    alone: int = 0
    statuses: Counter[str] = msgspec.field(default_factory=Counter)
    example: str = ""

    def count(self, session: SessionScore) -> bool:
        """Count a session, and return whether the engine failed in any round."""
        if not session.otherwise and session.status not in FAILED:
            return False
        # Only rounds that differ from the first one are stored.
        statuses = [answer.status for answer in answers(session, self.rounds if session.otherwise else 1)]
        failed = [status for status in statuses if status in FAILED]
        self.first += session.status in FAILED
        if failed:
            self.sessions += 1
            self.always += len(failed) == len(statuses)
            self.statuses[failed[0].value] += 1
            self.example = self.example or session.id
        return bool(failed)

    def failures(self) -> Failures:
        return Failures(**pick(self, *Failures.__struct_fields__))


def pair(base: Workspace, new: Workspace, metrics: Sequence[Metric], filters: ReportFilters, leading: int) -> Pairing:
    """Pair the sessions of two workspaces. `leading`: the index of the metric by which parts are compared."""
    manifest = base.manifest()
    rounds = (manifest.rounds, new.manifest().rounds)
    checksums, theirs = _checksums(base), _checksums(new)
    strata = population(base, new, same_text=_are_alike(checksums, theirs))
    pairing = Pairing(tasks.CATALOG.load(manifest.task), metrics, filters, leading, rounds, strata)
    for source, of_base in base.sessions(SessionScore):
        # A file that new lacks counts as unchanged, so its sessions are counted in `only_base`.
        same_text = theirs.get(source.path, source.checksum) == source.checksum
        of_new = new.decode_sessions(source.path, SessionScore) if source.path in theirs else iter(())
        pairing.add(source, of_base, of_new, same_text=same_text)
    for path in theirs.keys() - checksums.keys():
        pairing.only_new += sum(map(evaluated, new.decode_sessions(path, SessionScore)))
    # Sessions have weights if strata were asked in unequal shares.
    if strata.is_divided:
        weighted = [of.weigh(strata, pairing.asked) for of in (*pairing.filters.values(), *pairing.parts.values())]
        pairing.weighted = any(weighted)
    # Files with equal texts, such as vendored copies, form one cluster.
    names = [checksums[path] if manifest.clusters == FILES else manifest.cluster(path) for path in pairing.files]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    for sums in pairing.filters.values():
        sums.clusters = [numbers[name] for name in names]
    return pairing


def _checksums(side: Workspace) -> dict[str, str]:
    return {source.path: source.checksum for source in side.sources()}


def _are_alike(ours: Mapping[str, str], theirs: Mapping[str, str]) -> bool:
    """Return whether the files that both sides have are the same."""
    return all(theirs.get(path, checksum) == checksum for path, checksum in ours.items())


class _Facts(NamedTuple):
    """The facts that decide in which sums a pair counts. Many pairs of a file have the same facts."""

    passes: tuple[bool | None, ...]
    """Whether the session passes each filter, in the order of the filters; None if that is not known."""
    stratum: Key
    parts: tuple[tuple[str, str], ...]


class Pairing:
    def __init__(
        self,
        task: Task,
        metrics: Sequence[Metric],
        filters: ReportFilters,
        leading: int,
        rounds: tuple[int, int],
        strata: Strata,
    ) -> None:
        self._task, self._filters, self._headline = task, filters.all, filters.leading
        # Quantiles are computed from latencies, not from sums.
        self._places = [number for number, metric in enumerate(metrics) if metric.statistic == "ratio"]
        self._metrics = [metrics[number] for number in self._places]
        self._collector = Collector([Observations(metric) for metric in self._metrics])
        self._width, self._leading, self._metric = len(metrics), leading, metrics[leading]
        self._alike = find_alike(filters.all)
        self._divided = standard_parts(filters.headline)
        self.rounds = rounds
        self.strata = strata
        self.filters = {report_filter.name: FilterSums(len(metrics), rounds) for report_filter in filters.all}
        self.asked: Counter[Key] = Counter()
        self.parts: dict[tuple[str, str], Sums] = defaultdict(lambda: Sums(1, rounds))
        self.divided: Counter[str] = Counter()
        """The number of pairs that are in a part of a dimension, by dimension, such as "kind"."""
        self.transitions: Counter[tuple[str, str]] = Counter()
        self.regressions: list[ListedChange] = []
        self.improvements: list[ListedChange] = []
        self.files: list[str] = []
        """The paths of the files that have a pair."""
        self.weighted = False
        """True if sessions have different weights."""
        self.again = SecondQuestions()
        self.pairs = self.only_base = self.only_new = self.changed_text = 0
        self.failed = (FailureCount(rounds[0]), FailureCount(rounds[1]))

    def add(
        self, source: SourceFile, of_base: Iterator[SessionScore], of_new: Iterator[SessionScore], *, same_text: bool
    ) -> None:
        """Add the sessions of one file. `same_text`: False if the file's text differs between the sides."""
        alone_in_base = {session.id: session for session in filter(evaluated, of_base)}
        again: list[SessionScore] = []
        alone_in_new, pairs = 0, list[tuple[SessionScore, SessionScore]]()
        for new in filter(evaluated, of_new):
            again += [new] if new.again else []
            base = alone_in_base.pop(new.id, None)
            if base is None:
                alone_in_new += 1
            else:
                pairs.append((base, new))
                self._collector.observe(0, base)
                self._collector.observe(0, new)
        self.again.add(again)
        if same_text:
            self.only_new, self.only_base = self.only_new + alone_in_new, self.only_base + len(alone_in_base)
        else:
            self.changed_text += alone_in_new + len(alone_in_base)
        if not pairs:
            return
        self.pairs += len(pairs)
        self.files.append(source.path)
        gains = np.array([self._count_pair(source, base, new) for base, new in pairs])
        numbers = self._numbers()
        # The gain is the difference of the leading metric or, if that metric is not a ratio, of the scores.
        if self._metric.statistic == "ratio":
            above_base, below_base, above_new, below_new = numbers[:, self._leading].T
            known = (below_base != 0) & (below_new != 0)
            gains = above_new / np.where(known, below_new, 1) - above_base / np.where(known, below_base, 1)
            gains = np.where(known, -gains if self._metric.info.better == "lower" else gains, 0.0)
        indices = self._by_facts([base for base, _ in pairs])
        moved = [
            (index, side, self._by_round(pair, side))
            for index, pair in enumerate(pairs)
            for side in range(2)
            if pair[side].otherwise and self.rounds[side] > 1
        ]
        strata = [("", "")] * len(pairs)
        for facts, own in indices.items():
            self.asked[facts.stratum] += len(own)
            for index in own:
                strata[index] = facts.stratum
        # A reused session has the latencies of an earlier run, so they are not counted.
        waits = [
            [() if of.reused else [lookup.latency for lookup in of.lookups] for of in side]
            for side in zip(*pairs, strict=True)
        ]
        times = [(np.repeat(np.arange(len(pairs)), [*map(len, side)]), np.array([*chain(*side)])) for side in waits]
        whole = FileNumbers(numbers)
        for number, sums in enumerate(self.filters.values()):
            passes = np.zeros(len(pairs), dtype=bool)
            for facts, own in indices.items():
                passes[own] = bool(facts.passes[number])
            chosen = np.flatnonzero(passes)
            self._add_to(sums, chosen, whole, gains, strata, moved, slice(None))
            for side, (owners, latencies) in enumerate(times):
                own_times = latencies[passes[owners]]
                sums.latencies[side] += bin_latencies(own_times) if len(own_times) else 0
        leading = slice(self._leading, self._leading + 1)
        of_leading, members = FileNumbers(numbers[:, leading]), defaultdict[tuple[str, str], list[int]](list)
        for facts, own in indices.items():
            for key in facts.parts:
                members[key] += own
                self.divided[key[0]] += len(own)
        for key, part in members.items():
            self._add_to(self.parts[key], np.array(sorted(part)), of_leading, gains, strata, moved, leading)

    def _add_to(
        self,
        sums: Sums,
        own: Numbers,
        numbers: FileNumbers,
        gains: Floats,
        strata: Sequence[Key],
        moved: Sequence[tuple[int, int, Floats]],
        figures: slice,
    ) -> None:
        sums.rows.append(sums.add_sums(numbers.sum_over(own)))
        by_stratum: dict[Key, list[int]] = defaultdict(list)
        for index in own.tolist() if self.strata.is_divided else ():
            by_stratum[strata[index]].append(index)
        for key, same in by_stratum.items():
            sums.add_to_stratum(key, numbers.sum_over(np.array(same)))
        within = set(own.tolist()) if moved else ()
        for index, side, rounds in moved:
            if index in within:
                for of in (sums, sums.by_stratum[strata[index]]) if by_stratum else (sums,):
                    of.wavering[side].add(rounds[:, figures], len(self.files))
        sums.sessions += len(own)
        sums.wins += int(np.count_nonzero(gains[own] > 0))
        sums.losses += int(np.count_nonzero(gains[own] < 0))

    def _count_pair(self, source: SourceFile, base: SessionScore, new: SessionScore) -> float:
        """Return the gain of the score."""
        gain = score(self._task, new) - score(self._task, base)
        leads = bool(self._headline.passes(base))
        ours, theirs = self.failed
        base_failed, new_failed = ours.count(base), theirs.count(new)
        ours.alone += base_failed and not new_failed
        theirs.alone += new_failed and not base_failed
        if leads:
            self.transitions[band(self._task, base), band(self._task, new)] += 1
        if gain:
            self._remember_change(gain, source, base, new, leads=leads)
        return gain

    def _by_facts(self, sessions: Sequence[SessionScore]) -> dict[_Facts, list[int]]:
        """Return the indices of a file's sessions by their facts."""
        alike: dict[Hashable, list[int]] = defaultdict(list)
        for index, session in enumerate(sessions):
            alike[self._alike(session)].append(index)
        indices: dict[_Facts, list[int]] = defaultdict(list)
        for same in alike.values():
            indices[self._facts(sessions[same[0]])] += same
        return indices

    def _facts(self, base: SessionScore) -> _Facts:
        counts, leads = dict[str, bool](), bool(self._headline.passes(base))
        # Parts divide the headline's pairs. If the headline is one kind or one prefix length, the parts of that
        # dimension also include other pairs; otherwise the dimension would have a single part.
        if self._divided:
            group, typed = self._divided
            counts["kind"] = typed in {None, base.typed}
            counts["prefix length"] = group is None or base.properties.kind in GROUPS[group]
        return _Facts(
            passes=tuple([report_filter.passes(base) for report_filter in self._filters]),
            stratum=self.strata.find(base),
            parts=tuple([(name, value) for name, value in _session_parts(base) if counts.get(name, leads)]),
        )

    def _by_round(self, pair: Sequence[SessionScore], side: int) -> Floats:
        """Return the numbers of a pair in each round of a side, while the other side stays at its first round."""
        other = observe_metrics(self._metrics, pair[1 - side])
        by_metric = [observe_rounds(metric, pair[side], self.rounds[side]) for metric in self._metrics]
        for seen in zip(*by_metric, strict=True):
            for observed in (other, seen) if side else (seen, other):
                self._collector.add(0, observed)
        return self._numbers()

    def _numbers(self) -> Floats:
        """Return numerator and denominator of base, then of new, for each metric of the collected pairs (pairs x
        metrics x 4)."""
        sums, counts = self._collector.take().sum_up()
        sides = sums.reshape(-1, 2, len(self._metrics), 2)
        known = (counts > 0).reshape(-1, 2, len(self._metrics)).all(axis=1)
        # Both sides must have a value: else an engine that misses hard sessions looks better (docs/statistics.md).
        known |= ~np.array([metric.found_by_both for metric in self._metrics], dtype=bool)
        numbers = np.zeros((len(sides), self._width, 4))
        numbers[:, self._places] = np.moveaxis(sides, 1, 2).reshape(len(sides), -1, 4) * known[:, :, None]
        return numbers

    def _remember_change(
        self, gain: float, source: SourceFile, base: SessionScore, new: SessionScore, *, leads: bool
    ) -> None:
        ranks = shown_rank(self._task, base), shown_rank(self._task, new)
        # Order by: in the headline or not, then the change of the score, then the change of the rank.
        size = 2 * leads + abs(gain) + abs((ranks[0] or ABSENT) - (ranks[1] or ABSENT)) / 1e6
        largest = self.improvements if gain > 0 else self.regressions
        # The first change of the heap is the smallest.
        if len(largest) == SHOWN and (size, base.id) <= largest[0][:2]:
            return
        change = Change(
            id=base.id,
            file=base.file,
            offset=base.offset,
            line=source.text.count("\n", 0, base.offset) + 1,
            expected=base.expected_text,
            prefix=base.lookups[base.until - 1].prefix if base.lookups else "",
            kind=base.properties.kind.value,
            base_rank=ranks[0],
            new_rank=ranks[1],
            base_score=round(score(self._task, base), 6),
            new_score=round(score(self._task, new), 6),
            base_status=base.status.value,
            new_status=new.status.value,
        )
        (heapq.heappush if len(largest) < SHOWN else heapq.heappushpop)(largest, (size, base.id, base.file, change))


def _session_parts(session: SessionScore) -> Iterator[tuple[str, str]]:
    """Yield (dimension, value) of each part that the session belongs to. An unknown property yields nothing."""
    known = session.properties
    yield "file", session.file
    yield "kind", known.kind.value
    flags = {"static": known.is_static, "argument": known.is_argument, "first use": known.first_use}
    yield from ((name, "yes" if flag else "no") for name, flag in flags.items() if flag is not None)
    if known.location is not None:
        yield "declared in", known.location
    if known.language:
        yield "language", known.language
    if known.strategy:
        yield "strategy", known.strategy
        yield "scenario", known.scenario or ""
        yield "context", known.evolution or ""
        yield "type", known.package or ""
    elif known.package:
        yield "package", known.package.split(".")[0]
    yield "prefix length", str(session.typed) if session.typed < LONGEST_PREFIX else f"{LONGEST_PREFIX} or more"


class StoredPairs:
    def __init__(self, base: Workspace, new: Workspace, filters: ReportFilters, grammars: Mapping[str, str]) -> None:
        """`grammars`: file ending → grammar that colours the source."""
        self.filters = filters
        self._base = base
        self._new = new
        self._grammars = grammars

    @property
    def evaluations(self) -> tuple[Path, Path]:
        return self._base.folder, self._new.folder

    def strata(self) -> Strata:
        same_text = _are_alike(_checksums(self._base), _checksums(self._new))
        return population(self._base, self._new, same_text=same_text)

    def paint(self, source: SourceFile, asked: Container[int]) -> Paint:
        sample = next((workspace for workspace in (self._base, self._new) if workspace.manifest().is_sample), None)
        return Paint(
            colour_file(source.path, source.text, self._grammars),
            unasked_stretches(sample.find_extents(source.path), asked) if sample else (),
        )

    def of(self, paths: Container[str] | None) -> Iterator[tuple[SourceFile, Sequence[Pair]]]:
        for source, sessions in self._base.sessions(Session):
            if (paths is not None and source.path not in paths) or not self._new.has_sessions(source.path):
                continue
            mine, theirs = (
                {session.id: session for session in filter(evaluated, of_side)}
                for of_side in (sessions, self._new.decode_sessions(source.path, Session))
            )
            # If no session is on both sides, the file's text differs in new, and base's offsets do not apply.
            if mine.keys() & theirs.keys():
                order = sorted(
                    (mine | theirs).values(), key=lambda session: (session.offset, session.typed, session.id)
                )
                yield source, [(mine.get(session.id), theirs.get(session.id)) for session in order]


def population(base: Workspace, new: Workspace, *, same_text: bool) -> Strata:
    """Count the sessions of each stratum that both sides have, asked or not. `same_text`: False if texts may differ."""
    ours, theirs = base.manifest(), new.manifest()
    # The classes of either side apply: with the same seed, a sample without classes has the lowest draws of each class.
    divided = ours if ours.strata else theirs
    merged, unread = bool(ours.projects), max(ours.unparsable, theirs.unparsable)
    if ours.sampling or theirs.sampling:
        # The actions of a side with `sampling` hold only the sessions that were drawn.
        sampled = [side for side in (base, new) if side.manifest().sampling]
        return min(
            (side.strata() for side in sampled),
            key=lambda strata: (not strata.is_divided, sum(strata.sessions.values())),
        )
    if not merged and ours.shard is None is theirs.shard and same_text and ours.generated == theirs.generated:
        # The manifests have the numbers, so no actions need to be read.
        counts = divided.strata.get("", {"": ours.generated})
        return Strata({("", name): sessions for name, sessions in counts.items()}, merged, unread)
    classes = {project: tuple(of) for project, of in divided.strata.items()}
    sessions = Counter({(project, name): 0 for project, names in classes.items() for name in names})
    of_base, of_new = _count_sessions(base), _count_sessions(new)
    for path, (checksum, count) in of_base.items():
        checksum_of_new, count_of_new = of_new.get(path, ("", 0))
        if checksum_of_new != checksum:
            continue
        # A shard may have only a part of a file's sessions.
        count, project = min(count, count_of_new), project_from_path(path, merged=merged)
        if project in classes:
            items = list(read_items(base.actions_path(path)))
            known = ((item.properties.kind, len(item.prefix)) for item in items if item.properties)
            own = Counter(find_class(classes[project], kind, typed) for kind, typed in known)
            sessions.update({(project, name): round(of * count / len(items)) for name, of in own.items()})
        else:
            sessions[project, ""] += count
    return Strata(sessions, merged, unread)


def explain_classes(*sides: Workspace) -> str:
    """Return why differences are not judged, if the runs drew their samples from different classes; else ""."""
    classes = [{project: [*of] for project, of in side.manifest().strata.items()} for side in sides]
    known = [of for of in classes if of]
    if all(of == known[0] for of in known):
        return ""
    return (
        "the runs drew their samples from different classes of sessions, since their reports.headline differed: "
        "evaluate one run again with the headline of the other"
    )


def _count_sessions(workspace: Workspace) -> dict[str, tuple[str, int]]:
    """Return path → checksum and number of sessions in the workspace's shard. Files outside the shard are excluded."""
    heads = [*workspace.heads().values()]
    own = select_shard_files({head.path: head.sessions for head in heads}, workspace.manifest().shard)
    return {head.path: (head.checksum, own[head.path]) for head in heads if head.path in own}
