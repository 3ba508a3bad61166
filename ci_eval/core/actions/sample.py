"""Draw a sample of the sessions of a project with very many files, and parse only the files that random darts hit.

Each character has as many slots as a token that begins there may have sessions. Darts hit every slot at the rate 1 (a
Poisson process). A dart that hits the slot of a session draws the session; other darts are ignored. So the time until a
session is drawn has the same exponential distribution for all sessions, and the first N sessions drawn are a simple
random sample without replacement. The darts at a file depend only on the seed and on the path and size of the file, not
on other files.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile

import msgspec

from ci_eval.core.actions.strategy import FIRST_TASK
from ci_eval.core.base.chance import draw
from ci_eval.core.contracts import Task
from ci_eval.core.filters import find_class
from ci_eval.core.model import Kind, Sampling, StrategyConfig

FEWEST_FILES = 10_000
"""In a project with fewer files, every file is parsed."""
POOL = 4
"""The number of sessions drawn for each session that is asked. More draws estimate the sizes of classes better."""
SMALLEST_POOL = 1_000
MOST_READ = 0.5
"""The share of the files that may be parsed for a sample; if more are needed, all files are parsed."""
MOST_DARTS = 100
"""The number of darts per session of the pool; if more are needed, all files are parsed."""


class SampleGoal(msgspec.Struct, frozen=True, kw_only=True):
    limit: int | None
    probability: float
    classes: tuple[str, ...]
    """The names of the classes of sessions, the leading class first; empty for a simple sample."""
    choose: Callable[[Sequence[float], Sequence[int]], Iterable[int]]
    """A function: draws and classes of sessions → the indices of the sessions to ask."""

    @property
    def pool(self) -> float:
        return math.inf if self.limit is None else max(POOL * self.limit, SMALLEST_POOL)

    @property
    def end(self) -> float:
        """Return the time by which each session has been drawn with the chance `probability`."""
        return -math.log1p(-self.probability) if self.probability < 1 else math.inf


class Hit(msgspec.Struct, frozen=True, order=True):
    time: float
    path: str
    slot: int
    kind: Kind
    typed: int
    """The number of letters typed at the first lookup."""


class Sample(msgspec.Struct, frozen=True):
    slots: Mapping[str, frozenset[int]]
    """Path → the slots of the sessions to ask."""
    sampling: Sampling


Dart = tuple[float, str, int]
"""A dart: its time, path and slot."""
Targets = tuple[str, Collection[int] | None]
"""A file, and the slots of sessions in the file; None = all sessions."""
Found = tuple[str, bool, Sequence[tuple[int, Kind, int]]]
"""A file, whether it was parsed, and for each session hit: slot, kind, and number of letters typed."""
Find = Callable[[Sequence[Targets]], Iterator[Found]]


def count_slots(strategy: StrategyConfig, task: Task) -> int:
    """Return the largest number of sessions that a token may have; 0 if a session may depend on other tokens."""
    if task.name != FIRST_TASK or strategy.evolution.share:
        return 0
    return len(set(strategy.prefix.lengths or ())) if strategy.prefix.name == "Ladder" else 1


def may_begin(text: str, offset: int) -> bool:
    """Return False if no token can begin there: after the end, at white space, or inside a word of ASCII letters."""
    if offset >= len(text) or text[offset].isspace():
        return False
    pair = text[offset - 1 : offset + 1] if offset else " "
    return not (pair.isascii() and all(char.isalnum() or char == "_" for char in pair))


def throw(sizes: Mapping[str, int], seed: int) -> Iterator[Dart]:
    """Yield darts without end, in order of time. `sizes`: path → number of slots."""

    def follow(after: float, path: str, number: int) -> tuple[float, str, int]:
        chance = draw(seed, f"{path}\0{number}\0time")
        return after - math.log1p(-chance) / sizes[path], path, number

    waiting = [follow(0.0, path, 0) for path, size in sizes.items() if size]
    heapq.heapify(waiting)
    while waiting:
        time, path, number = waiting[0]
        heapq.heapreplace(waiting, follow(time, path, number + 1))
        yield time, path, int(draw(seed, f"{path}\0{number}\0slot") * sizes[path])


def draw_sample(sizes: Mapping[str, int], seed: int, goal: SampleGoal, find: Find) -> Sample | None:
    """Return a sample; None if sampling saves no time, since the project has few files or too many must be parsed.
    `sizes`: path → number of slots, some of which may be after the end of the file. `find`: a function that yields the
    sessions that darts hit, file by file."""
    most = MOST_READ * len(sizes)
    expected = sum(-math.expm1(-size * goal.end) for size in sizes.values()) if goal.limit is None else goal.pool * 2
    if expected > most:
        return None
    darts = takewhile(lambda dart: dart[0] < goal.end, throw(sizes, seed))
    times, drawn, parsed, thrown = dict[tuple[str, int], float](), dict[tuple[str, int], Hit](), set[str](), 0
    while len(drawn) < goal.pool:
        # The first batch's size depends on the goal; later sizes depend on the share of darts that drew a session.
        size = 2 * goal.pool if not thrown else 1.1 * (goal.pool - len(drawn)) * thrown / max(len(drawn), 1) + 100
        targets: dict[str, set[int]] = {}
        batch = list(islice(darts, None if math.isinf(size) else int(size)))
        if not batch:
            break
        thrown += len(batch)
        for time, path, slot in batch:
            # A session is drawn by the first dart that hits it.
            if times.setdefault((path, slot), time) == time:
                targets.setdefault(path, set()).add(slot)
        for path, is_parsed, sessions in find([(path, tuple(sorted(slots))) for path, slots in targets.items()]):
            parsed |= {path} if is_parsed else set()
            for slot, kind, typed in sessions:
                drawn[path, slot] = Hit(times[path, slot], path, slot, kind, typed)
        # If few tokens pass the filters, or most files are generated, the search would take too long.
        if len(parsed) > most or (len(drawn) < goal.pool and thrown > MOST_DARTS * goal.pool):
            return None
    hits = sorted(drawn.values())
    if len(hits) >= goal.pool:
        hits = hits[: int(goal.pool)]
        # The last dart ended the sampling, so an unbiased estimate does not count it.
        estimate = (len(hits) - 1) / -math.expm1(-hits[-1].time)
    else:
        estimate = len(hits) / -math.expm1(-goal.end)
    return _choose(hits, estimate, goal, Sampling(files=len(sizes), read=len(parsed), drawn=len(hits)))


def _choose(hits: Sequence[Hit], estimate: float, goal: SampleGoal, sampling: Sampling) -> Sample:
    names = (*filter(None, goal.classes), "")
    of_hits = [find_class(goal.classes, hit.kind, hit.typed) for hit in hits]
    counts = Counter(of_hits)
    # A class has at least as many sessions as were drawn from it.
    sizes = {name: max(round(estimate * counts[name] / len(hits)), counts[name]) if hits else 0 for name in names}
    draws = [-math.expm1(-hit.time) for hit in hits]
    chosen: dict[str, set[int]] = {}
    for index in goal.choose(draws, [names.index(name) for name in of_hits]):
        chosen.setdefault(hits[index].path, set()).add(hits[index].slot)
    slots = {path: frozenset(chosen[path]) for path in sorted(chosen)}
    # If no session of the leading class was drawn, the sample is a simple one.
    classes = sizes if goal.limit is not None and goal.classes and counts[names[0]] else {}
    return Sample(slots, msgspec.structs.replace(sampling, sessions=sum(sizes.values()), classes=classes))
