"""Orders stored suggestions by another completion type, without asking the engine: sessions → sessions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from ci_eval import atomic
from ci_eval.contracts import CaretContext, FileContext, Ordering, Ranker, Task
from ci_eval.errors import WorkspaceError
from ci_eval.grammar.document import Document
from ci_eval.model import (
    Action,
    CallCompletion,
    DeleteRange,
    Lookup,
    MoveCaret,
    PrintText,
    Session,
    SourceFile,
    Suggestion,
)
from ci_eval.model.sessions import keys_to
from ci_eval.workspace import Workspace, pack_sessions, read_actions


@dataclass(frozen=True, kw_only=True)
class NewOrder:
    """What orders the suggestions, and what then becomes of them."""

    task: Task
    ranker: Ranker
    keywords: frozenset[str]
    """Of the language."""
    taken_wherever: bool
    """Whether a session ends at the first lookup that offers the expected text, at whatever rank."""
    grade: Callable[[Session, str], Session]
    """Grades a session of a file with that text as its task asks for it."""


def rerank(source: Workspace, target: Workspace, order: NewOrder, *, advance: Callable[[int], None]) -> None:
    """Write the sessions of `source` into `target`, each list in the new order; calls `advance(files_done)`.

    Only the suggestions that were stored can change their rank: the first `interpret.maxSuggestions` of each list.
    Raises WorkspaceError.
    """
    known = _names(source, target, order.ranker)
    for number, (file, sessions) in enumerate(source.sessions(Session), 1):
        context = FileContext(path=file.path, text=file.text, keywords=order.keywords, names=known)
        asked = _asked(file, source.actions_of(file.path))
        moved = _Reranked(order.task, order.ranker.open(context), file, asked, order.taken_wherever)
        graded = (order.grade(moved.session(session), file.text) for session in sessions)
        target.write_sessions(file.path, pack_sessions(file, graded))
        advance(number)


def _names(source: Workspace, target: Workspace, ranker: Ranker) -> Path | None:
    if source.names_path.is_file():
        atomic.copy(source.names_path, target.names_path)
    elif ranker.needs_names:
        raise WorkspaceError(
            f"{source.folder} has no names.npz, by which {ranker.name} orders: evaluate again; if it was merged of "
            "several projects, give each of their workspaces"
        )
    return target.names_path if ranker.needs_names else None


Asked = tuple[str, str, str]
"""The id of a session, the text before its word, and what stands behind the caret."""


def _asked(file: SourceFile, actions: Path) -> Iterator[Asked]:
    """Each session with the text at the time of its first lookup; evolution may have changed that text."""
    try:
        yield from _played(Document(file.text), read_actions(actions).actions)
    except ValueError as error:
        raise WorkspaceError(f"{actions} does not fit {file.path}: {error}; evaluate again") from error


def _played(document: Document, actions: Sequence[Action]) -> Iterator[Asked]:
    last = ""
    for action in actions:
        match action:
            case MoveCaret() | DeleteRange() | PrintText():
                document.apply(action)
            case CallCompletion() if action.session != last:
                last = action.session
                text, caret = document.text, document.caret
                yield last, text[: caret - len(action.prefix)], text[caret:]


@dataclass(frozen=True)
class _Reranked:
    """Orders the sessions of one file anew, one after the other."""

    task: Task
    order: Ordering
    file: SourceFile
    asked: Iterator[Asked]
    taken_wherever: bool
    """Whether the session ends at the first lookup that offers the expected text, at whatever rank."""

    def session(self, session: Session) -> Session:
        """The session with each list in the new order."""
        if not session.lookups:
            return session
        texts = next(((before, after) for asked, before, after in self.asked if asked == session.id), None)
        if texts is None:
            raise WorkspaceError(f"{self.file.path} has no actions for session {session.id[:100]}: evaluate again")
        lookups = [
            self._lookup(session, lookup, self._caret(lookup.prefix, query, *texts))
            for query, lookup in enumerate(session.lookups)
        ]
        return replace(session, lookups=tuple(lookups))

    def _caret(self, prefix: str, query: int, before: str, after: str) -> CaretContext:
        return CaretContext(path=self.file.path, before=before, prefix=prefix, query=query, after=after)

    def _lookup(self, session: Session, lookup: Lookup, caret: CaretContext) -> Lookup:
        if not lookup.suggestions:
            return lookup
        shown = _as_the_engine_had_them(lookup.suggestions)
        started = time.perf_counter()
        ordered = self.order(shown, caret)
        ranking = (time.perf_counter() - started) * 1000
        rank = self.task.rank(session.expected_text, lookup.prefix, ordered)
        if rank is None:
            rank = lookup.rank  # behind what was stored: it keeps its place
        moved = ordered is not shown
        place = {id(each): position for position, each in enumerate(shown, 1)}
        highlighted = 0 if moved else lookup.highlighted
        left = len(session.expected_text) - len(lookup.prefix)
        return replace(
            lookup,
            suggestions=tuple(replace(each, position=place[id(each)]) for each in ordered) if moved else tuple(shown),
            rank=rank,
            highlighted=highlighted,
            selected=rank is not None and (self.taken_wherever or keys_to(rank, highlighted) < left),
            latency=round(lookup.latency + ranking, 3),
        )


def _as_the_engine_had_them(stored: Sequence[Suggestion]) -> list[Suggestion]:
    if stored[0].position is None:
        return list(stored)
    ordered = sorted(stored, key=lambda each: each.position or 0)
    return [replace(each, position=None) for each in ordered]
