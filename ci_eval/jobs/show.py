"""The description of a single session: as it was stored, or as the engine completes it now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ci_eval.ci import Screen
from ci_eval.core import interpret
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.grammar.document import NotText, line_and_column
from ci_eval.core.model import Lookup, Session
from ci_eval.core.tracing import Trace, attach_listener
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import runs
from ci_eval.jobs.preparation import prepare

SHOWN = 15
AROUND = 2


def describe(folder: Path, identity: str) -> Iterator[str]:
    """Yield the lines that describe a stored session. The beginning of its id is enough."""
    source, session = Workspace.open(folder).find_session(identity)
    # A file that could no longer be read is stored without its text.
    line, column = line_and_column(source.text, min(session.offset, len(source.text)))
    known = session.properties
    facts = [
        known.kind.value,
        "argument" if known.is_argument else "",
        "static" if known.is_static else "",
        known.package or "",
        known.strategy or "",
        known.scenario or "",
        known.evolution or "",
    ]
    yield f"session   {session.id}"
    yield f"place     {session.file}:{line + 1}:{column + 1}"
    yield f"expected  {session.expected_text}  ({', '.join(filter(None, facts))})"
    yield from _status("status", session)
    yield ""
    lines = source.text.split("\n")
    for number in range(max(line - AROUND, 0), min(line + AROUND + 1, len(lines))):
        yield f"{number + 1:6} | {lines[number]}"
        if number == line:
            yield f"       | {' ' * column}{'^' * len(session.expected_text)}"
    for lookup in session.lookups:
        yield ""
        yield from _lookup(lookup, session.expected_text, reused=session.reused)


def _status(what: str, session: Session) -> Iterator[str]:
    # Further lines of a message are indented below its first one.
    first, *more_lines = session.message.split("\n")
    yield f"{what:9} {session.status.value}{': ' + first if first else ''}"
    yield from (f"{'':9} {line}" for line in more_lines)


def _lookup(lookup: Lookup, expected: str, *, reused: bool = False) -> Iterator[str]:
    place = f"place {lookup.rank}" if lookup.rank else "absent"
    time = "" if reused else f", {lookup.latency:.1f} ms"
    yield f"prefix {lookup.prefix!r}: {place} of {lookup.total} suggestions{time}"
    if lookup.dropped:
        yield f"        {lookup.dropped} more could not be read"
    for i, suggestion in enumerate(lookup.suggestions, 1):
        is_expected = suggestion.text == expected and not suggestion.tail
        # The expected suggestion is printed at any rank.
        if i <= SHOWN or is_expected:
            mark = "*" if is_expected else " "
            left = f"{suggestion.label} → " if suggestion.label else ""
            yield f" {mark}{i:5}  {left}{suggestion.text}{suggestion.tail}  {suggestion.kind}".rstrip()
    if lookup.total > SHOWN:
        yield f"        … {lookup.total} in all"


def kept_trace(folder: Path, identity: str) -> tuple[str, ...]:
    """Return the messages to and from the engine during the run, a line each; none if they were not stored."""
    return Workspace.open(folder).find_session(identity)[1].trace


def trace(folder: Path, identity: str, screen: Screen, *, trusted: bool, full: bool) -> None:
    """Ask the engine again, and print each message to and from it, then what it completes now. Raises WorkspaceError if
    there are no messages."""
    recorder = Trace(screen.line, full=full)
    with attach_listener(recorder):
        lines = list(replay(folder, identity, screen, trusted=trusted))
    if not recorder.messages:
        engine = runs.stored_config(Workspace.open(folder)).engine
        if engine.endpoint:
            raise WorkspaceError("the answer is kept, so that nothing was sent: with --record the model is asked anew")
        raise WorkspaceError(
            f"no message passed: {engine.name or 'the engine'} answers in ci-eval's own process, or was not asked; "
            "--replay shows its answer"
        )
    screen.result("")
    for line in lines:
        screen.line(line)


def replay(folder: Path, identity: str, screen: Screen, *, trusted: bool) -> Iterator[str]:
    """Ask the engine again, and yield the lines that describe its result. Raises WorkspaceError or ConfigError."""
    workspace = Workspace.open(folder)
    runs.check_single_project(workspace)
    source, session = workspace.find_session(identity)
    config = runs.stored_config(workspace)
    runs.refuse_foreign(workspace, config, trusted=trusted)
    prepared = prepare(config, screen)
    assignment = interpret.Assignment(
        # The caller listens to the messages, so they are not stored with the session again.
        setup=replace(prepared.setup, trace=False),
        actions=workspace.actions_path(source.path),
        path=source.path,
        sessions=1,
        below=1.0,
        only=session.id,
    )
    try:
        again = interpret.replay(assignment)
    except (NotText, OSError, ValueError) as error:
        raise WorkspaceError(
            f"{folder}: {source.path} is not what was evaluated, so that it cannot be replayed: {error}"
        ) from error
    if again is None:
        raise WorkspaceError(f"{folder} has no actions for session {session.id}: it cannot be replayed")
    yield from _status("now", again)
    for lookup in again.lookups:
        yield from _lookup(lookup, again.expected_text)
