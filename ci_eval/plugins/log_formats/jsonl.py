"""The logs as gzipped lines of JSON: one per query, with everything that was displayed."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ci_eval.core.logs.features import NAMES
from ci_eval.core.logs.formats import LogFormat, LoggedSession, LogOrigin, build_columns, join_bytes

OF_ROWS = ("place", "text", "candidate", "expected", "selected")


class LinesPart:
    def __init__(self, path: Path, origin: LogOrigin) -> None:
        self._partial, self._path = path.with_name(f"{path.name}.partial"), path
        self._origin = origin
        # Without a time in the file, the same sessions have the same bytes.
        self._file = gzip.GzipFile(self._partial, "wb", compresslevel=1, mtime=0)

    def add(self, logged: LoggedSession) -> None:
        for query, columns in zip(logged.queries, build_columns(logged, self._origin), strict=True):
            if not query.suggestions:
                continue
            line: dict[str, object] = {name: values[0] for name, values in columns.items() if name not in OF_ROWS}
            # Missing features are NaN, which msgspec writes as null.
            line["suggestions"] = [
                dict(zip(OF_ROWS, values, strict=True)) | {"features": dict(zip(NAMES, row, strict=True))}
                for *values, row in zip(*(columns[name] for name in OF_ROWS), query.features.tolist(), strict=True)
            ]
            self._file.write(msgspec.json.encode(line) + b"\n")

    def close(self) -> None:
        self._file.close()
        self._partial.rename(self._path)


def join(parts: Sequence[Path], target: Path) -> None:
    # An empty file would not be a gzip file.
    join_bytes(parts, target, gzip.compress(b"", mtime=0))


FORMAT = LogFormat(
    summary="lines of JSON, one per query with all its suggestions", end=".jsonl.gz", write=LinesPart, join=join
)
