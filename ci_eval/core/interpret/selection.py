"""The sessions that could be asked, the order in which a limit chooses them, and the joining of those that were asked
in several phases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.chance import draw
from ci_eval.core.base.shards import Shard, deal
from ci_eval.core.filters import find_class
from ci_eval.core.interpret.assignments import Assignment, Setup
from ci_eval.core.interpret.pack import Pack
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace, read_head, read_items

Chosen = Mapping[Path, tuple[str, frozenset[str]]]
"""File of actions → its source file, and the ids of its sessions."""
LEADING_SHARE = 2 / 3
"""The headline's share of a limited sample."""
FEWEST_OF_CLASS = 2
"""Sessions that each class begins with: a variance takes two."""
EVERY_DRAW = 1.0
"""The limit that every draw is below."""
TWICE = 0.1
"""The share of sessions asked a second time."""
FEWEST_TWICE = 60
"""Sessions that are asked twice in a small run: if all are answered alike, at most 3/60 = 5 % are not (rule of three).
"""


class Listed(msgspec.Struct, frozen=True):
    ids: Sequence[str]
    files: Sequence[tuple[Path, str]]
    """One of each session: file of actions and source file."""
    classes: Sequence[str]
    """One of each session, see `filters.sampling_classes`."""
    leading: str

    def order(self, seed: int, probability: float = 1.0) -> list[int]:
        """Return the indices of the sessions in the order in which a limit chooses them, so that a lower limit chooses
        the first of those of a higher one.

        Within each class the order is random. The leading class gets LEADING_SHARE of any number of sessions, each
        other one in proportion to the square root of its size: enough for its own figures, and for those of all
        sessions (Bankier 1988). A class that has no more sessions leaves its share to the others. `probability`: the
        share of the sessions that may be chosen at all.
        """
        drawn = sorted((draw(seed, session_id), session_id, index) for index, session_id in enumerate(self.ids))
        sizes = Counter(self.classes)
        roots = {name: sqrt(size) for name, size in sizes.items() if name != self.leading}
        shares = {name: (1 - LEADING_SHARE) * root / sum(roots.values()) for name, root in roots.items()}
        shares[self.leading] = LEADING_SHARE
        before: Counter[str] = Counter()
        places: list[tuple[float, int]] = []
        for value, _, index in drawn:
            if value >= probability:
                break
            name = self.classes[index]
            places.append(((before[name] + 0.5) / shares[name] if before[name] >= FEWEST_OF_CLASS else 0.0, index))
            before[name] += 1
        # Sorting is stable: sessions of one place keep their random order.
        return [index for _, index in sorted(places, key=lambda place: place[0])]

    def choose(self, indices: Iterable[int]) -> Chosen:
        by_file: dict[Path, tuple[str, set[str]]] = {}
        for index in indices:
            file, path = self.files[index]
            by_file.setdefault(file, (path, set()))[1].add(self.ids[index])
        return {file: (path, frozenset(by_file[file][1])) for file, (path, _) in sorted(by_file.items())}


def list_sessions(workspace: Workspace, classes: tuple[str, ...] = ()) -> Listed:
    """`classes`: names of the classes to sort sessions into."""
    ids: list[str] = []
    files: list[tuple[Path, str]] = []
    own: list[str] = []
    for file in workspace.action_files():
        path = read_head(file).path
        for item in read_items(file):
            ids.append(item.session)
            files.append((file, path))
            own.append(find_class(classes, item.properties.kind, len(item.prefix)) if item.properties else "")
    return Listed(ids, files, own, classes[0] if classes else "")


def join_phases(phases: Sequence[Workspace], into: Workspace) -> int:
    """Order by offset in the file; return the number of files."""
    paths = sorted({source.path for phase in phases for source in phase.sources()})
    for path in paths:
        holders = [phase for phase in phases if phase.has_sessions(path)]
        sessions = [session for phase in holders for session in phase.decode_sessions(path, Session)]
        pack = Pack(holders[0].source(path))
        for session in sorted(sessions, key=lambda session: (session.offset, session.typed)):
            pack.add(session)
        # An interrupted run may have stored an error for that file.
        into.drop_error(path, "interpret")
        if pack.trouble:
            into.write_error(pack.trouble)
        into.write_sessions(path, pack.close())
    return len(paths)


def plan(
    workspace: Workspace, setup: Setup, *, probability: float, limit: int | None, shard: Shard | None = None
) -> Iterator[Assignment]:
    """Yield files with at least one chosen session. The sessions do not depend on the number of shards."""
    own = _own_files(workspace, shard)
    if limit is not None and limit < sum(read_head(file).sessions for file in workspace.action_files()):
        # A limit needs the draws of all files, also those of other shards.
        listed = list_sessions(workspace, workspace.manifest().classes)
        for file, (path, ids) in listed.choose(listed.order(setup.seed, probability)[:limit]).items():
            if file in own and (mine := ids & _among(file, own[file][1])):
                yield from plan_chosen({file: (path, mine)}, setup)
        return
    for file, (path, places) in own.items():
        draws = [draw(setup.seed, asked.session) for asked in read_items(file)]
        if sessions := sum(1 for number in draws[places.start : places.stop] if number < probability):
            among = _among(file, places) if len(places) < len(draws) else None
            yield Assignment(setup=setup, actions=file, path=path, sessions=sessions, below=probability, among=among)


def count_classes(workspace: Workspace, classes: tuple[str, ...], shard: Shard | None) -> dict[str, int]:
    """Return {} if the headline has no session in any shard."""
    counts, own = dict.fromkeys((*classes, ""), 0), _own_files(workspace, shard)
    listed = list_sessions(workspace, classes)
    if classes[0] not in listed.classes:
        return {}
    position: Counter[Path] = Counter()
    for (file, _), name in zip(listed.files, listed.classes, strict=True):
        if file in own and position[file] in own[file][1]:
            counts[name] += 1
        position[file] += 1
    return counts


def plan_chosen(chosen: Chosen, setup: Setup) -> Iterator[Assignment]:
    for file, (path, sessions) in chosen.items():
        yield Assignment(setup=setup, actions=file, path=path, sessions=len(sessions), below=EVERY_DRAW, among=sessions)


def share_twice(sessions: float) -> float:
    """`sessions`: their number in the run."""
    return min(max(TWICE, FEWEST_TWICE / max(sessions, 1)), 1.0)


def _own_files(workspace: Workspace, shard: Shard | None) -> dict[Path, tuple[str, range]]:
    """Return file of actions → source file, and the indices of the shard's sessions."""
    heads = {file: read_head(file) for file in workspace.action_files()}
    dealt = deal({head.path: head.sessions for head in heads.values()}, shard.of if shard else 1)
    index = shard.index if shard else 1
    return {file: (head.path, dealt[head.path][index]) for file, head in heads.items() if index in dealt[head.path]}


def _among(file: Path, places: range) -> frozenset[str]:
    return frozenset(asked.session for asked in read_items(file)[places.start : places.stop])


def plan_repeats(
    workspace: Workspace,
    setup: Setup,
    *,
    probability: float,
    limit: int | None,
    shard: Shard | None,
    rounds: int,
    chosen: Chosen | None,
) -> list[Assignment]:
    """Return the assignments of one engine, with the number of sessions asked twice."""
    if chosen is None:
        planned = plan(workspace, setup, probability=probability, limit=limit, shard=shard)
        size = probability * sum(read_head(file).sessions for file in workspace.action_files())
        size = size if limit is None else min(size, limit)
    else:
        planned, size = plan_chosen(chosen, setup), sum(len(sessions) for _, sessions in chosen.values())
    # Several rounds ask everything again with a fresh process.
    share = 0.0 if rounds > 1 or setup.is_paid else share_twice(size)
    return [
        # Rounded by chance, each session has the same chance, and no file of enough sessions is left out.
        replace(assignment, twice=int(assignment.sessions * share + draw(setup.seed, f"{assignment.path} twice")))
        for assignment in planned
    ]
