"""The logs as Parquet: one row per suggestion."""

from __future__ import annotations

from ci_eval.core.logs.formats import LogFormat
from ci_eval.core.logs.gather import tables

FORMAT = LogFormat(
    summary="tables of a row per suggestion, which train-ranker reads; needs the extra `ml`",
    end=".parquet",
    # The module needs pyarrow, so it is imported when it is used.
    write=lambda path, origin: tables().TablePart(path, origin),
    join=lambda parts, target: tables().join(parts, target),
    check=tables,
)
