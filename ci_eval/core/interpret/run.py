"""A run over all files of a workspace, which are dealt out to workers."""

from __future__ import annotations

import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.base.chance import draw
from ci_eval.core.base.shards import Shard, deal
from ci_eval.core.interpret.assignments import Assignment, Played, Setup, Turn, chosen, read_source_text
from ci_eval.core.interpret.frame import Chosen, list_sessions
from ci_eval.core.interpret.keeping import Keeper, Progress
from ci_eval.core.interpret.pack import read_journal
from ci_eval.core.interpret.player import PATIENCE
from ci_eval.core.interpret.worker import finish_file, play_in_turn
from ci_eval.core.logs import names
from ci_eval.core.model import Status
from ci_eval.core.workers import TaskOutcome, Workers
from ci_eval.core.workspace import Workspace, make_file_name, read_actions, read_head, read_items

TRIES = 2
"""The number of workers that may die of one session."""


class Recovery:
    def __init__(self) -> None:
        self._deaths: Counter[tuple[str, str]] = Counter()

    def again(self, outcome: TaskOutcome[Turn, tuple[Played, ...]]) -> Turn | None:
        """Return what is left to do; None if so many sessions in a row were of that kind that the file is given up, or
        if none was left."""
        turn = outcome.task
        assignment, sessions, on = _find_interruption(turn)
        # The session that the worker was on is the first one that neither is finished nor was given up.
        self._deaths[assignment.path, f"{assignment.side} {on}"] += 1
        if outcome.died and self._deaths[assignment.path, f"{assignment.side} {on}"] < TRIES:
            return turn
        if not on:
            return None
        why = (Status.ENGINE_CRASH, f"{outcome.trouble}, twice") if outcome.died else (Status.ERROR, outcome.trouble)
        assignment = replace(assignment, given_up={**assignment.given_up, on: why})
        # PATIENCE is of sessions in a row, so they are counted back from this one.
        until = sessions[sessions.index(on) :: -1]
        in_a_row = sum(1 for _ in takewhile(assignment.given_up.__contains__, until))
        return turn.replace_assignment(assignment) if in_a_row < PATIENCE else None


def _find_interruption(turn: Turn) -> tuple[Assignment, list[str], str]:
    """Return the assignment that the worker was at, its sessions, and the one that it was on; "" if it was done with
    all."""
    assignment, sessions, on = turn.assignments[0], list[str](), ""
    for assignment in turn.assignments:
        assert assignment.journal
        sessions = [call.session for call in chosen(assignment, read_actions(assignment.actions))]
        done = sum(1 for _ in read_journal(assignment.journal))
        on = next((session for session in islice(sessions, done, None) if session not in assignment.given_up), "")
        if on or done < len(sessions):
            break
    return assignment, sessions, on


Asked = TaskOutcome[Turn, tuple[Played, ...]]
EVERY_DRAW = 1.0
"""The limit that every draw is below."""
TWICE = 0.1
"""The share of the sessions that are asked a second time, to see whether the engine answers alike."""
FEWEST_TWICE = 60
"""The number of sessions that are asked twice in a small run, in which that share would be fewer: if all are answered
alike, at most 3/60 = 5 % are not (rule of three)."""


@dataclass(frozen=True)
class EngineSide:
    workspace: Workspace
    setup: Setup


def interpret(
    workspace: Workspace,
    setup: Setup,
    *,
    probability: float,
    limit: int | None,
    jobs: int,
    advance: Callable[[int, Progress], None],
    shard: Shard | None = None,
    rounds: int = 1,
) -> Progress:
    """Ask one engine about every file that has no sessions yet; see `play_files`."""
    (progress,) = play_files(
        [EngineSide(workspace, setup)],
        probability=probability,
        limit=limit,
        jobs=jobs,
        advance=advance,
        shard=shard,
        rounds=rounds,
    )
    return progress


def play_files(
    sides: Sequence[EngineSide],
    *,
    probability: float,
    limit: int | None,
    jobs: int,
    advance: Callable[[int, Progress], None],
    shard: Shard | None = None,
    rounds: int = 1,
    chosen: Chosen | None = None,
) -> list[Progress]:
    """Write the sessions of every file that has none yet; calls `advance(sessions_done, so_far)` as they come.

    Several engines (which have the same actions) are asked about a file one after the other, in an order that is drawn
    anew for each file and round. A worker asks one at a time, and starts its engines anew for each round.

    `shard`: only what is dealt to it. `chosen`: these sessions, whatever `probability`, `limit` and `shard` say.

    Suggestions do not depend on the number of `jobs`, nor on which files were done by an earlier, interrupted call.
    """
    waiting, keepers, total = _plan_sides(sides, probability, limit, shard, rounds, chosen)
    asks_ahead = all(side.setup.asks_ahead for side in sides)
    with ExitStack() as stack:
        journals = stack.enter_context(_journals(sides[0].workspace))
        left = deque(
            _turn(assignments, number, journals)
            # Rounds are the outer loop, since a worker starts its engines anew for each round.
            for number in range(rounds)
            for assignments in waiting
            if not all(keeper.has_round(assignments[0].path, number) for keeper in keepers)
        )
        # If a worker dies, the next one goes on with its file.
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
                for assignment, played in zip(outcome.task.assignments, _collect_results(outcome), strict=True):
                    keepers[assignment.side].keep(assignment, played)
                    total.statuses += played.statuses
            # The pool also counts the sessions of unfinished files.
            done = max(before + pool.counted, total.statuses.total())
            advance(min(done, total.planned), total)
            for side, keeper in enumerate(keepers):
                if keeper.gives_up():
                    _leave_out(side, left)
            if all(keeper.so_far.given_up for keeper in keepers):
                pool.stop()
                break
    for number, keeper in enumerate(keepers):
        keeper.close([assignments[number] for assignments in waiting])
    return [keeper.so_far for keeper in keepers]


def _plan_sides(
    sides: Sequence[EngineSide],
    probability: float,
    limit: int | None,
    shard: Shard | None,
    rounds: int,
    chosen: Chosen | None,
) -> tuple[list[tuple[Assignment, ...]], list[Keeper], Progress]:
    """Return the assignments of each file that has no sessions yet, the keeper of each side, and the sums so far."""
    plans, keepers = [], []
    for side in sides:
        side.workspace.tidy()
        planned = (
            plan(side.workspace, side.setup, probability=probability, limit=limit, shard=shard)
            if chosen is None
            else plan_chosen(chosen, side.setup)
        )
        # Several rounds ask everything again with a fresh process.
        is_checked = rounds == 1 and not side.setup.is_paid
        twice = 0.0 if not is_checked else share_twice(_size(side.workspace, probability, limit, chosen))
        plans.append([replace(assignment, twice=_count_twice(assignment, twice)) for assignment in planned])
        keepers.append(Keeper(side.workspace, rounds, sum(assignment.sessions for assignment in plans[-1])))
    total = Progress(planned=sum(keeper.so_far.planned for keeper in keepers) * rounds)
    waiting: list[tuple[Assignment, ...]] = []
    for assignments in zip(*plans, strict=True):
        path = assignments[0].path
        if all(keeper.has(path) for keeper in keepers):
            for keeper in keepers:
                total.statuses += keeper.take_over(path)
        else:
            for keeper in keepers:
                # Engines are asked about a file in turns, so the sessions of one side alone are asked again.
                keeper.workspace.drop_sessions(path)
            waiting.append(assignments)
    # The longest first, so that no worker is left alone with one at the end.
    waiting.sort(key=lambda assignments: -assignments[0].sessions)
    return waiting, keepers, total


def _leave_out(side: int, left: deque[Turn]) -> None:
    """Remove one of the engines from the turns that are left, so that only the others are asked."""
    turns = [
        Turn(assignments=tuple(assignment for assignment in turn.assignments if assignment.side != side))
        for turn in left
    ]
    left.clear()
    left.extend(turn for turn in turns if turn.assignments)


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
    of_round.sort(key=lambda assignment: draw(assignment.setup.seed, f"{assignment.path} {number} {assignment.side}"))
    return Turn(assignments=tuple(of_round))


def _collect_results(outcome: Asked) -> tuple[Played, ...]:
    if outcome.result:
        return outcome.result
    status = Status.ENGINE_CRASH if outcome.died else Status.ERROR
    why = f"given up after {PATIENCE} such sessions in a row: {outcome.trouble}"
    return tuple(finish_file(assignment, status, why) for assignment in outcome.task.assignments)


def plan(
    workspace: Workspace, setup: Setup, *, probability: float, limit: int | None, shard: Shard | None = None
) -> Iterator[Assignment]:
    """Yield the files with at least one chosen session. The chosen sessions do not depend on the number of shards."""
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
    """Return the number of the shard's sessions in each class that a limit draws from; none if the headline has no
    session in any shard."""
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


def _size(workspace: Workspace, probability: float, limit: int | None, chosen: Chosen | None) -> float:
    """Return about how many sessions are asked in the whole run, of all shards."""
    if chosen is not None:
        return sum(len(sessions) for _, sessions in chosen.values())
    size = probability * sum(read_head(file).sessions for file in workspace.action_files())
    return size if limit is None else min(size, limit)


def share_twice(sessions: float) -> float:
    """Return the share of sessions that are asked a second time, in a run of so many `sessions`."""
    return min(max(TWICE, FEWEST_TWICE / max(sessions, 1)), 1.0)


def _count_twice(assignment: Assignment, share: float) -> int:
    """Return the number of the file's sessions that are asked a second time: that share, rounded up or down by chance,
    so that each session has the same chance, and no file of enough sessions is left out."""
    return int(assignment.sessions * share + draw(assignment.setup.seed, f"{assignment.path} twice"))


def _own_files(workspace: Workspace, shard: Shard | None) -> dict[Path, tuple[str, range]]:
    """Return the files of actions that the shard is asked about: each with its source file, and the indices of its
    sessions."""
    heads = {file: read_head(file) for file in workspace.action_files()}
    dealt = deal({head.path: head.sessions for head in heads.values()}, shard.of if shard else 1)
    index = shard.index if shard else 1
    return {file: (head.path, dealt[head.path][index]) for file, head in heads.items() if index in dealt[head.path]}


def _among(file: Path, places: range) -> frozenset[str]:
    return frozenset(asked.session for asked in read_items(file)[places.start : places.stop])


@contextmanager
def _journals(workspace: Workspace) -> Iterator[Path]:
    """Yield the folder for the finished sessions of the files that workers are at."""
    folder = workspace.folder / "unfinished"
    if folder.exists():
        # This is left of a run that was killed. It is not resumed: a machine that lost its power may not have written
        # all.
        shutil.rmtree(folder)
    try:
        yield atomic.make_folder(folder)
    finally:
        shutil.rmtree(folder)


def write_names(workspace: Workspace, root: Path) -> Path:
    """Write the names of all files with actions, for rankers and logs; return the path of the names.

    Files that changed since their actions were made, or that cannot be read, are left out.
    """
    texts = filter(
        None, (read_source_text(root, actions.path, actions.checksum) for actions in workspace.action_heads())
    )
    names.count(texts).save(workspace.names_path)
    return workspace.names_path
