"""The merging of logs of several shards or projects into the logs that they would have been together."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.logs import formats as log_formats
from ci_eval.core.logs.columns import describe_columns
from ci_eval.core.logs.records import check, digest
from ci_eval.core.model import LogCounts, LogsRecord


def merge(target: Path, sources: Sequence[tuple[Path, LogsRecord]]) -> LogsRecord:
    """Write the merged logs to `target`, in order of the sources. Raises WorkspaceError if they do not fit together."""
    first = sources[0][1]
    for folder, record in sources:
        check(record, folder)
        if (record.schema, record.formats) != (first.schema, first.formats):
            raise WorkspaceError(f"{folder} has logs of other columns or formats than {sources[0][0]}")
    names = dict.fromkeys(file.path for _, record in sources for file in record.files)
    for form in map(log_formats.CATALOG.load, first.formats):
        for name in (name for name in names if fnmatchcase(name, form.files or f"*{form.end}")):
            parts = [folder / name for folder, _ in sources if (folder / name).is_file()]
            with atomic.writing(target / name):
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                form.join(parts, target / name)
    atomic.write(target / "schema.json", describe_columns())
    record = replace(
        first,
        train=_sum([source.train for _, source in sources]),
        validation=_sum([source.validation for _, source in sources]),
        test=_sum([source.test for _, source in sources if source.test]) if first.test else None,
        files=tuple(digest(path, target) for path in sorted(target.rglob("*")) if path.is_file()),
    )
    atomic.write(target / "manifest.json", msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
    return record


def _sum(counts: Sequence[LogCounts]) -> LogCounts:
    kinds: dict[str, tuple[int, int]] = {}
    for count in counts:
        for kind, (rows, expected) in count.kinds.items():
            before = kinds.get(kind, (0, 0))
            kinds[kind] = (before[0] + rows, before[1] + expected)
    return LogCounts(
        files=sum(count.files for count in counts),
        sessions=sum(count.sessions for count in counts),
        selected=sum(count.selected for count in counts),
        queries=sum(count.queries for count in counts),
        rows=sum(count.rows for count in counts),
        expected=sum(count.expected for count in counts),
        kinds={kind: kinds[kind] for kind in sorted(kinds)},
    )
