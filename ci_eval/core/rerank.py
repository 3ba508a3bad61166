"""Reordering of stored suggestions by another completion type, without asking the engine again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.contracts import CaretContext, FileContext, Ordering, Ranker, Task
from ci_eval.core.grammar.document import Document
from ci_eval.core.model import CallCompletion, DeleteRange, Lookup, MoveCaret, PrintText, Session, SourceFile
from ci_eval.core.model.sessions import count_keys
from ci_eval.core.workspace import Workspace, iterate_actions, pack_sessions


class NewOrder(msgspec.Struct, frozen=True, kw_only=True):
    task: Task
    ranker: Ranker
    keywords: frozenset[str]
    taken_wherever: bool
    """True if a session ends at the first lookup that offers the expected text, whatever its rank."""
    reused: bool
    """True if the stored times may include the time of an earlier ranker. Such times do not count in metrics."""
    grade: Callable[[Session, str], Session]
    """A function: session, text of its file → the session with the grades of its task."""


def rerank(source: Workspace, target: Workspace, order: NewOrder, *, advance: Callable[[int], None]) -> None:
    """Write the sessions of `source` to `target` with each list in the new order, and call `advance(files_done)` after
    each file. Only stored suggestions, the first `interpret.maxSuggestions` of a list, can change their rank. Raises
    WorkspaceError if the ranker needs names that are missing, or if actions do not fit their file."""
    if source.names_path.is_file():
        atomic.copy(source.names_path, target.names_path)
    elif order.ranker.needs_names:
        raise WorkspaceError(
            f"{source.folder} has no names.npz, which {order.ranker.name} needs: evaluate again; if the workspace "
            "was merged from several projects, rerank the workspace of each project"
        )
    names = target.names_path if order.ranker.needs_names else None
    for number, (file, sessions) in enumerate(source.sessions(Session), 1):
        context = FileContext(path=file.path, text=file.text, keywords=order.keywords, names=names)
        moved = _rerank_sessions(file, sessions, order, order.ranker.open(context), source.actions_path(file.path))
        target.write_sessions(file.path, pack_sessions(file, moved))
        advance(number)


Asked = tuple[str, Document, int]
"""The id of a session, and the document and the length of the typed word at its first lookup."""


def _replay_lookups(file: SourceFile, actions: Path) -> Iterator[Asked]:
    """Yield each session. Raises WorkspaceError if the actions do not fit the file."""
    document, last = Document(file.text), ""
    try:
        # `strategy.evolution` may change the text before a session, so the actions are replayed to find the text.
        for action in iterate_actions(actions):
            match action:
                case MoveCaret() | DeleteRange() | PrintText():
                    document.apply(action)
                case CallCompletion() if action.session != last:
                    last = action.session
                    yield last, document, len(action.prefix)
    except ValueError as error:
        raise WorkspaceError(f"{actions} does not fit {file.path}: {error}; evaluate again") from error


def _rerank_sessions(
    file: SourceFile, sessions: Iterable[Session], order: NewOrder, ordering: Ordering, actions: Path
) -> Iterator[Session]:
    replayed = _replay_lookups(file, actions)
    for session in sessions:
        lookups: list[Lookup] = []
        if session.lookups:
            # Sessions and actions have the same order, so the search goes on where it stopped for the last session.
            first_lookup = next(((document, typed) for asked, document, typed in replayed if asked == session.id), None)
            if first_lookup is None:
                raise WorkspaceError(f"{file.path} has no actions for session {session.id[:100]}: evaluate again")
            document, typed = first_lookup
            before, after = document.text[: document.caret - typed], document.text[document.caret :]
            for query, lookup in enumerate(session.lookups):
                shown = list(lookup.suggestions)
                if not shown:
                    lookups.append(lookup)
                    continue
                # Suggestions have a position only if a ranker changed their order: restore the engine's order.
                if shown[0].position is not None:
                    shown.sort(key=lambda suggestion: suggestion.position or 0)
                    shown = [replace(suggestion, position=None) for suggestion in shown]
                prefix = lookup.prefix
                caret = CaretContext(path=file.path, before=before, prefix=prefix, query=query, after=after)
                started = time.perf_counter()
                ordered = ordering(shown, caret)
                ranking = (time.perf_counter() - started) * 1000
                rank = order.task.rank(session.expected_text, prefix, ordered)
                if rank is None:
                    rank = lookup.rank  # the expected text is beyond the stored suggestions, so its rank stays
                highlighted = lookup.highlighted
                if ordered is not shown:
                    # Several suggestions may be equal, so they are told apart by identity.
                    positions = {id(suggestion): position for position, suggestion in enumerate(shown, 1)}
                    ordered = [replace(suggestion, position=positions[id(suggestion)]) for suggestion in ordered]
                    # The highlighted index refers to the client's order, so in the new order the first is highlighted.
                    highlighted = 0
                left = len(session.expected_text) - len(prefix)
                lookups.append(
                    replace(
                        lookup,
                        suggestions=tuple(ordered),
                        rank=rank,
                        highlighted=highlighted,
                        selected=rank is not None and (order.taken_wherever or count_keys(rank, highlighted) < left),
                        latency=round(lookup.latency + ranking, 3),
                    )
                )
        graded = order.grade(replace(session, lookups=tuple(lookups)), file.text)
        yield replace(graded, reused=session.reused or order.reused)
