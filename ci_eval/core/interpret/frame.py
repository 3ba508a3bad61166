"""The sessions that could be asked, and the joining of those that were asked in several phases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.interpret.assignments import first_calls
from ci_eval.core.interpret.pack import Pack
from ci_eval.core.interpret.run import Chosen
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace, read_actions


@dataclass(frozen=True)
class Listed:
    ids: Sequence[str]
    files: Sequence[tuple[Path, str]]
    """The file of actions and the source file of each session."""

    def chosen(self, places: Sequence[int]) -> Chosen:
        """Return the sessions at these indices, file by file."""
        by_file: dict[Path, tuple[str, set[str]]] = {}
        for index in places:
            file, path = self.files[index]
            by_file.setdefault(file, (path, set()))[1].add(self.ids[index])
        return {file: (path, frozenset(by_file[file][1])) for file, (path, _) in sorted(by_file.items())}


def list_sessions(workspace: Workspace) -> Listed:
    ids: list[str] = []
    files: list[tuple[Path, str]] = []
    for file in workspace.action_files():
        actions = read_actions(file)
        own = [call.session for call in first_calls(actions)]
        ids += own
        files += [(file, actions.path)] * len(own)
    return Listed(ids, files)


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
