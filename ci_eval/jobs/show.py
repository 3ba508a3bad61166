"""The jobs that describe a session, as it was stored or as the engine completes it now, or the misses of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import compare, interpret
from ci_eval.core.base.errors import NothingToEvaluate, WorkspaceError
from ci_eval.core.catalogs import languages
from ci_eval.core.config.loading import View
from ci_eval.core.grammar.document import NotText, line_and_column
from ci_eval.core.model import Lookup, Session, SessionScore
from ci_eval.core.model.report import Causes
from ci_eval.core.report.causes import find_causes, read_ranks
from ci_eval.core.scoring import evaluated
from ci_eval.core.tracing import Trace, attach_listener
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import runs
from ci_eval.jobs.comparison_rules import load_metrics
from ci_eval.jobs.preparation import prepare
from ci_eval.rendering import reporters

SHOWN = 15
AROUND = 2


def describe(folder: Path, identity: str) -> Iterator[str]:
    """Yield lines about a stored session. `identity` is its id, or the beginning of its id."""
    source, session = Workspace.open(folder).find_session(identity)
    # The stored text is empty if the file could no longer be read.
    line, column = line_and_column(source.text, min(session.offset, len(source.text)))
    known = session.properties
    flags = ("argument" if known.is_argument else "", "static" if known.is_static else "")
    facts = (known.kind.value, *flags, known.package, known.strategy, known.scenario, known.evolution)
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


def trace(folder: Path, identity: str, screen: Screen, *, trusted: bool, full: bool, again: bool) -> None:
    """Print the stored messages of a session. With `full` or `again`, or if no messages are stored, repeat the session
    and print its new messages. Raises WorkspaceError without messages."""
    stored = () if full or again else Workspace.open(folder).find_session(identity)[1].trace
    for line in stored:
        screen.line(line)
    if stored:
        return
    recorder = Trace(screen.line, full=full)
    with attach_listener(recorder):
        lines = list(replay(folder, identity, screen, trusted=trusted))
    if not recorder.messages:
        engine = runs.stored_config(Workspace.open(folder)).engine
        if engine.endpoint:
            raise WorkspaceError("the answer was stored, so nothing was sent: --record asks the model again")
        raise WorkspaceError(
            f"no message was sent: {engine.name or 'the engine'} answers in ci-eval's own process, or was not asked; "
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
    # The caller listens to the messages, so they need not be stored.
    setup = replace(prepared.setup, settings=replace(prepared.config.interpret, trace=False))
    assignment = runs.assign(setup, workspace, source.path, {session.id})
    try:
        again = interpret.replay(assignment)
    except (NotText, OSError, ValueError) as error:
        raise WorkspaceError(
            f"{folder}: {source.path} cannot be read as it was evaluated, so the session cannot be replayed: {error}"
        ) from error
    if again is None:
        raise WorkspaceError(f"{folder} has no actions for session {session.id}: it cannot be replayed")
    yield from _status("now", again)
    for lookup in again.lookups:
        yield from _lookup(lookup, again.expected_text)


def list_causes(
    folder: Path, *, base: Path | None, others: Sequence[Path], output: Path | None, view: View
) -> tuple[Causes, dict[str, Path]]:
    """Find the clusters of misses, or of losses against `base`. Return them and, by reporter, the file to open first.
    `others` are workspaces with the same sessions. Raises WorkspaceError or NothingToEvaluate."""
    workspace = _open(folder)
    manifest, config = workspace.manifest(), runs.stored_config(workspace, view)
    if "RecallAt1" not in {metric.info.name for metric in load_metrics(config) if metric.of in manifest.figures}:
        raise NothingToEvaluate(
            f"{folder}: the task {manifest.task} has no RecallAt1, so there are no ranks to explain"
        )
    filters = config.report_filters
    asked = (session for _, sessions in workspace.sessions(SessionScore) for session in sessions if evaluated(session))
    weights = list(map(filters.leading.passes, asked))
    if not weights:
        raise NothingToEvaluate(f"{folder} has no session that was asked, so there is no miss to explain")
    own = read_ranks(workspace)
    titles, compared = {workspace: view.title or manifest.title}, {}
    for other in (*others, *([base] if base else [])):
        paired = _open(other)
        ranks = read_ranks(paired)
        if ranks.keys().isdisjoint(own):
            raise WorkspaceError(
                f"{other} has none of the sessions of {folder}: evaluate the same project with the same seed and "
                "strategy"
            )
        titles[paired] = paired.manifest().title
        compared[other] = paired, ranks
    names = compare.name_sides(titles)
    named = {other: (names[paired], ranks) for other, (paired, ranks) in compared.items()}
    causes = find_causes(
        workspace,
        languages.CATALOG.load(manifest.language) if manifest.language in languages.CATALOG.names() else None,
        (filters if any(weights) else filters.led_by_all()).leading,
        title=names[workspace],
        others=dict(named[other] for other in others),
        base=named[base] if base else None,
    )
    return causes, reporters.write(causes, None, output or folder / "reports")


def _open(folder: Path) -> Workspace:
    workspace = Workspace.open(folder)
    if workspace.manifest().digests:
        workspace.verify()
    return workspace
