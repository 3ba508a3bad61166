"""The way of one engine's answers to its workspace."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.base.quoting import quote
from ci_eval.core.interpret.assignments import Assignment, Played
from ci_eval.core.interpret.pack import Pack, SessionEnd, measure_determinism, read_round, round_file, together
from ci_eval.core.interpret.worker import finish_file
from ci_eval.core.model import FAILED, UNASKED, Determinism, FileError, Footprint, Status
from ci_eval.core.model.engine import UNKNOWN, CpuTimes
from ci_eval.core.statistics.footprint import together as added
from ci_eval.core.workspace import Workspace

LONGEST_REASON = 500
"""The number of characters of a reason that an engine gives."""

HOPELESS = 50
"""The number of failed sessions after which a run in which most sessions fail is given up."""


@dataclass
class Progress:
    planned: int = 0
    files: int = 0
    statuses: Counter[Status] = field(default_factory=Counter)
    engine_time: float = 0.0
    time: float = 0.0
    cpu: CpuTimes = field(default_factory=CpuTimes)
    confined: set[str] = field(default_factory=set)
    footprint: Footprint = UNKNOWN
    state: Determinism = field(default_factory=Determinism)
    given_up: str = ""
    """The reason why the engine was not asked to the end, if it was not."""
    trouble: str = ""

    @property
    def finished(self) -> int:
        return self.statuses.total() - sum(self.statuses[status] for status in UNASKED)

    @property
    def failed(self) -> int:
        return sum(self.statuses[status] for status in FAILED)


def summarise_error(error: FileError) -> str:
    """Return what went wrong in a session, without how many it went wrong in: the first line and the last one, which
    usually names the cause."""
    _, _, first = error.message.partition(": ")
    last = error.trace.rstrip().rpartition("\n")[2].strip()
    return quote(first if not last or last in first else f"{first}: {last}", LONGEST_REASON)


class Keeper:
    """A keeper of what one engine answers. Several rounds are kept beside the sessions until a file is through all of
    them."""

    def __init__(self, workspace: Workspace, rounds: int, planned: int) -> None:
        self.workspace = workspace
        self.so_far = Progress(planned=planned)
        self.asked: Counter[Status] = Counter()
        """The statuses of the sessions of all rounds."""
        self._rounds = rounds

    def has(self, path: str) -> bool:
        return self.workspace.has_sessions(path)

    def has_round(self, path: str, number: int) -> bool:
        return self._round(path, number).exists()

    def _round(self, path: str, number: int) -> Path:
        return round_file(self.workspace, path, number)

    def take_over(self, path: str) -> Counter[Status]:
        statuses = Counter[Status]()
        for session in self.workspace.decode_sessions(path, SessionEnd):
            statuses[session.status] += 1
            self.so_far.state += measure_determinism(session)
        self.so_far.statuses += statuses
        self.so_far.files += 1
        return statuses

    @property
    def failed(self) -> int:
        return sum(self.asked[status] for status in FAILED)

    @property
    def hopeless(self) -> bool:
        """Return whether at least HOPELESS sessions have failed, and more than half, so that asking on would waste
        time."""
        return self.failed >= HOPELESS and self.failed * 2 > self.asked.total()

    def gives_up(self) -> bool:
        """Return whether the engine is given up by this call, since asking on would waste time."""
        if self.so_far.given_up or not self.hopeless:
            return False
        reason = f": {self.so_far.trouble}" if self.so_far.trouble else ""
        self.so_far.given_up = f"the engine failed on {self.failed} of the first {self.asked.total()} sessions{reason}"
        return True

    def keep(self, assignment: Assignment, played: Played) -> None:
        """Store the outcome of a file in one round."""
        self.asked += played.statuses
        self.so_far.engine_time += played.engine_time
        self.so_far.time += played.time
        self.so_far.cpu += played.cpu
        self.so_far.confined |= {played.confined} - {""}
        self.so_far.footprint = added([self.so_far.footprint, played.footprint])
        # The error may be of skipped sessions alone, which the engine did not fail on.
        if played.error and any(played.statuses[status] for status in FAILED):
            self.so_far.trouble = self.so_far.trouble or summarise_error(played.error)
        if self._rounds == 1:
            self.so_far.state += played.state
            self._store(played.path, played.packed, played.statuses, played.error)
        else:
            # A run that is interrupted goes on with the rounds that are stored.
            atomic.write(self._round(assignment.path, assignment.round), played.packed)
            if all(self.has_round(assignment.path, number) for number in range(self._rounds)):
                self._put_together(assignment.path, played.error, range(self._rounds))
        if assignment.journal:
            assignment.journal.unlink(missing_ok=True)

    def _put_together(self, path: str, error: FileError | None, numbers: Sequence[int]) -> None:
        rounds = [read_round(self._round(path, number)) for number in numbers]
        pack = Pack(rounds[0][0])
        for session in together([sessions for _, sessions in rounds]):
            pack.add(session)
        self.so_far.state += pack.state
        self._store(path, pack.close(), pack.statuses, pack.trouble or error)
        for number in numbers:
            self._round(path, number).unlink()

    def _store(self, path: str, packed: bytes, statuses: Counter[Status], error: FileError | None) -> None:
        # The sessions come last: with them a file is done.
        self.workspace.drop_error(path, "interpret")
        if error:
            self.workspace.write_error(error)
        self.workspace.write_sessions(path, packed)
        self.so_far.files += 1
        self.so_far.statuses += statuses

    def close(self, assignments: Sequence[Assignment]) -> None:
        given_up = self.so_far.given_up
        for assignment in assignments if given_up else ():
            numbers = [number for number in range(self._rounds) if self.has_round(assignment.path, number)]
            if numbers and not self.has(assignment.path):
                self._put_together(assignment.path, None, numbers)
            if not self.has(assignment.path):
                played = finish_file(assignment, Status.SKIPPED, given_up)
                self.workspace.write_sessions(assignment.path, played.packed)
                self.so_far.statuses += played.statuses
        shutil.rmtree(self.workspace.folder / "rounds", ignore_errors=True)
