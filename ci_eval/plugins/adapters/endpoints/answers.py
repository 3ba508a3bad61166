"""The store of answers: an endpoint is not asked again for a request that it has answered.

A row is a request in its canonical form (with the number of its repeat), its SHA-256 as the key, and the reply as JSON.
Keys of endpoints are no part of a request.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ci_eval.core.base.errors import ConfigError
from ci_eval.plugins.adapters.endpoints.contract import Reply
from ci_eval.plugins.adapters.endpoints.database import Database

TABLE = "answers (key TEXT PRIMARY KEY, request TEXT NOT NULL, reply TEXT NOT NULL, asked TEXT NOT NULL)"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request to an address; a repeat of the same question is another request."""

    address: str
    body: dict[str, Any]
    repeat: int = 0

    @property
    def canonical(self) -> str:
        """Return the same text for all ways to write the request down."""
        return msgspec.json.encode(self, order="sorted").decode()


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A line of an export, with a stored answer."""

    request: Request
    reply: Reply
    asked: str
    """The time of the question, in UTC."""


def hash_request(canonical: str) -> str:
    """Return the SHA-256 (hex) of a canonical request."""
    return hashlib.sha256(canonical.encode()).hexdigest()


class Answers:
    """The store, in one file; threads and processes may share it."""

    def __init__(self, path: Path) -> None:
        """Open the store, or create it. Raises PreparationError."""
        self._database = Database(path, TABLE)

    def find(self, request: Request) -> Reply | None:
        """Return the answer to a request, or None if there is none."""
        with self._database.using() as cursor:
            row = cursor.execute(
                "SELECT reply FROM answers WHERE key = ?", (hash_request(request.canonical),)
            ).fetchone()
        return msgspec.json.decode(row[0], type=Reply) if row else None

    def keep(self, request: Request, reply: Reply, asked: str) -> None:
        """Store an answer in place of an earlier one."""
        canonical = request.canonical
        row = (hash_request(canonical), canonical, msgspec.json.encode(reply).decode(), asked)
        with self._database.using() as cursor:
            cursor.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", row)

    def export_lines(self) -> Iterator[bytes]:
        """Yield a line per answer, in the order of keys: the same answers give the same lines."""
        with self._database.using() as cursor:
            for request, reply, asked in cursor.execute("SELECT request, reply, asked FROM answers ORDER BY key"):
                kept = Kept(
                    request=msgspec.json.decode(request, type=Request),
                    reply=msgspec.json.decode(reply, type=Reply),
                    asked=asked,
                )
                yield msgspec.json.encode(kept) + b"\n"

    def take(self, lines: Iterable[bytes], source: str) -> int:
        """Add the answers of an export to requests that have none yet; all or none. Returns the number of added
        answers.

        Raises ConfigError if a line is no stored answer.
        """
        added = 0
        with self._database.changing() as cursor:
            for number, line in enumerate(lines, 1):
                kept = _read(line, f"{source}, line {number}")
                canonical = kept.request.canonical
                row = (hash_request(canonical), canonical, msgspec.json.encode(kept.reply).decode(), kept.asked)
                # An answer that is there stays, since earlier runs were made from it.
                cursor.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", row)
                added += cursor.rowcount
        return added

    def matching(self, text: str) -> Iterator[tuple[str, str, Reply]]:
        """Yield the key, the time and the reply of each answer whose key begins with the text, or whose question or
        reply holds it."""
        with self._database.using() as cursor:
            # All rows at once, so that the database is not locked while the caller works through them.
            rows = cursor.execute("SELECT key, request, reply, asked FROM answers ORDER BY asked, key").fetchall()
        for key, request, stored, asked in rows:
            reply = msgspec.json.decode(stored, type=Reply)
            question = "\n".join(_texts(msgspec.json.decode(request)))
            if key.startswith(text.lower()) or any(text in part for part in (question, reply.text, reply.refused)):
                yield key, asked, reply

    def drop(self, keys: Iterable[str]) -> None:
        """Remove the answers with these keys: their questions are asked again."""
        with self._database.changing() as cursor:
            cursor.executemany("DELETE FROM answers WHERE key = ?", [(key,) for key in keys])

    def count(self) -> int:
        """Return the number of stored answers."""
        with self._database.using() as cursor:
            return int(cursor.execute("SELECT count(*) FROM answers").fetchone()[0])

    def close(self) -> None:
        self._database.close()


def build_request(address: str, body: Mapping[str, Any], repeat: int) -> Request:
    """Return the request for that body."""
    return Request(address=address, body=dict(body), repeat=repeat)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a request, as they were before they became JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _read(line: bytes, source: str) -> Kept:
    try:
        return msgspec.json.decode(line, type=Kept)
    # JSON that is nested too deeply raises a RecursionError.
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(
            f"{source} is no stored answer ({error}); a file such as `ci-eval answers export` writes is expected"
        ) from error
