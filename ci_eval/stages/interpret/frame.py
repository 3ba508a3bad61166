"""All sessions that could be asked, with what is known of each beforehand; and those that were asked in several phases,
put together."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from ci_eval.files import read_own
from ci_eval.grammar.document import NotText, decode
from ci_eval.model import CallCompletion, PlayItem, Session
from ci_eval.stages.interpret.assignments import first_calls
from ci_eval.stages.interpret.pack import Pack
from ci_eval.stages.interpret.run import Chosen
from ci_eval.statistics.phases import Frame
from ci_eval.workspace import Workspace, read_actions


@dataclass(frozen=True)
class Listed:
    """The sessions of a workspace's actions."""

    frame: Frame
    files: Sequence[tuple[Path, str]]
    """Of each session: the file of its actions, and its source file."""

    def chosen(self, places: Sequence[int]) -> Chosen:
        """The sessions at these places of the frame, file by file."""
        found: dict[Path, tuple[str, set[str]]] = {}
        for place in places:
            file, path = self.files[place]
            found.setdefault(file, (path, set()))[1].add(self.frame.ids[place])
        return {file: (path, frozenset(found[file][1])) for file, (path, _) in sorted(found.items())}


def listed(
    workspace: Workspace, before: Mapping[str, float] | None = None, text: Callable[[str], str] = lambda _: ""
) -> Listed:
    """The sessions of all its actions, in their order. `before`: id → how well the session went in an earlier run (0 to
    1). `text`: path → the text of a source file, as far as it is known."""
    ids: list[str] = []
    files: list[tuple[Path, str]] = []
    levels: list[list[Hashable]] = [[] for _ in range(LEVELS + (before is not None))]
    went: list[float] = []
    for file in workspace.action_files():
        actions = read_actions(file)
        source = text(actions.path)
        for call in first_calls(actions):
            ids.append(call.session)
            files.append((file, actions.path))
            keys = _keys(call, source)
            if before is not None:
                # It tells most, so that it comes first: what else is known tells where it has changed.
                known = before.get(call.session)
                went.append(0.5 if known is None else known)
                earlier = None if known is None else round(known, 1)
                keys = (earlier, *((earlier, key) for key in keys))
            for level, key in zip(levels, keys, strict=True):
                level.append(key)
    cells = [_numbered(level) for level in levels]
    return Listed(Frame(ids, cells, None if before is None else np.array(went)), files)


def texts_below(root: Path) -> Callable[[str], str]:
    """Path → text of a file of the project; none where it can no longer be read, which its sessions say."""

    def text(path: str) -> str:
        try:
            return decode(read_own(root, path))
        except (NotText, OSError):
            return ""

    return text


LEVELS = 5
_LEFT = re.compile(r"(\w+|[^\w\s])[ \t]*\Z")
_WIDTH = 80
"""Code points before a token that are looked at."""


def _keys(call: CallCompletion | PlayItem, text: str) -> tuple[Hashable, ...]:
    """Of the cells that a session is in, coarse to fine: by kind and what is typed of the token; where it stands and
    what it refers to; the word or sign on the left of it; the package that it comes from; its text."""
    known, typed = call.properties, len(call.prefix) if isinstance(call, CallCompletion) else 0
    kind = (known.kind, typed)
    place = (*kind, known.location, known.first_use, known.is_argument)
    left = _LEFT.search(text[max(call.offset - _WIDTH, 0) : call.offset])
    beside = (*place, left and left[1])
    return kind, place, beside, (*beside, known.package), (*beside, known.package, call.expected_text)


def _numbered(keys: Sequence[Hashable]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def joined(phases: Sequence[Workspace], strata: Mapping[str, int], into: Workspace) -> int:
    """Write the sessions of all phases into one workspace, each with its stratum (`strata`: id → number), in order of
    their places in the file; how many files that is."""
    paths = sorted({source.path for phase in phases for source in phase.sources()})
    for path in paths:
        holders = [phase for phase in phases if phase.has_sessions(path)]
        sessions = [session for phase in holders for session in phase.sessions_in(path, Session)]
        pack = Pack(holders[0].source(path))
        for session in sorted(sessions, key=lambda session: (session.offset, session.typed)):
            pack.add(replace(session, stratum=strata.get(session.id, 0)))
        into.drop_error(path, "interpret")
        if pack.trouble:
            into.write_error(pack.trouble)
        into.write_sessions(path, pack.close())
    return len(paths)
