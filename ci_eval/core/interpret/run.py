"""A run over all files of a workspace, which are dealt out to workers."""

from __future__ import annotations

import shutil
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice, takewhile
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.base import atomic
from ci_eval.core.base.chance import draw
from ci_eval.core.base.quoting import quote
from ci_eval.core.interpret.assignments import Assignment, Played, Setup, Turn, chosen, read_source_text
from ci_eval.core.interpret.pack import (
    Pack,
    SessionEnd,
    measure_determinism,
    read_journal,
    read_round,
    round_file,
    together,
)
from ci_eval.core.interpret.player import PATIENCE
from ci_eval.core.interpret.selection import WHOLE, Chosen, Share, plan_repeats
from ci_eval.core.interpret.worker import finish_file, play_in_turn
from ci_eval.core.logs import names
from ci_eval.core.model import FAILED, UNASKED, UNKNOWN, CpuTimes, Determinism, FileError, Footprint, Status
from ci_eval.core.statistics.footprint import merge_footprints as added
from ci_eval.core.workers import TaskOutcome, Workers
from ci_eval.core.workspace import Workspace, iterate_actions, make_file_name

TRIES = 2
"""The number of workers that may die while they ask the same session."""


class Recovery:
    def __init__(self) -> None:
        self._deaths: Counter[tuple[str, str]] = Counter()

    def again(self, outcome: TaskOutcome[Turn, tuple[Played, ...]]) -> Turn | None:
        """Return the turn to repeat after a failure; None if no session is left, or too many failed in a row."""
        turn = outcome.task
        assignment, sessions, on = _find_interruption(turn)
        # The worker's current session is the first one that is neither finished nor given up.
        self._deaths[assignment.path, f"{assignment.side} {on}"] += 1
        if outcome.died and self._deaths[assignment.path, f"{assignment.side} {on}"] < TRIES:
            return turn
        if not on:
            return None
        why = (Status.ENGINE_CRASH, f"{outcome.trouble}, twice") if outcome.died else (Status.ERROR, outcome.trouble)
        assignment = replace(assignment, given_up={**assignment.given_up, on: why})
        # PATIENCE counts consecutive sessions, so the count goes back from the current one.
        until = sessions[sessions.index(on) :: -1]
        in_a_row = sum(1 for _ in takewhile(assignment.given_up.__contains__, until))
        changed = (assignment if present.side == assignment.side else present for present in turn)
        return tuple(changed) if in_a_row < PATIENCE else None


def _find_interruption(turn: Turn) -> tuple[Assignment, list[str], str]:
    """Return the interrupted assignment, its sessions, and the session that was being asked ("" without one)."""
    assignment, sessions, on = turn[0], list[str](), ""
    for assignment in turn:
        assert assignment.journal
        sessions = [call.session for call in chosen(assignment, iterate_actions(assignment.actions))]
        done = sum(1 for _ in read_journal(assignment.journal))
        on = next((session for session in islice(sessions, done, None) if session not in assignment.given_up), "")
        if on or done < len(sessions):
            break
    return assignment, sessions, on


class EngineSide(msgspec.Struct, frozen=True):
    workspace: Workspace
    setup: Setup
    earlier: Path | None = None
    again: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """File → the sessions that are asked. The other sessions of the file are taken from `earlier`."""


def play_files(
    sides: Sequence[EngineSide],
    share: Share = WHOLE,
    *,
    jobs: int,
    advance: Callable[[int, Progress], None],
    rounds: int = 1,
    chosen: Chosen | None = None,
) -> list[Progress]:
    """Write sessions for every file without sessions, and call `advance(sessions_done, so_far)` as sessions finish.

    Several engines with the same actions are asked about a file in turns, in random order for each file and round. Each
    round starts the engines again. `chosen`: the sessions to ask, if `share` does not decide.
    Suggestions depend neither on the number of `jobs` nor on the files that an interrupted call has finished.
    """
    waiting, stores, total = _plan_sides(sides, share, rounds, chosen)
    asks_ahead = all(side.setup.asks_ahead for side in sides)
    with ExitStack() as stack:
        journals = sides[0].workspace.folder / "unfinished"
        # A killed run left this folder. Its journals are not used, since a power failure may have damaged them.
        if journals.exists():
            shutil.rmtree(journals)
        stack.callback(shutil.rmtree, atomic.make_folder(journals))
        left = deque(
            _turn(assignments, number, journals)
            # Rounds are the outer loop, since a worker restarts its engines for each round.
            for number in range(rounds)
            for assignments in waiting
            if not all(store.has_round(assignments[0].path, number) for store in stores)
        )
        # If a worker dies, the next one continues with its file.
        pool = stack.enter_context(
            Workers(
                play_in_turn,
                jobs=1 if asks_ahead else max(min(jobs, len(waiting)), 1),
                shared=(tuple(left) if asks_ahead else (),),
                again=Recovery().again,
            )
        )
        before = total.statuses.total()
        for outcome in pool.map(left):
            if outcome:
                assignments = outcome.task
                status = Status.ENGINE_CRASH if outcome.died else Status.ERROR
                why = f"given up after {PATIENCE} such sessions in a row: {outcome.trouble}"
                results = outcome.result or [finish_file(assignment, status, why) for assignment in assignments]
                for assignment, played in zip(assignments, results, strict=True):
                    stores[assignment.side].keep(assignment, played)
                    total.statuses += played.statuses
            # The pool also counts the sessions of unfinished files.
            done = max(before + pool.counted, total.statuses.total())
            advance(min(done, total.planned), total)
            for side, store in enumerate(stores):
                if store.gives_up():
                    for turn in [left.popleft() for _ in range(len(left))]:
                        others = tuple(assignment for assignment in turn if assignment.side != side)
                        left.extend([others] if others else [])
            if all(store.so_far.given_up for store in stores):
                pool.stop()
                break
    for number, store in enumerate(stores):
        store.close([assignments[number] for assignments in waiting])
    return [store.so_far for store in stores]


def _plan_sides(
    sides: Sequence[EngineSide], share: Share, rounds: int, chosen: Chosen | None
) -> tuple[list[tuple[Assignment, ...]], list[ResultStore], Progress]:
    """Return the assignments of each file without sessions, the store of each side, and the sums so far."""
    plans, stores = [], []
    for side in sides:
        side.workspace.tidy()
        planned = plan_repeats(side.workspace, side.setup, share, rounds, chosen)
        plans.append(
            [
                replace(assignment, among=side.again[assignment.path], earlier=side.earlier)
                if assignment.path in side.again
                else assignment
                for assignment in planned
            ]
        )
        stores.append(ResultStore(side.workspace, rounds, sum(assignment.sessions for assignment in plans[-1])))
    total = Progress(planned=sum(store.so_far.planned for store in stores) * rounds)
    waiting: list[tuple[Assignment, ...]] = []
    for assignments in zip(*plans, strict=True):
        path = assignments[0].path
        if all(store.workspace.has_sessions(path) for store in stores):
            for store in stores:
                total.statuses += store.take_over(path)
        else:
            for store in stores:
                # Engines are asked about a file in turns, so sessions that only some sides have are asked again.
                store.workspace.drop_sessions(path)
            waiting.append(assignments)
    # Long assignments come first, so that no worker is left with a long one at the end.
    waiting.sort(key=lambda assignments: -assignments[0].sessions)
    return waiting, stores, total


def _turn(assignments: Sequence[Assignment], number: int, journals: Path) -> Turn:
    of_round = [
        replace(
            assignment,
            side=side,
            round=number,
            journal=journals / f"{make_file_name(assignment.path)}.{side}.{number}.jsonl",
        )
        for side, assignment in enumerate(assignments)
    ]
    of_round.sort(
        key=lambda assignment: draw(assignment.setup.settings.seed, f"{assignment.path} {number} {assignment.side}")
    )
    return tuple(of_round)


def write_names(workspace: Workspace, root: Path) -> Path:
    texts = filter(
        None, (read_source_text(root, actions.path, actions.checksum) for actions in workspace.heads().values())
    )
    names.count(texts).save(workspace.names_path)
    return workspace.names_path


LONGEST_REASON = 500
"""The maximum number of characters of the reason for which an engine failed."""

HOPELESS = 50
"""The number of failed sessions after which a run is given up, if most sessions failed."""


class Progress(msgspec.Struct):
    planned: int = 0
    files: int = 0
    statuses: Counter[Status] = msgspec.field(default_factory=Counter)
    engine_time: float = 0.0
    time: float = 0.0
    cpu: CpuTimes = msgspec.field(default_factory=CpuTimes)
    confined: set[str] = msgspec.field(default_factory=set)
    footprint: Footprint = UNKNOWN
    state: Determinism = msgspec.field(default_factory=Determinism)
    given_up: str = ""
    trouble: str = ""

    @property
    def finished(self) -> int:
        return self.statuses.total() - sum(self.statuses[status] for status in UNASKED)

    @property
    def failed(self) -> int:
        return sum(self.statuses[status] for status in FAILED)


def summarise_error(error: FileError) -> str:
    """Return the error's message and the last line of its trace, which usually names the cause."""
    _, _, first = error.message.partition(": ")
    last = error.trace.rstrip().rpartition("\n")[2].strip()
    return quote(first if not last or last in first else f"{first}: {last}", LONGEST_REASON)


class ResultStore:
    def __init__(self, workspace: Workspace, rounds: int, planned: int) -> None:
        self.workspace = workspace
        self.so_far = Progress(planned=planned)
        self.asked: Counter[Status] = Counter()
        self._rounds = rounds

    def has_round(self, path: str, number: int) -> bool:
        return round_file(self.workspace, path, number).exists()

    def take_over(self, path: str) -> Counter[Status]:
        statuses = Counter[Status]()
        for session in self.workspace.decode_sessions(path, SessionEnd):
            statuses[session.status] += 1
            self.so_far.state += measure_determinism(session)
        self.so_far.statuses += statuses
        self.so_far.files += 1
        return statuses

    def gives_up(self) -> bool:
        """Return True the first time that at least HOPELESS sessions, and more than half of all, have failed."""
        failed, asked = sum(self.asked[status] for status in FAILED), self.asked.total()
        if self.so_far.given_up or failed < HOPELESS or failed * 2 <= asked:
            return False
        reason = f": {self.so_far.trouble}" if self.so_far.trouble else ""
        self.so_far.given_up = f"the engine failed on {failed} of the first {asked} sessions{reason}"
        return True

    def keep(self, assignment: Assignment, played: Played) -> None:
        self.asked += played.statuses
        self.so_far.engine_time += played.engine_time
        self.so_far.time += played.time
        self.so_far.cpu += played.cpu
        self.so_far.confined |= {played.confined} - {""}
        self.so_far.footprint = added([self.so_far.footprint, played.footprint])
        # The first error may be of a skipped session, which is not a failure of the engine.
        if played.error and any(played.statuses[status] for status in FAILED):
            self.so_far.trouble = self.so_far.trouble or summarise_error(played.error)
        if self._rounds == 1:
            self.so_far.state += played.state
            self._store(played.path, played.packed, played.statuses, played.error)
        else:
            # An interrupted run is resumed with the stored rounds.
            atomic.write(round_file(self.workspace, assignment.path, assignment.round), played.packed)
            if all(self.has_round(assignment.path, number) for number in range(self._rounds)):
                self._put_together(assignment.path, played.error, range(self._rounds))
        if assignment.journal:
            assignment.journal.unlink(missing_ok=True)

    def _put_together(self, path: str, error: FileError | None, numbers: Sequence[int]) -> None:
        rounds = [read_round(round_file(self.workspace, path, number)) for number in numbers]
        pack = Pack(rounds[0][0])
        for session in together([sessions for _, sessions in rounds]):
            pack.add(session)
        self.so_far.state += pack.state
        self._store(path, pack.close(), pack.statuses, pack.trouble or error)
        for number in numbers:
            round_file(self.workspace, path, number).unlink()

    def _store(self, path: str, packed: bytes, statuses: Counter[Status], error: FileError | None) -> None:
        # The sessions are written last, since a file with sessions counts as done.
        self.workspace.drop_error(path)
        if error:
            self.workspace.write_error(error)
        self.workspace.write_sessions(path, packed)
        self.so_far.files += 1
        self.so_far.statuses += statuses

    def close(self, assignments: Sequence[Assignment]) -> None:
        given_up = self.so_far.given_up
        for assignment in assignments if given_up else ():
            numbers = [number for number in range(self._rounds) if self.has_round(assignment.path, number)]
            if numbers and not self.workspace.has_sessions(assignment.path):
                self._put_together(assignment.path, None, numbers)
            if not self.workspace.has_sessions(assignment.path):
                played = finish_file(assignment, Status.SKIPPED, given_up)
                self.workspace.write_sessions(assignment.path, played.packed)
                self.so_far.statuses += played.statuses
        shutil.rmtree(self.workspace.folder / "rounds", ignore_errors=True)
