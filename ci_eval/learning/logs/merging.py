"""Logs of several shards or projects → the logs they would have been together."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval import atomic, stored
from ci_eval.errors import WorkspaceError
from ci_eval.learning.logs import lines
from ci_eval.learning.logs.columns import described
from ci_eval.learning.logs.records import check, digest
from ci_eval.learning.logs.writing import tables
from ci_eval.model import LogCounts, LogsRecord

_NUMBERS = re.compile(rb"\D+(\d{1,18})\D+(\d{1,18})\D+(\d{1,18})\s*")


def merge(target: Path, sources: Sequence[tuple[Path, LogsRecord]]) -> LogsRecord:
    """The logs in `target`, in order of the sources. Raises WorkspaceError where they cannot be one."""
    first = sources[0][1]
    for folder, record in sources:
        check(record, folder)
        if (record.schema, record.formats) != (first.schema, first.formats):
            raise WorkspaceError(f"{folder} has logs of other columns or formats than {sources[0][0]}")
    for name in dict.fromkeys(file.path for _, record in sources for file in record.files):
        parts = [folder / name for folder, _ in sources if (folder / name).is_file()]
        with atomic.writing(target / name):
            _join(parts, target / name)
    atomic.write(target / "schema.json", described())
    record = replace(
        first,
        train=_sum([each.train for _, each in sources]),
        validation=_sum([each.validation for _, each in sources]),
        files=tuple(digest(path, target) for path in sorted(target.rglob("*")) if path.is_file()),
    )
    atomic.write(target / "manifest.json", msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
    return record


def _join(parts: Sequence[Path], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix == ".parquet":
        tables().join(parts, target)
    elif target.suffix == ".gz":
        lines.join(parts, target)
    elif target.name == "info":
        counts = [_counts(part) for part in parts]
        rows = (f"{text}: {sum(each)}\n" for text, each in zip(COUNTED, zip(*counts, strict=True), strict=True))
        atomic.write(target, "".join(rows).encode())
    elif target.name not in {"schema.json", "manifest.json"}:
        with target.open("wb") as whole:
            for part in parts:
                with part.open("rb") as file:
                    shutil.copyfileobj(file, whole)


COUNTED = ("All sessions", "Training sessions", "Validate sessions")


def _counts(info: Path) -> list[int]:
    found = _NUMBERS.fullmatch(stored.read(info, stored.MANIFEST))
    if not found:
        raise WorkspaceError(f"{info} is damaged: evaluate again")
    return [int(each) for each in found.groups()]


def _sum(counts: Sequence[LogCounts]) -> LogCounts:
    kinds: dict[str, tuple[int, int]] = {}
    for each in counts:
        for kind, (rows, expected) in each.kinds.items():
            before = kinds.get(kind, (0, 0))
            kinds[kind] = (before[0] + rows, before[1] + expected)
    return LogCounts(
        files=sum(each.files for each in counts),
        sessions=sum(each.sessions for each in counts),
        selected=sum(each.selected for each in counts),
        queries=sum(each.queries for each in counts),
        rows=sum(each.rows for each in counts),
        expected=sum(each.expected for each in counts),
        kinds={kind: kinds[kind] for kind in sorted(kinds)},
    )
