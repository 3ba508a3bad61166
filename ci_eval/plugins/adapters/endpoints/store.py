"""Files that several processes share: stored answers, the budget of a command, and slots for concurrent questions.

A stored answer consists of the request in canonical form, the SHA-256 of that form as its key, and the reply as JSON.
The request does not contain the API key.
"""

from __future__ import annotations

import fcntl
import hashlib
import math
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import msgspec

from ci_eval.core.base.errors import BudgetSpent, ConfigError, EngineMisbehaved, PreparationError
from ci_eval.core.model.settings import BudgetConfig, PriceConfig
from ci_eval.plugins.adapters.endpoints.messages import Reply

LOCK_SECONDS = 60.0


class Database:
    """A table in an SQLite file. A killed process leaves no partial row."""

    def __init__(self, path: Path, table: str) -> None:
        """`table`: the name and the columns, as in `CREATE TABLE`. Raises PreparationError."""
        # Threads share the connection (`check_same_thread=False`), so a lock serialises its use.
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # `isolation_level=None` turns off sqlite3's own transactions, which would hold a lock after a SELECT.
            self._connection = sqlite3.connect(
                path, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False
            )
            weakref.finalize(self, self._connection.close)
            with self.using() as connection:
                # With a write-ahead log, readers do not wait for the process that writes (https://sqlite.org/wal.html).
                connection.execute("PRAGMA journal_mode = WAL")
                # A crash of the machine may then lose the last rows, but never damages the file.
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")
        except (OSError, sqlite3.Error) as error:
            raise PreparationError(f"cannot use {path}: {error}; remove the file, or set CI_EVAL_CACHE") from error

    @contextmanager
    def using(self) -> Iterator[sqlite3.Cursor]:
        with self._lock, closing(self._connection.cursor()) as cursor:
            yield cursor

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Cursor]:
        """Open a transaction, during which no other process can write. An exception rolls it back."""
        with self.using() as cursor:
            # A plain BEGIN would take the lock only at the first write. Rows that were read before could then change.
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


class Request(msgspec.Struct, frozen=True, kw_only=True):
    address: str
    body: dict[str, Any]
    repeat: int = 0

    @property
    def canonical(self) -> str:
        return msgspec.json.encode(self, order="sorted").decode()

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.canonical.encode()).hexdigest()


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    request: Request
    reply: Reply
    asked: str
    """The time of the request, in UTC."""


def _row(request: Request, reply: Reply, asked: str) -> tuple[str, ...]:
    return request.digest, request.canonical, msgspec.json.encode(reply).decode(), asked


class Answers(Database):
    """The stored answers in a file. Threads and processes may share it."""

    def __init__(self, path: Path) -> None:
        columns = "key TEXT PRIMARY KEY, request TEXT NOT NULL, reply TEXT NOT NULL, asked TEXT NOT NULL"
        super().__init__(path, f"answers ({columns})")

    def find(self, request: Request) -> Reply | None:
        with self.using() as cursor:
            row = cursor.execute("SELECT reply FROM answers WHERE key = ?", (request.digest,)).fetchone()
        return msgspec.json.decode(row[0], type=Reply) if row else None

    def keep(self, request: Request, reply: Reply, asked: str) -> None:
        with self.using() as cursor:
            cursor.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", _row(request, reply, asked))

    def export_lines(self) -> Iterator[bytes]:
        """Yield a line of JSON per answer in the order of keys, so that the same answers give the same lines."""
        with self.using() as cursor:
            for request, reply, asked in cursor.execute("SELECT request, reply, asked FROM answers ORDER BY key"):
                stored = msgspec.json.decode(request, type=Request), msgspec.json.decode(reply, type=Reply)
                yield msgspec.json.encode(Kept(request=stored[0], reply=stored[1], asked=asked)) + b"\n"

    def take(self, lines: Iterable[bytes], source: str) -> int:
        """Add answers and return how many were new. Raises ConfigError, and adds none, if a line is not an answer."""
        added = 0
        with self.changing() as cursor:
            for number, line in enumerate(lines, 1):
                try:
                    kept = msgspec.json.decode(line, type=Kept)
                # JSON that is nested too deeply raises a RecursionError.
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                    raise ConfigError(
                        f"{source}, line {number} is not a stored answer ({error}); expected a file that `ci-eval "
                        "answers export` wrote"
                    ) from error
                row = _row(kept.request, kept.reply, kept.asked)
                # A stored answer is not replaced, since earlier runs used it.
                cursor.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", row)
                added += cursor.rowcount
        return added


def compute_cost(reply: Reply, price: PriceConfig) -> float | None:
    """Return the cost, or None if the tokens or the prices are unknown."""
    if not (price.input or price.output) or reply.prompt_tokens is None or reply.answer_tokens is None:
        return None
    cached, thought = min(reply.cached_tokens or 0, reply.prompt_tokens), reply.thought_tokens or 0
    of_cached = price.input if price.cached is None else price.cached
    of_thoughts = price.output if price.thoughts is None else price.thoughts
    asked = (reply.prompt_tokens - cached) * price.input + cached * of_cached
    answered = (reply.answer_tokens - thought) * price.output + thought * of_thoughts
    return (asked + answered) / 1e6


class Ledger(Database):
    """The budget of a command. Requests are booked before they are sent, tokens and money after the answer."""

    def __init__(self, path: Path, command: str, budget: BudgetConfig, price: PriceConfig) -> None:
        """`command`: an id that all worker processes of one command share."""
        columns = "command TEXT PRIMARY KEY, began REAL, requests INTEGER, tokens INTEGER, money REAL"
        super().__init__(path, f"spent ({columns}) WITHOUT ROWID")
        self._command = command
        self._budget = budget
        self._price = price
        with self.using() as cursor:
            # All workers of a command share the row. Its time is the start of the first worker.
            cursor.execute("INSERT OR IGNORE INTO spent VALUES (?, ?, 0, 0, 0)", (command, time.time()))
            cursor.execute("CREATE TABLE IF NOT EXISTS ended (command TEXT PRIMARY KEY, reason TEXT)")

    def reserve(self) -> None:
        """Book a request. Raises BudgetSpent if the budget allows none."""
        with self.changing() as cursor:
            if ended := cursor.execute("SELECT reason FROM ended WHERE command = ?", (self._command,)).fetchone():
                raise BudgetSpent(f"the endpoint was not asked, since an earlier question failed: {ended[0]}")
            row = "SELECT began, requests, tokens, money FROM spent WHERE command = ?"
            began, requests, tokens, money = cursor.execute(row, (self._command,)).fetchone()
            budget = self._budget
            # All is done in one transaction, so that two processes cannot both take the last request.
            for what, spent, limit in (
                ("seconds", time.time() - began, budget.seconds),
                ("requests", requests, budget.requests),
                # Questions under way have booked no tokens yet, so up to `concurrency` of them may exceed the budget.
                ("tokens", tokens, budget.tokens),
                ("money", money, budget.money),
            ):
                if limit is not None and spent >= limit:
                    raise BudgetSpent(
                        f"the budget is spent: {spent:,.6g} of engine.budget.{what}: {limit:,.6g}; ci-eval has stored "
                        "the answers so far, so a run with a larger budget continues from here"
                    )
            cursor.execute("UPDATE spent SET requests = requests + 1 WHERE command = ?", (self._command,))

    def end(self, reason: str) -> None:
        with self.using() as cursor:
            cursor.execute("INSERT OR IGNORE INTO ended VALUES (?, ?)", (self._command, reason))

    def book(self, reply: Reply) -> None:
        tokens = (reply.prompt_tokens or 0) + (reply.answer_tokens or 0)
        with self.using() as cursor:
            cursor.execute(
                "UPDATE spent SET tokens = tokens + ?, money = money + ? WHERE command = ?",
                (tokens, compute_cost(reply, self._price) or 0.0, self._command),
            )

    def check(self, reply: Reply) -> None:
        """Raise EngineMisbehaved if the budget needs counts that the endpoint does not send."""
        counted = reply.prompt_tokens is not None and reply.answer_tokens is not None
        if not counted and (self._budget.tokens is not None or self._budget.money is not None):
            raise EngineMisbehaved(
                "the endpoint does not report its tokens, so a budget of `tokens` or `money` cannot be enforced; "
                "use `requests` or `seconds` instead",
                restart=False,
            )

    def left(self) -> float:
        """Return the seconds of the budget that are left, or infinity if the budget has no limit of seconds."""
        if self._budget.seconds is None:
            return math.inf
        with self.using() as cursor:
            row = cursor.execute("SELECT began FROM spent WHERE command = ?", (self._command,)).fetchone()
        return float(row[0]) + self._budget.seconds - time.time()


PAUSE_SECONDS = 0.01


class Slots:
    """Files that processes lock, one for each question under way. The kernel unlocks them when a process ends."""

    def __init__(self, folder: Path, address: str, count: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(address.encode()).hexdigest()[:16]
        self._paths = [folder / f"{name}.{number}" for number in range(count)]
        # The number of threads of this process that look for an unlocked file is at most the number of files.
        self._threads = threading.Semaphore(count)

    @contextmanager
    def one(self) -> Iterator[None]:
        with self._threads:
            for path in cycle(self._paths):
                # The mode "ab" does not truncate the file. Closing the file unlocks it.
                with path.open("ab") as file:
                    try:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        # flock can wait for one file, but not until any of several files is free.
                        time.sleep(PAUSE_SECONDS / len(self._paths))
                        continue
                    yield
                    return
