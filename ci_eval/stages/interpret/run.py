"""All files of a workspace, dealt out to workers."""

from __future__ import annotations

import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ci_eval.model import (
    FAILED,
    Status,
)
from ci_eval.stages.interpret.pack import Ended
from ci_eval.stages.interpret.player import PATIENCE
from ci_eval.stages.interpret.recovery import Recovery
from ci_eval.stages.interpret.tasks import Played, Setup, Task, first_calls
from ci_eval.stages.interpret.worker import play, text_of, unanswered
from ci_eval.support import atomic, names
from ci_eval.support.chance import draw, threshold
from ci_eval.support.shards import Shard, deal
from ci_eval.support.workers import Outcome, Workers
from ci_eval.workspace import Workspace, name_of, read_actions

HOPELESS = 50
"""Failed sessions after which a run in which most sessions fail is given up."""


@dataclass
class Progress:
    """The sum so far."""

    planned: int = 0
    files: int = 0
    statuses: Counter[Status] = field(default_factory=Counter)
    engine_time: float = 0.0
    time: float = 0.0
    confined: set[str] = field(default_factory=set)
    """How well the engine's processes were confined."""
    given_up: str = ""
    """Why the run ended early, if it did."""

    @property
    def finished(self) -> int:
        """Sessions that were evaluated."""
        return self.statuses.total() - self.statuses[Status.SKIPPED]

    @property
    def failed(self) -> int:
        """Sessions the engine failed on."""
        return sum(self.statuses[status] for status in FAILED)


def interpret(
    workspace: Workspace,
    setup: Setup,
    *,
    probability: float,
    limit: int | None,
    jobs: int,
    advance: Callable[[int, Progress], None],
    shard: Shard | None = None,
) -> Progress:
    """Write the sessions of every file that has none yet; calls `advance(sessions_done, so_far)` as they come.

    `shard`: only of the files that are dealt to it.

    Results do not depend on the number of `jobs`, nor on which files were done by an earlier, interrupted call.
    """
    workspace.tidy()
    tasks = list(plan(workspace, setup, probability=probability, limit=limit, shard=shard))
    so_far = Progress(planned=sum(task.sessions for task in tasks))
    waiting = []
    for task in tasks:
        if workspace.has_sessions(task.path):
            so_far.statuses += _statuses_of(workspace, task.path)
            so_far.files += 1
        else:
            waiting.append(task)
    # The longest first, so that no worker is left alone with one at the end.
    waiting.sort(key=lambda task: -task.sessions)
    recovery = Recovery()
    with (
        _journals(workspace) as journals,
        Workers[Task, Played](play, jobs=max(min(jobs, len(waiting)), 1)) as workers,
    ):
        left = deque(replace(task, journal=journals / f"{name_of(task.path)}.jsonl") for task in waiting)
        before = so_far.statuses.total()
        for outcome in workers.map(left):
            if outcome and not outcome.result and (again := recovery.again(outcome)):
                left.appendleft(again)
            elif outcome:
                _keep(outcome, workspace, so_far)
            done = max(before + workers.counted, so_far.statuses.total())
            advance(min(done, so_far.planned), so_far)
            if so_far.failed >= HOPELESS and so_far.failed * 2 > so_far.statuses.total():
                so_far.given_up = (
                    f"the engine failed on {so_far.failed} of the first {so_far.statuses.total()} sessions"
                )
                workers.stop()
                break
    if so_far.given_up:
        _give_up([task for task in waiting if not workspace.has_sessions(task.path)], workspace, so_far)
    return so_far


def plan(
    workspace: Workspace, setup: Setup, *, probability: float, limit: int | None, shard: Shard | None = None
) -> Iterator[Task]:
    """The files with at least one chosen session. Which sessions are chosen does not depend on the shard."""
    files = workspace.action_files()
    everything = (call.session for path in files for call in first_calls(read_actions(path)))
    below = threshold(everything, seed=setup.seed, probability=probability, limit=limit)
    dealt = deal({each.path: each.sessions for each in workspace.actions()}, shard.of) if shard else {}
    for path in files:
        actions = read_actions(path)
        if shard and dealt[actions.path] != shard.index:
            continue
        sessions = sum(1 for call in first_calls(actions) if draw(setup.seed, call.session) < below)
        if sessions:
            yield Task(setup=setup, actions=path, path=actions.path, sessions=sessions, below=below)


def _statuses_of(workspace: Workspace, path: str) -> Counter[Status]:
    return Counter(session.status for session in workspace.sessions_in(path, Ended))


@contextmanager
def _journals(workspace: Workspace) -> Iterator[Path]:
    """The folder for what workers have finished of the files they are at."""
    folder = workspace.folder / "unfinished"
    if folder.exists():
        # Of a run that was killed. It could be taken up, but for what a machine that lost its power did not write.
        shutil.rmtree(folder)
    try:
        yield atomic.make_folder(folder)
    finally:
        shutil.rmtree(folder)


def _keep(outcome: Outcome[Task, Played], workspace: Workspace, so_far: Progress) -> None:
    status = Status.ENGINE_CRASH if outcome.died else Status.ERROR
    why = f"given up after {PATIENCE} such sessions in a row: {outcome.trouble}"
    played = outcome.result or unanswered(outcome.task, status, why)
    # The sessions come last: with them a file is done.
    workspace.drop_error(played.path, "interpret")
    if played.error:
        workspace.write_error(played.error)
    workspace.write_sessions(played.path, played.packed)
    if outcome.task.journal:
        outcome.task.journal.unlink(missing_ok=True)
    so_far.files += 1
    so_far.statuses += played.statuses
    so_far.engine_time += played.engine_time
    so_far.time += played.time
    so_far.confined |= {played.confined} - {""}


def _give_up(tasks: Sequence[Task], workspace: Workspace, so_far: Progress) -> None:
    for task in tasks:
        played = unanswered(task, Status.SKIPPED, so_far.given_up)
        workspace.write_sessions(task.path, played.packed)
        so_far.statuses += played.statuses


def write_names(workspace: Workspace, root: Path) -> Path:
    """The names of all files with actions, for rankers and logs; files that changed since are left out."""
    texts = filter(None, (text_of(root, actions.path, actions.checksum) for actions in workspace.actions()))
    names.count(texts).save(workspace.names_path)
    return workspace.names_path
