"""Logs of several shards, put together."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.logs.merging import merge
from ci_eval.core.logs.records import digest, verify
from ci_eval.core.model import LogCounts, LogsRecord
from tests.logs.test_records import RECORD
from tests.projects import write


def shard(folder: Path, text: bytes, **kinds: tuple[int, int]) -> tuple[Path, LogsRecord]:
    write(folder, train__jsonl__gz=text)
    rows = sum(rows for rows, _ in kinds.values())
    counts = LogCounts(files=1, sessions=2, selected=1, queries=3, rows=rows, expected=1, kinds=kinds)
    return folder, replace(RECORD, train=counts, files=(digest(folder / "train.jsonl.gz", folder),))


def test_files_are_joined_in_order_and_counts_added_up(tmp_path: Path) -> None:
    parts = [shard(tmp_path / "1", b"one", class_=(2, 1)), shard(tmp_path / "2", b"two", class_=(1, 0), param=(4, 1))]
    record = merge(tmp_path / "all", parts)
    assert (tmp_path / "all" / "train.jsonl.gz").read_bytes() == b"onetwo"
    assert (record.train.sessions, record.train.rows) == (4, 7)
    assert record.train.kinds == {"class_": (3, 1), "param": (4, 1)}
    verify(tmp_path / "all", record)


def test_logs_of_other_columns_or_formats_are_not_merged(tmp_path: Path) -> None:
    first, (folder, second) = shard(tmp_path / "1", b""), shard(tmp_path / "2", b"")
    for changed in (replace(second, schema="other"), replace(second, formats=("parquet",))):
        with pytest.raises(WorkspaceError, match="has logs of other columns or formats than"):
            merge(tmp_path / "all", [first, (folder, changed)])
