"""The SQLite files that several processes and threads write to."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ci_eval.core.base.errors import PreparationError

PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""


class Database:
    """A table in a file of its own. A process that is killed leaves whole rows."""

    def __init__(self, path: Path, table: str) -> None:
        """Open the file, or create it. `table`: the columns, as `CREATE TABLE` has them. Raises PreparationError."""
        self.path = path
        # With `check_same_thread` off, sqlite3 leaves it to its user that threads take turns.
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Transactions are begun by hand: the module's own way would hold a lock after a SELECT.
            self._connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            weakref.finalize(self, self._connection.close)
            with self.using() as connection:
                # With a write-ahead log, readers do not wait for the process that writes (https://sqlite.org/wal.html).
                connection.execute("PRAGMA journal_mode = WAL")
                # With a write-ahead log, a crash of the machine may cost the last rows, but never the file.
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")
        except (OSError, sqlite3.Error) as error:
            raise PreparationError(f"cannot use {path}: {error}; remove it, or set CI_EVAL_CACHE") from error

    @contextmanager
    def using(self) -> Iterator[sqlite3.Cursor]:
        """Yield a cursor; each statement by itself is written at once."""
        with self._lock, closing(self._connection.cursor()) as cursor:
            yield cursor

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Cursor]:
        """Yield a cursor, while no other process may write; all is undone if an error is raised."""
        with self.using() as cursor:
            # A plain BEGIN would lock at the first write only, after the row was read that decides.
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
            except BaseException:
                cursor.execute("ROLLBACK")
                raise
            cursor.execute("COMMIT")

    def close(self) -> None:
        with self._lock:
            self._connection.close()
