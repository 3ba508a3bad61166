"""The sessions that could be asked, the order in which a limit chooses them, and the joining of those that were asked
in several phases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

from ci_eval.core.base.chance import draw
from ci_eval.core.filters import find_class
from ci_eval.core.interpret.pack import Pack
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace, read_head, read_items

Chosen = Mapping[Path, tuple[str, frozenset[str]]]
"""The sessions that are asked: file of actions → its source file, and the ids of its sessions."""
LEADING_SHARE = 2 / 3
"""The share of a limited sample that the headline's sessions get."""
FEWEST_OF_CLASS = 2
"""The sessions that each class begins with: a variance takes two."""


@dataclass(frozen=True)
class Listed:
    ids: Sequence[str]
    files: Sequence[tuple[Path, str]]
    """The file of actions and the source file of each session."""
    classes: Sequence[str]
    """The class of each session, see `filters.sampling_classes`."""
    leading: str
    """The headline's class."""

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
        """Return the sessions at these indices, file by file."""
        by_file: dict[Path, tuple[str, set[str]]] = {}
        for index in indices:
            file, path = self.files[index]
            by_file.setdefault(file, (path, set()))[1].add(self.ids[index])
        return {file: (path, frozenset(by_file[file][1])) for file, (path, _) in sorted(by_file.items())}


def list_sessions(workspace: Workspace, classes: tuple[str, ...] = ()) -> Listed:
    """Return the sessions in the actions of a workspace. `classes`: the names of the classes to sort them into."""
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
    """Write the sessions of all phases into one workspace, in order of their offsets in the file; return the number of
    files."""
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
