"""The logs as Parquet: one row per suggestion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ci_eval.core.logs.formats import LogFormat, LogOrigin, LogPart
from ci_eval.core.logs.gather import tables


def write(path: Path, origin: LogOrigin) -> LogPart:
    part: LogPart = tables().TablePart(path, origin)
    return part


def join(parts: Sequence[Path], target: Path) -> None:
    tables().join(parts, target)


FORMAT = LogFormat(
    summary="tables of a row per suggestion, which train-ranker reads; needs the extra `ml`",
    end=".parquet",
    write=write,
    join=join,
    check=tables,
)
