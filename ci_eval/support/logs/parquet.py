"""Logs as Parquet: one row per suggestion. Needs pyarrow (the extra `ml`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ci_eval.support.features import NAMES
from ci_eval.support.logs.columns import COLUMNS, SCHEMA, Origin, columns_of
from ci_eval.support.logs.queries import LoggedSession

GROUP = 50_000
"""Rows held before they are written."""

TYPES = {"text": pa.string(), "number": pa.int32(), "flag": pa.bool_()}
ARROW = pa.schema(
    [*((each.name, TYPES[each.type]) for each in COLUMNS), *((name, pa.float32()) for name in NAMES)],
    metadata={"ci-eval": SCHEMA},
)


class TablePart:
    """Of one source file."""

    def __init__(self, path: Path, origin: Origin) -> None:
        self._partial, self._path = path.with_name(f"{path.name}.partial"), path
        self._origin = origin
        self._writer = _writer(self._partial)
        self._columns: dict[str, list[object]] = {each.name: [] for each in COLUMNS}
        self._features: list[NDArray[np.float32]] = []

    def add(self, logged: LoggedSession) -> None:
        """See Part."""
        for query, columns in zip(logged.queries, columns_of(logged, self._origin), strict=True):
            for name, values in columns.items():
                self._columns[name].extend(values)
            self._features.append(query.features)
        if len(self._columns["text"]) >= GROUP:
            self._flush()

    def close(self) -> None:
        """See Part."""
        self._flush()
        self._writer.close()
        self._partial.rename(self._path)

    def _flush(self) -> None:
        if not self._features:
            return
        features = np.concatenate(self._features)
        arrays = [pa.array(self._columns[each.name], TYPES[each.type]) for each in COLUMNS]
        arrays += [pa.array(features[:, place]) for place in range(len(NAMES))]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=ARROW))
        self._columns = {each.name: [] for each in COLUMNS}
        self._features = []


def join(parts: Sequence[Path], target: Path) -> None:
    """One after the other; groups of rows go through memory one at a time."""
    partial = target.with_name(f"{target.name}.partial")
    writer = _writer(partial)
    waiting: list[pa.RecordBatch] = []
    for part in parts:
        with pq.ParquetFile(part) as file:
            for batch in file.iter_batches(GROUP):
                waiting.append(batch)
                if sum(each.num_rows for each in waiting) >= GROUP:
                    writer.write_table(pa.Table.from_batches(waiting, ARROW))
                    waiting = []
    if waiting:
        writer.write_table(pa.Table.from_batches(waiting, ARROW))
    writer.close()
    partial.rename(target)


def batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Those columns, some rows at a time; a query's rows may be in two of them."""
    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(GROUP, columns=list(columns))


def schema_of(path: Path) -> str:
    """The digest of the schema it was written with; empty if it is none of ours."""
    metadata = pq.read_schema(path).metadata or {}
    return str(metadata.get(b"ci-eval", b"").decode())


def _writer(path: Path) -> pq.ParquetWriter:
    return pq.ParquetWriter(path, ARROW, compression="zstd")
