"""What happens in a worker process: one file after the other, with one engine."""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path

from ci_eval.files import read_own
from ci_eval.grammar.document import Document, NotText, checksum, decode
from ci_eval.learning.logs import Log, LogOrigin
from ci_eval.model import (
    FileError,
    Session,
    SourceFile,
    Status,
)
from ci_eval.stages.interpret.engines import KeptEngine
from ci_eval.stages.interpret.journal import Journal, finished
from ci_eval.stages.interpret.pack import Pack
from ci_eval.stages.interpret.player import Player
from ci_eval.stages.interpret.tasks import Played, Task, Turn, chosen, session_of
from ci_eval.workers import count
from ci_eval.workspace import name_of, read_actions

_engines: dict[int, tuple[int, KeptEngine]] = {}
"""Those of this process: number → the round it was started for, and the engine."""


def _engine(task: Task) -> KeptEngine:
    started, engine = _engines.get(task.side, (-1, None))
    if engine is None or (started, engine.setup) != (task.round, task.setup):
        if engine:
            engine.close()
        engine = KeptEngine(task.setup)
        _engines[task.side] = task.round, engine
    return engine


def play_in_turn(turn: Turn) -> tuple[Played, ...]:
    """What became of each task; while one engine is asked, the others wait."""
    return tuple(map(play, turn.tasks))


def play(task: Task) -> Played:
    """Evaluate the chosen sessions of one file, but for those that an earlier worker finished."""
    assert task.journal
    started = time.perf_counter()
    actions = read_actions(task.actions)
    try:
        text = decode(read_own(task.setup.surroundings.root, task.path))
    except (NotText, OSError) as error:
        return unanswered(task, Status.SKIPPED, f"the file can no longer be read: {error}")
    if checksum(text) != actions.checksum:
        return unanswered(task, Status.SKIPPED, "the file has changed since its actions were made")
    pack = Pack(SourceFile(path=task.path, checksum=actions.checksum, text=text))
    engine = _engine(task)
    log = _log(task)
    player = Player(task, Document(text), engine, log)
    if log:
        # What is logged of a session is not in the journal: all are asked again.
        task.journal.unlink(missing_ok=True)
    journal = Journal(task.journal)
    for line in finished(task.journal):
        player.take_over(pack.take_over(line))
    for session in player.play(actions):
        journal.add(pack.add(session))
        count()
    journal.close()
    if log:
        log.close()
    trouble = pack.trouble
    if player.document.text != text:
        trouble = FileError(path=task.path, stage="interpret", message="the actions did not give the text back")
    return Played(
        path=task.path,
        statuses=pack.statuses,
        packed=pack.close(),
        engine_time=player.engine_time,
        time=time.perf_counter() - started,
        confined=engine.confined,
        error=trouble,
    )


def _log(task: Task) -> Log | None:
    setup, logging = task.setup, task.setup.logging
    if logging is None or task.round:
        return None
    origin = LogOrigin(
        project=logging.project,
        file=task.path,
        language=setup.surroundings.language,
        engine=setup.installation.info,
        completion_type=logging.completion_type,
        seed=setup.seed,
        began=logging.began,
    )
    return Log(logging.parts, name_of(task.path), origin, logging.formats)


def replay(task: Task) -> Session | None:
    """The task's one session, asked now; None if the actions do not hold it."""
    setup = task.setup
    actions = read_actions(task.actions)
    text = decode(read_own(setup.surroundings.root, task.path))
    engine = KeptEngine(setup)
    try:
        return next(Player(task, Document(text), engine).play(actions), None)
    finally:
        engine.close()


def unanswered(task: Task, status: Status, message: str) -> Played:
    """Every chosen session of a file that is not finished with one status, for one reason."""
    actions = read_actions(task.actions)
    text = text_of(task.setup.surroundings.root, task.path, actions.checksum)
    pack = Pack(SourceFile(path=task.path, checksum=actions.checksum, text=text or ""))
    known = [pack.take_over(line).id for line in finished(task.journal)] if task.journal else []
    for call in islice(chosen(task, actions), len(known), None):
        pack.add(session_of(task.path, call, *task.given_up.get(call.session, (status, message))))
    return Played(
        path=task.path,
        statuses=pack.statuses,
        packed=pack.close(),
        engine_time=0.0,
        time=0.0,
        error=pack.trouble,
    )


def text_of(root: Path, path: str, wanted: str) -> str | None:
    """Of a source file; None if it cannot be read any more, or changed since its actions were made."""
    try:
        text = decode(read_own(root, path))
    except (NotText, OSError):
        return None  # the file's sessions are skipped, and say why
    return text if checksum(text) == wanted else None
