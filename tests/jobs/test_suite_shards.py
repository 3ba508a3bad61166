"""Which projects of a suite a shard evaluates, and what it writes down."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.base.shards import Shard
from ci_eval.core.config import Config
from ci_eval.jobs.suites import NOTE, check_shard, find_shards, is_of, note_shard, read_shard

SUITE = Config(projects=("path:a", "path:b", "path:c"))


@pytest.mark.parametrize("of", [1, 2, 3])
def test_each_project_is_of_one_shard(of: int) -> None:
    for number in range(1, 4):
        assert sum(is_of(number, Shard(index, of)) for index in range(1, of + 1)) == 1


def test_no_shard_is_left_without_a_project() -> None:
    check_shard(SUITE, Shard(3, 3))
    with pytest.raises(ConfigError, match="a suite of 3 projects has 3 shards at most"):
        check_shard(SUITE, Shard(1, 4))


def test_a_folder_of_shards_stands_for_all_in_it(tmp_path: Path) -> None:
    for index in (1, 2):
        note_shard(tmp_path / f"s{index}", SUITE, Shard(index, 2))
    (tmp_path / "other").mkdir()
    assert find_shards([tmp_path]) == [tmp_path / "s1", tmp_path / "s2"]
    assert find_shards([tmp_path / "s2"]) == [tmp_path / "s2"]
    assert find_shards([tmp_path / "other"]) == []


def test_a_folder_keeps_its_shard(tmp_path: Path) -> None:
    note_shard(tmp_path, SUITE, Shard(1, 2))
    note_shard(tmp_path, SUITE, Shard(1, 2))
    with pytest.raises(WorkspaceError, match="another shard"):
        note_shard(tmp_path, SUITE, Shard(2, 2))


def test_a_damaged_note_is_told(tmp_path: Path) -> None:
    (tmp_path / NOTE).write_text("{}")
    with pytest.raises(WorkspaceError):
        read_shard(tmp_path)
