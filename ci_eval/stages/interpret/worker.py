"""What happens in a worker process: one file after the other, with one engine."""

from __future__ import annotations

import time

from ci_eval.contracts import Running
from ci_eval.errors import CiEvalError
from ci_eval.model import (
    FileError,
    Session,
    SourceFile,
    Status,
)
from ci_eval.stages.interpret.pack import Pack
from ci_eval.stages.interpret.player import Player
from ci_eval.stages.interpret.tasks import Played, Setup, Task, first_calls, session_of
from ci_eval.support.document import Document, NotText, checksum, decode
from ci_eval.support.files import read_own
from ci_eval.support.logs import Log, Origin
from ci_eval.support.workers import count
from ci_eval.workspace import name_of, read_actions


class _Engines:
    """The engine of this worker process: started for its first file, kept for the next ones."""

    running: Running | None = None
    setup: Setup | None = None

    @classmethod
    def of(cls, setup: Setup) -> Running:
        if cls.running is None or cls.setup != setup:
            if cls.running:
                cls.running.close()
            cls.running = setup.engine.start(setup.installation, setup.surroundings)
            cls.setup = setup
        return cls.running


def play(task: Task) -> Played:
    """Evaluate the chosen sessions of one file."""
    started = time.perf_counter()
    actions = read_actions(task.actions)
    try:
        text = decode(read_own(task.setup.surroundings.root, task.path))
    except (NotText, OSError) as error:
        return unanswered(task, Status.SKIPPED, f"the file can no longer be read: {error}")
    if checksum(text) != actions.checksum:
        return unanswered(task, Status.SKIPPED, "the file has changed since its actions were made")
    pack = Pack(SourceFile(path=task.path, checksum=actions.checksum, text=text))
    try:
        engine = _Engines.of(task.setup)
    except CiEvalError as error:
        return unanswered(task, Status.ENGINE_CRASH, f"the engine could not be started: {error}", text)
    log = _log(task)
    player = Player(task, Document(text), engine, log)
    for session in player.play(actions):
        pack.add(session)
        count()
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
    if logging is None:
        return None
    origin = Origin(
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
    engine = setup.engine.start(setup.installation, setup.surroundings)
    try:
        return next(Player(task, Document(text), engine).play(actions), None)
    finally:
        engine.close()


def unanswered(task: Task, status: Status, message: str, text: str = "") -> Played:
    """Every chosen session of a file with one status, for one reason; `text`: of the file, where it could be read."""
    actions = read_actions(task.actions)
    pack = Pack(SourceFile(path=task.path, checksum=actions.checksum, text=text))
    for call in first_calls(actions):
        if task.chooses(call.session):
            pack.add(session_of(task.path, call, status, message))
    return Played(
        path=task.path,
        statuses=pack.statuses,
        packed=pack.close(),
        engine_time=0.0,
        time=0.0,
        error=pack.trouble,
    )
