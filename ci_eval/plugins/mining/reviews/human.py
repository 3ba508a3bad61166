"""The files in which people give verdicts: tables that every spreadsheet opens."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError
from ci_eval.plugins.mining.record import Line

COLUMNS = ("id", "verdict", "url", "comment")
VERDICTS = ("accept", "reject")
DISAGREE = "disagree"
"""The verdict of reviewers of whom one accepts and one rejects."""
LONGEST = 300
"""Characters of a comment that are shown."""

Rows = dict[str, dict[str, str]]
"""The rows of a table by the ids in them."""


def read(path: Path, verdicts: Collection[str] = VERDICTS) -> Rows:
    """Return the rows of the table by their ids, empty if there is no file yet. Raises ConfigError."""
    if not path.exists():
        return {}
    try:
        # Spreadsheets may write a byte order mark.
        rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{path} cannot be read as a table: {error}; see docs/datasets.md") from error
    for number, row in enumerate(rows, 2):
        if row.get("verdict"):
            row["verdict"] = row["verdict"].strip().lower()
        if not row.get("id") or row.get("verdict") not in {*verdicts, ""}:
            raise ConfigError(
                f"{path}, row {number}: expected an id, and a verdict {', '.join(verdicts)} or nothing; "
                f"found {row.get('id')!r} and {row.get('verdict')!r}"
            )
    return {row["id"]: row for row in rows}


def combine(tables: Sequence[Rows]) -> dict[str, str]:
    """Return the verdict of all reviewers on each sample, by its id.

    accept: all of them accept. reject: none accepts, and one rejects. disagree: one accepts, one rejects. "": one that
    accepts is waiting for another one's verdict, or nobody has decided.
    """
    verdicts: dict[str, str] = {}
    for identity in dict.fromkeys(identity for table in tables for identity in table):
        chosen = {table.get(identity, {}).get("verdict", "") for table in tables}
        if chosen >= {*VERDICTS}:
            verdicts[identity] = DISAGREE
        elif "reject" in chosen:
            verdicts[identity] = "reject"
        else:
            verdicts[identity] = "" if "" in chosen else "accept"
    return verdicts


def pair_verdicts(first: Rows, second: Rows) -> list[tuple[str, str]]:
    """Return the verdicts of two reviewers on everything that both have decided."""
    both = [identity for identity in first if identity in second]
    pairs = [(first[identity]["verdict"], second[identity]["verdict"]) for identity in both]
    return [pair for pair in pairs if all(pair)]


def write(path: Path, rows: Rows, lines: Sequence[Line]) -> int:
    """Add rows for records that have none, without a verdict; returns how many. Raises WorkspaceError."""
    new = [
        {"id": line.id, "url": str(line.meta["url"]), "comment": " ".join(line.references[0].split())[:LONGEST]}
        for line in lines
        if line.id not in rows
    ]
    write_rows(path, COLUMNS, rows.values(), new)
    return len(new)


def write_rows(
    path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, str]], new: Iterable[Mapping[str, str]]
) -> None:
    """Write a table: its rows as they were read, and the new ones below them. Raises WorkspaceError."""
    text = io.StringIO()
    table = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    table.writerows({name: _harmless(cell) for name, cell in row.items()} for row in new)
    atomic.write(path, text.getvalue().encode())


def _harmless(text: str) -> str:
    # Spreadsheets take texts that begin so for formulas.
    return f"'{text}" if text[:1] in {"=", "+", "-", "@"} else text
