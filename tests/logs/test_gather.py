"""On which side of the logs a file is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.logs.formats import TEST, TRAIN, digest, verify
from ci_eval.core.logs.gather import Log, assign_side, merge
from ci_eval.core.model import LogCounts, LogsRecord
from tests.logs.sessions import ORIGIN, logged
from tests.logs.test_formats import RECORD
from tests.projects import write

FILES = [f"src/file{number}.py" for number in range(1000)]


def trained(percent: int, seed: int = 1) -> set[str]:
    return {file for file in FILES if assign_side(file, seed=seed, percent=percent) == TRAIN}


def test_a_larger_share_only_adds_files_and_is_that_share() -> None:
    assert trained(0) == set()
    assert trained(70) < trained(80) < trained(100) == set(FILES)
    assert 650 < len(trained(70)) < 750


def test_another_seed_divides_otherwise() -> None:
    assert trained(50) != trained(50, seed=2)


def test_what_is_kept_for_the_test_is_taken_from_validation_alone() -> None:
    sides = {file: assign_side(file, seed=1, percent=70, test_percent=15) for file in FILES}
    assert {file for file, side in sides.items() if side == TRAIN} == trained(70)
    assert 110 < sum(side == TEST for side in sides.values()) < 190


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
        with pytest.raises(WorkspaceError, match="have other columns or formats than"):
            merge(tmp_path / "all", [first, (folder, changed)])


def test_a_part_is_counted_once_it_is_whole(tmp_path: Path) -> None:
    log = Log(tmp_path, "a.py", ORIGIN, ["jsonl", "jetbrains"])
    log.add(logged(selected=True))
    log.add(logged())
    assert not (tmp_path / "a.py.counts.json").exists()
    log.close()
    counts = json.loads((tmp_path / "a.py.counts.json").read_text())
    assert [counts[name] for name in ("sessions", "selected", "queries", "rows", "expected")] == [2, 1, 4, 8, 2]
    assert counts["kinds"] == {"function": [4, 0], "variable": [4, 2]}
    assert len(list(tmp_path.iterdir())) == 3
