"""Describes a single session: as it was stored, or as the engine answers it now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ci_eval.adapters.tracing import Trace, heard_by
from ci_eval.ci import Screen
from ci_eval.config import EngineConfig
from ci_eval.errors import WorkspaceError
from ci_eval.grammar.document import NotText, line_and_column
from ci_eval.jobs import runs
from ci_eval.jobs import trust as trusting
from ci_eval.jobs.preparation import prepare
from ci_eval.model import Lookup, Session, SourceFile
from ci_eval.stages import interpret
from ci_eval.workspace import Workspace

SHOWN = 15
"""Suggestions that are listed."""
AROUND = 2
"""Lines of source that are shown before and after."""


def describe(folder: Path, identity: str) -> Iterator[str]:
    """A stored session in words, line by line; the beginning of its id is enough."""
    source, session = Workspace.open(folder).find_session(identity)
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
    yield from _source(source, session, line, column)
    for lookup in session.lookups:
        yield ""
        yield from _lookup(lookup, session.expected_text)


def _status(what: str, session: Session) -> Iterator[str]:
    first, *rest = session.message.split("\n")
    yield f"{what:9} {session.status.value}{': ' + first if first else ''}"
    yield from (f"{'':9} {line}" for line in rest)


def _source(source: SourceFile, session: Session, line: int, column: int) -> Iterator[str]:
    lines = source.text.split("\n")
    for number in range(max(line - AROUND, 0), min(line + AROUND + 1, len(lines))):
        yield f"{number + 1:6} | {lines[number]}"
        if number == line:
            yield f"       | {' ' * column}{'^' * len(session.expected_text)}"


def _lookup(lookup: Lookup, expected: str) -> Iterator[str]:
    place = f"place {lookup.rank}" if lookup.rank else "absent"
    yield f"prefix {lookup.prefix!r}: {place} of {lookup.total} suggestions, {lookup.latency:.1f} ms"
    if lookup.dropped:
        yield f"        {lookup.dropped} more could not be read"
    for i, suggestion in enumerate(lookup.suggestions, 1):
        is_expected = suggestion.text == expected and not suggestion.tail
        if i <= SHOWN or is_expected:
            mark = "*" if is_expected else " "
            left = f"{suggestion.label} → " if suggestion.label else ""
            yield f" {mark}{i:5}  {left}{suggestion.text}{suggestion.tail}  {suggestion.kind}".rstrip()
    if lookup.total > SHOWN:
        yield f"        … {lookup.total} in all"


def kept_trace(folder: Path, identity: str) -> tuple[str, ...]:
    """The messages to and from the engine as they passed in the run, a line each; none where they were not kept."""
    return Workspace.open(folder).find_session(identity)[1].trace


def trace(folder: Path, identity: str, screen: Screen, *, trusted: bool, full: bool) -> None:
    """Ask the engine again; show each message to and from it as it passes, then what it answers now.

    Raises WorkspaceError where there are no messages.
    """
    told = Trace(screen.result, full=full)
    with heard_by(told):
        now = list(replay(folder, identity, screen, trusted=trusted))
    if not told.messages:
        raise WorkspaceError(_silent(runs.stored_config(Workspace.open(folder)).engine))
    screen.result("")
    for line in now:
        screen.result(line)


def _silent(engine: EngineConfig) -> str:
    if engine.endpoint:
        return "the answer is kept, so that nothing was sent: with --record the model is asked anew"
    name = engine.name or "the engine"
    return f"no message passed: {name} answers in ci-eval's own process, or was not asked; --replay shows its answer"


def replay(folder: Path, identity: str, screen: Screen, *, trusted: bool) -> Iterator[str]:
    """Ask the engine again, and describe what it answers now."""
    workspace = Workspace.open(folder)
    runs.of_one_project(workspace)
    source, session = workspace.find_session(identity)
    config = runs.stored_config(workspace)
    trusting.refuse_foreign(workspace, config, trusted=trusted)
    prepared = prepare(config, screen)
    assignment = interpret.Assignment(
        # Whoever asks again listens, too.
        setup=replace(prepared.setup, trace=False),
        actions=workspace.actions_of(source.path),
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
