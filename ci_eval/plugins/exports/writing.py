"""The tables as files, in one of three formats, of which Parquet needs an extra."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType

import msgspec

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.exports.columns import TABLES, Batch, Passes, batches

FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""The beginning of a text that spreadsheets would run as a formula, also behind apostrophes; the last four are the
full-width signs that some of them take for the others (OWASP, CSV Injection)."""


def write(workspace: Workspace, folder: Path, form: str, passes: Passes | None = None) -> dict[Path, int]:
    """Write each table, of the sessions that pass (None: of all), to a file of its own in `folder`.

    Return the files with their numbers of rows. Raises ConfigError (see `check`), and WorkspaceError if a file cannot
    be read or written.
    """
    writer = FORMATS[form]
    written = {}
    for table in TABLES:
        path = folder / f"{table}.{form}"
        partial = path.with_name(f"{path.name}.tmp")
        with atomic.writing(path):
            written[path] = writer(workspace, table, partial, passes)
            partial.replace(path)
    return written


def check(form: str) -> None:
    """Check that the packages that a format needs are installed. Raises ConfigError."""
    if form == "parquet":
        arrow()


def _parquet(workspace: Workspace, table: str, path: Path, passes: Passes | None) -> int:
    rows: int = arrow().write(workspace, table, path, passes)
    return rows


def _jsonl(workspace: Workspace, table: str, path: Path, passes: Passes | None) -> int:
    rows = 0
    with path.open("wb") as file:
        for batch in batches(workspace, table, passes):
            lines = [msgspec.json.encode(dict(zip(batch, row, strict=True))) + b"\n" for row in _rows(batch)]
            file.writelines(lines)
            rows += len(lines)
    return rows


def _csv(workspace: Workspace, table: str, path: Path, passes: Passes | None) -> int:
    rows = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([column.name for column in TABLES[table]])
        for batch in batches(workspace, table, passes):
            for row in _rows(batch):
                writer.writerow(map(_cell, row))
                rows += 1
    return rows


def _rows(batch: Batch) -> Iterator[tuple[object, ...]]:
    return zip(*batch.values(), strict=True)


def _cell(value: object) -> object:
    """Return a value as CSV holds it: null is empty, flags are true and false, lists and grades are JSON.

    A text that would be a formula gets an apostrophe in front; whoever takes one away from texts like `FORMULA` has the
    text again. Numbers are no texts and stay as they are.
    """
    if isinstance(value, str) and FORMULA.match(value):
        return f"'{value}"
    if isinstance(value, bool | dict | tuple):
        return msgspec.json.encode(value).decode()
    return value


FORMATS: Mapping[str, Callable[[Workspace, str, Path, Passes | None], int]] = {
    "parquet": _parquet,
    "jsonl": _jsonl,
    "csv": _csv,
}
"""Name, which is how files end → what writes a table of a workspace, and returns the number of its rows."""


def arrow() -> ModuleType:
    """Return the module that needs pyarrow. Raises ConfigError if it is not installed."""
    try:
        return import_module("ci_eval.plugins.exports.arrow")
    except ImportError as error:
        raise ConfigError(
            f"Arrow tables and Parquet need pyarrow ({error}): pip install pyarrow, or export as jsonl or csv"
        ) from error
