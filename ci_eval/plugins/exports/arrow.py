"""The export of a run's tables as Arrow tables and Parquet files. Needs pyarrow (the extra `ml`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ci_eval.core.workspace import Workspace
from ci_eval.plugins.exports.tables import TABLES, Passes, Type, batches

TYPES: dict[Type, pa.DataType] = {
    "text": pa.string(),
    "word": pa.dictionary(pa.int32(), pa.string()),
    "integer": pa.int32(),
    "number": pa.float64(),
    "flag": pa.bool_(),
    "numbers": pa.list_(pa.float64()),
    "grades": pa.map_(pa.string(), pa.float64()),
}


def make_schema(table: str) -> pa.Schema:
    return pa.schema(
        [pa.field(column.name, TYPES[column.type], metadata={"meaning": column.meaning}) for column in TABLES[table]]
    )


def build_arrow_table(workspace: Workspace, table: str) -> pa.Table:
    # Each batch has its own dictionaries for columns of words; the table needs common ones.
    return pa.Table.from_batches(_batches(workspace, table), make_schema(table)).unify_dictionaries()


def write(workspace: Workspace, table: str, path: Path, passes: Passes | None = None) -> int:
    """Write the table's rows to a Parquet file, for the sessions that `passes` accepts. Return the number of rows."""
    rows = 0
    with pq.ParquetWriter(path, make_schema(table), compression="zstd") as writer:
        for batch in _batches(workspace, table, passes):
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def _batches(workspace: Workspace, table: str, passes: Passes | None = None) -> Iterator[pa.RecordBatch]:
    schema = make_schema(table)
    for batch in batches(workspace, table, passes):
        arrays = []
        for column in schema:
            values = batch[column.name]
            if pa.types.is_map(column.type):
                # pyarrow builds maps from lists of pairs, not from dictionaries.
                values = [list(value.items()) if isinstance(value, dict) else value for value in values]
            arrays.append(pa.array(values, column.type))
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
