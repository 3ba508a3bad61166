"""Write logs as Parquet, with one row per suggestion. Needs pyarrow (the extra `ml`)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.logs.features import NAMES
from ci_eval.core.logs.formats import COLUMNS, SCHEMA, LoggedSession, LogOrigin, build_columns

GROUP = 50_000
"""The number of rows in a group. A whole group is held in memory."""
MOST_BYTES = 500_000_000
"""The largest number of bytes that the texts of a column may have in a group."""

TYPES = {
    "text": pa.string(),
    "word": pa.dictionary(pa.int32(), pa.string()),
    "number": pa.int32(),
    "id": pa.int64(),
    "flag": pa.bool_(),
}
ARROW = pa.schema(
    [*((column.name, TYPES[column.type]) for column in COLUMNS), *((name, pa.float32()) for name in NAMES)],
    metadata={"ci-eval": SCHEMA},
)


class TablePart:
    def __init__(self, path: Path, origin: LogOrigin) -> None:
        self._partial, self._path = path.with_name(f"{path.name}.partial"), path
        self._origin = origin
        self._writer = _writer(self._partial)
        self._columns: dict[str, list[object]] = {column.name: [] for column in COLUMNS}
        self._features: list[NDArray[np.float32]] = []

    def add(self, logged: LoggedSession) -> None:
        for query, columns in zip(logged.queries, build_columns(logged, self._origin), strict=True):
            for name, values in columns.items():
                self._columns[name].extend(values)
            self._features.append(query.features)
        if len(self._columns["text"]) >= GROUP:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()
        self._partial.rename(self._path)

    def _flush(self) -> None:
        if not self._features:
            return
        features = np.concatenate(self._features)
        arrays = [pa.array(self._columns[column.name], TYPES[column.type]) for column in COLUMNS]
        arrays += [pa.array(features[:, place]) for place in range(len(NAMES))]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=ARROW))
        self._columns = {column.name: [] for column in COLUMNS}
        self._features = []


def join(parts: Sequence[Path], target: Path) -> None:
    """Join Parquet files in order, with one group of rows in memory at a time."""
    waiting: list[pa.RecordBatch] = []
    with atomic.replacing(target) as partial, _writer(partial) as writer:
        for batch in chain.from_iterable(batches(part, ARROW.names) for part in parts):
            waiting.append(batch)
            if sum(waiting_batch.num_rows for waiting_batch in waiting) >= GROUP:
                writer.write_table(_encode(waiting))
                waiting = []
        if waiting:
            writer.write_table(_encode(waiting))


def _encode(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    table = pa.Table.from_batches(batches)
    columns = [
        column.dictionary_encode() if pa.types.is_dictionary(kind) else column
        for column, kind in zip(table.columns, ARROW.types, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=ARROW)


def batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield these columns of a Parquet file in batches. Raises WorkspaceError if the file is damaged."""
    texts = [column.name for column in COLUMNS if column.type in {"text", "word"}]
    try:
        # Texts are read as dictionaries, since a hostile file may repeat one long text in every row.
        with stored.open_regular_file(path) as raw, pq.ParquetFile(raw, read_dictionary=texts) as file:
            groups = [file.metadata.row_group(group) for group in range(file.num_row_groups)]
            # The sizes in the metadata are checked before anything is unpacked.
            if sum(of.total_byte_size for of in groups) > max(
                stored.ANY_RATIO, stored.RATIO * os.fstat(raw.fileno()).st_size
            ):
                raise ValueError(f"it unpacks to more than {stored.RATIO} times its size")
            if _bare_columns(file.schema_arrow) != _bare_columns(ARROW):
                raise ValueError("it has other columns than were logged")
            for batch in file.iter_batches(GROUP, columns=list(columns)):
                yield pa.RecordBatch.from_arrays(list(map(_decode, batch.columns)), names=batch.schema.names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise WorkspaceError(f"{path} is damaged: {error}; log again") from error


def _bare_columns(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    return [(of.name, of.type.value_type if pa.types.is_dictionary(of.type) else of.type) for of in schema]


def _decode(column: pa.Array) -> pa.Array:
    if column.null_count:
        raise ValueError("some values are missing")
    if not pa.types.is_dictionary(column.type):
        return column
    size = pc.sum(pc.take(pc.binary_length(column.dictionary), column.indices)).as_py() or 0
    if size > MOST_BYTES:
        raise ValueError(f"a column has texts of more than {MOST_BYTES:,} bytes in {GROUP:,} rows")
    return column.dictionary_decode()


def _writer(path: Path) -> pq.ParquetWriter:
    return pq.ParquetWriter(path, ARROW, compression="zstd")
