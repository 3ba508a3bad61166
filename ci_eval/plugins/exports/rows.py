"""The rows of the tables, read from a workspace some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ci_eval.core.model import Lookup, Session, Suggestion
from ci_eval.core.text_spans import Lines
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.exports.columns import TABLES, At

BATCH = 20_000
"""Rows that are held at once."""

NO_LOOKUP = Lookup(prefix="", total=0, rank=None, latency=0, suggestions=())
NO_SUGGESTION = Suggestion(text="")

Batch = dict[str, list[object]]
"""Name of the column → its values; all lists are of the same length."""


Passes = Callable[[Session], bool]
"""A function that decides whether a session is exported."""


def batches(workspace: Workspace, table: str, passes: Passes | None = None) -> Iterator[Batch]:
    """Yield the rows of a table, of the sessions that pass (None: of all), in the order of stored files, sessions,
    lookups and ranks.

    Raises WorkspaceError if a stored file is damaged.
    """
    columns = TABLES[table]
    waiting: Batch = {column.name: [] for column in columns}
    cells = [(column.get, waiting[column.name]) for column in columns]
    for row in _rows(workspace, table, passes):
        for get, values in cells:
            values.append(get(row))
        if len(cells[0][1]) >= BATCH:
            # The lists are emptied for the next batch, so the caller gets copies.
            yield {name: list(values) for name, values in waiting.items()}
            for values in waiting.values():
                values.clear()
    if cells[0][1]:
        yield waiting


def _rows(workspace: Workspace, table: str, passes: Passes | None) -> Iterator[At]:
    rows_of = {"sessions": _session, "lookups": _lookups, "suggestions": _suggestions}[table]
    for file, sessions in workspace.sessions(Session):
        lines = Lines(file.text)
        for session in filter(passes, sessions) if passes else sessions:
            yield from rows_of(session, *lines.place(session.offset))


def _session(session: Session, line: int, column: int) -> Iterable[At]:
    return (At(session, line, column, 0, NO_LOOKUP, 0, NO_SUGGESTION),)


def _lookups(session: Session, line: int, column: int) -> Iterable[At]:
    return (
        At(session, line, column, number, lookup, 0, NO_SUGGESTION) for number, lookup in enumerate(session.lookups)
    )


def _suggestions(session: Session, line: int, column: int) -> Iterable[At]:
    return (
        At(session, line, column, number, lookup, place, suggestion)
        for number, lookup in enumerate(session.lookups)
        for place, suggestion in enumerate(lookup.suggestions, 1)
    )
