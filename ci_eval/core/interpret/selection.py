"""The possible sessions, the order in which a limit chooses them, and the joining of several phases."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ci_eval.core.base.chance import draw
from ci_eval.core.base.shards import Shard, deal
from ci_eval.core.filters import find_class
from ci_eval.core.interpret.assignments import Assignment, Setup
from ci_eval.core.interpret.pack import Pack
from ci_eval.core.model import Kind, Session
from ci_eval.core.workspace import Workspace, read_items

Chosen = Mapping[Path, tuple[str, frozenset[str]]]
LEADING_SHARE = 2 / 3
"""The share of a limited sample that goes to the leading class, from which the report's headline is computed."""
FEWEST_OF_CLASS = 2
"""The number of sessions that each class gets before others get more: a variance needs two."""
EVERY_DRAW = 1.0
"""A limit above every draw, so that all sessions are chosen."""
TWICE = 0.1
FEWEST_TWICE = 60
"""The minimum number of sessions asked twice. If no answers differ, at most 3/60 = 5 % of all do (rule of three)."""


class Share(NamedTuple):
    """The part of the possible sessions that is asked."""

    probability: float = 1.0
    limit: int | None = None
    shard: Shard | None = None


WHOLE = Share()


class SessionTable(msgspec.Struct, frozen=True):
    """All sessions, stored as columns, since a project of 100,000 files has millions of sessions."""

    files: Sequence[tuple[Path, str]]
    ends: NDArray[np.int64]
    """The number of sessions up to the end of each file."""
    draws: NDArray[np.float64]
    classes: NDArray[np.int8]
    """The index of each session's class, see `filters.sampling_classes`; 0 is the leading class."""

    def order(self, probability: float = 1.0, limit: int | None = None) -> NDArray[np.intp]:
        """Return the indices of the sessions in the order in which a limit chooses them. A lower limit gives the
        beginning of the sample of a higher limit.

        Within each class, the order is random. The leading class gets LEADING_SHARE of the first N sessions, for any N.
        The rest is divided among the other classes in proportion to the square roots of their sizes, which serves both
        the figures of each class and those of all sessions (Bankier 1988). If a class runs out of sessions, the others
        get its share. `probability`: the share of sessions that may be chosen. `limit`: how many indices to return.
        """
        by_class = [np.flatnonzero(self.classes == number) for number in range(self.classes.max(initial=0) + 1)]
        if limit is not None:
            by_class = [
                own[np.argpartition(self.draws[own], limit)[:limit]] if limit < len(own) else own for own in by_class
            ]
        kept = np.sort(np.concatenate(by_class))
        by_draw = kept[np.argsort(self.draws[kept], kind="stable")]
        by_draw = by_draw[: np.searchsorted(self.draws[by_draw], probability)]
        roots = np.sqrt(np.bincount(self.classes))
        shares = (1 - LEADING_SHARE) * roots / max(roots[1:].sum(), 1.0)
        shares[:1] = LEADING_SHARE
        places, drawn = np.zeros(len(by_draw)), self.classes[by_draw]
        for number, share in enumerate(shares):
            own = np.flatnonzero(drawn == number)[FEWEST_OF_CLASS:]
            places[own] = (np.arange(len(own)) + FEWEST_OF_CLASS + 0.5) / share
        # The sort is stable, so sessions of equal place keep their random order.
        return by_draw[np.argsort(places, kind="stable")][:limit]

    def choose(self, indices: NDArray[np.intp]) -> Chosen:
        chosen: dict[Path, tuple[str, frozenset[str]]] = {}
        numbers = np.searchsorted(self.ends, indices, side="right")
        for number in np.unique(numbers).tolist():
            file, path = self.files[number]
            begin = int(self.ends[number - 1]) if number else 0
            places = set((indices[numbers == number] - begin).tolist())
            # Ids are read again, since the ids of all sessions would take too much memory.
            items = (item for place, item in enumerate(read_items(file)) if place in places)
            chosen[file] = (path, frozenset(item.session for item in items))
        return dict(sorted(chosen.items()))


def list_sessions(workspace: Workspace, classes: tuple[str, ...], seed: int) -> SessionTable:
    """Return all possible sessions. `classes`: the names of the classes of sessions, the leading one first."""
    return _list(workspace.folder, tuple(filter(None, classes)), seed, workspace.actions_stamp())


@lru_cache(maxsize=1)
def _list(folder: Path, classes: tuple[str, ...], seed: int, _stamp: int) -> SessionTable:
    files, ends = list[tuple[Path, str]](), list[int]()
    draws, own, known = array("d"), array("b"), dict[tuple[Kind, int], int]()
    numbers = {name: number for number, name in enumerate((*classes, ""))}
    for file, head in Workspace(folder).heads().items():
        files.append((file, head.path))
        for item in read_items(file):
            draws.append(draw(seed, item.session))
            key = (item.properties.kind, len(item.prefix)) if item.properties else None
            if key is not None and key not in known:
                known[key] = numbers[find_class(classes, *key)]
            own.append(known[key] if key is not None else numbers[""])
        ends.append(len(draws))
    return SessionTable(files, np.array(ends, np.int64), np.frombuffer(draws), np.frombuffer(own, np.int8))


def join_phases(phases: Sequence[Workspace], into: Workspace) -> int:
    """Write the sessions of all phases to one workspace, sorted by offset, and return the number of source files."""
    paths = sorted({source.path for phase in phases for source in phase.sources()})
    for path in paths:
        holders = [phase for phase in phases if phase.has_sessions(path)]
        sessions = [session for phase in holders for session in phase.decode_sessions(path, Session)]
        pack = Pack(holders[0].source(path))
        for session in sorted(sessions, key=lambda session: (session.offset, session.typed)):
            pack.add(session)
        # An interrupted run may have stored an error for that file.
        into.drop_error(path)
        if pack.trouble:
            into.write_error(pack.trouble)
        into.write_sessions(path, pack.close())
    return len(paths)


def plan(workspace: Workspace, setup: Setup, share: Share) -> Iterator[Assignment]:
    """Yield an assignment for each file with a chosen session. The choice does not depend on the number of shards."""
    probability, limit, shard = share
    own = _own_files(workspace, shard)
    if limit is not None and limit < sum(head.sessions for head in workspace.heads().values()):
        # To apply a limit, the draws of all files are needed, including those of other shards.
        table = list_sessions(workspace, workspace.manifest().classes, setup.settings.seed)
        for file, (path, ids) in table.choose(table.order(probability, limit)).items():
            # Without shards, all chosen ids count, so the file need not be read again.
            if file in own and (mine := ids & _among(file, own[file][1]) if shard else ids):
                yield from plan_chosen({file: (path, mine)}, setup)
        return
    for file, (path, places) in own.items():
        draws = [draw(setup.settings.seed, asked.session) for asked in read_items(file)]
        if sessions := sum(1 for number in draws[places.start : places.stop] if number < probability):
            among = _among(file, places) if len(places) < len(draws) else None
            yield Assignment(setup=setup, actions=file, path=path, sessions=sessions, below=probability, among=among)


def count_classes(workspace: Workspace, classes: tuple[str, ...], seed: int, shard: Shard | None) -> dict[str, int]:
    """Return class → number of sessions in the shard; {} if the leading class has no session in any shard."""
    names = tuple(dict.fromkeys((*classes, "")))
    counts, own = np.zeros(len(names), int), _own_files(workspace, shard)
    table = list_sessions(workspace, classes, seed)
    if 0 not in table.classes:
        return {}
    for (file, _), of_file in zip(table.files, np.split(table.classes, table.ends[:-1]), strict=True):
        if file in own:
            places = own[file][1]
            counts += np.bincount(of_file[places.start : places.stop], minlength=len(names))
    return dict(zip(names, counts.tolist(), strict=True))


def plan_chosen(chosen: Chosen, setup: Setup) -> Iterator[Assignment]:
    for file, (path, sessions) in chosen.items():
        yield Assignment(setup=setup, actions=file, path=path, sessions=len(sessions), below=EVERY_DRAW, among=sessions)


def share_twice(sessions: float) -> float:
    return min(max(TWICE, FEWEST_TWICE / max(sessions, 1)), 1.0)


def _own_files(workspace: Workspace, shard: Shard | None) -> dict[Path, tuple[str, range]]:
    """Return file of actions → source file, and the indices of the sessions in the file that belong to the shard."""
    heads = workspace.heads()
    dealt = deal({head.path: head.sessions for head in heads.values()}, shard.of if shard else 1)
    index = shard.index if shard else 1
    return {file: (head.path, dealt[head.path][index]) for file, head in heads.items() if index in dealt[head.path]}


def _among(file: Path, places: range) -> frozenset[str]:
    return frozenset(asked.session for asked in islice(read_items(file), places.start, places.stop))


def plan_repeats(
    workspace: Workspace, setup: Setup, share: Share, rounds: int, chosen: Chosen | None
) -> list[Assignment]:
    """Return the assignments of one engine. Each says how many of its sessions are asked twice."""
    if chosen is None:
        planned = plan(workspace, setup, share)
        size = share.probability * sum(head.sessions for head in workspace.heads().values())
        size = size if share.limit is None else min(size, share.limit)
    else:
        planned, size = plan_chosen(chosen, setup), sum(len(sessions) for _, sessions in chosen.values())
    # Several rounds already ask everything again, with a fresh process.
    twice = 0.0 if rounds > 1 or setup.is_paid else share_twice(size)
    return [
        # Random rounding gives each session the same chance, even if its file has few sessions.
        replace(
            assignment, twice=int(assignment.sessions * twice + draw(setup.settings.seed, f"{assignment.path} twice"))
        )
        for assignment in planned
    ]
