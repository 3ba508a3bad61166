"""Dealing files to shards: all of them, evenly, and the same tomorrow."""

from __future__ import annotations

import pytest

from ci_eval.errors import ConfigError
from ci_eval.shards import BIG, Shard, deal

FILES = {f"src/file{i}.py": (i * 37) % 900 + 1 for i in range(400)}


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "a/b", "-1/2", "1/2/3", ""])
def test_a_shard_is_one_of_so_many(text: str) -> None:
    with pytest.raises(ConfigError, match="2/4"):
        Shard.parse(text)


def test_every_file_is_dealt_once_and_the_load_is_even() -> None:
    dealt = deal(FILES, 4)
    assert dealt.keys() == FILES.keys()
    loads = [sum(FILES[path] for path, shard in dealt.items() if shard == index) for index in range(1, 5)]
    assert max(loads) < 1.3 * min(loads)


def test_a_new_file_moves_no_other() -> None:
    before = deal(FILES, 7)
    after = deal({**FILES, "src/new.py": 500}, 7)
    assert {path: after[path] for path in FILES} == before


def test_big_files_go_where_least_is() -> None:
    big = {f"big{i}": BIG * (4 - i) for i in range(4)}
    assert deal(big, 2) == {"big0": 1, "big1": 2, "big2": 2, "big3": 1}
