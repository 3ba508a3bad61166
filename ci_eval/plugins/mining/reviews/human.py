"""The file in which people accept or reject samples: a table that every spreadsheet opens."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError
from ci_eval.plugins.mining.record import Line

COLUMNS = ("id", "verdict", "url", "comment")
VERDICTS = frozenset({"accept", "reject", ""})
LONGEST = 300
"""Characters of a comment that are shown."""


def read(path: Path) -> dict[str, dict[str, str]]:
    """Return the rows of the table by the samples' ids, empty if there is no file yet. Raises ConfigError."""
    if not path.exists():
        return {}
    try:
        # Spreadsheets may write a byte order mark.
        rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{path} cannot be read as a table: {error}; see docs/datasets.md") from error
    for number, row in enumerate(rows, 2):
        if not row.get("id") or row.get("verdict") not in VERDICTS:
            raise ConfigError(
                f"{path}, row {number}: expected an id, and a verdict accept, reject or nothing; "
                f"found {row.get('id')!r} and {row.get('verdict')!r}"
            )
    return {row["id"]: row for row in rows}


def write(path: Path, rows: dict[str, dict[str, str]], lines: Sequence[Line]) -> int:
    """Add rows for records that have none, without a verdict; returns how many. Raises WorkspaceError."""
    new = [line for line in lines if line.id not in rows]
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows.values())
    table.writerows({"id": line.id, "verdict": "", "url": line.meta["url"], "comment": _cell(line)} for line in new)
    atomic.write(path, text.getvalue().encode())
    return len(new)


def _cell(line: Line) -> str:
    """Return the comment as one line, cut after LONGEST characters."""
    text = " ".join(line.references[0].split())[:LONGEST]
    # Spreadsheets take texts that begin so for formulas.
    return f"'{text}" if text[:1] in {"=", "+", "-", "@"} else text
