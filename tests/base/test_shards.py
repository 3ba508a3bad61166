"""Dealing files to shards: all of them, and evenly."""

from __future__ import annotations

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.base.shards import Shard, deal

FILES = {f"src/file{i}.py": (i * 37) % 900 + 1 for i in range(400)}


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "a/b", "-1/2", "1/2/3", ""])
def test_a_shard_is_one_of_so_many(text: str) -> None:
    with pytest.raises(ConfigError, match="2/4"):
        Shard.parse(text)


SESSIONS = {
    "many files": FILES,
    "one file": {"a.py": 10_000},
    "one large file": {"large.py": 50_000, **FILES},
    "few files": {f"{i}.py": 100 * i for i in range(1, 8)},
    "skewed": {f"{i}.py": 100_000 // (i + 1) for i in range(200)},
}


def loads(sessions: dict[str, int], of: int) -> list[int]:
    dealt = deal(sessions, of)
    return [sum(len(each.get(index, ())) for each in dealt.values()) for index in range(1, of + 1)]


@pytest.mark.parametrize("name", SESSIONS)
@pytest.mark.parametrize("of", [1, 2, 4, 7, 16])
def test_the_fullest_shard_has_at_most_a_tenth_more_than_the_mean(name: str, of: int) -> None:
    found = loads(SESSIONS[name], of)
    assert sum(found) == sum(SESSIONS[name].values())
    assert max(found) <= 1.1 * sum(found) / of


@pytest.mark.parametrize("name", SESSIONS)
def test_every_session_is_dealt_once_in_order_of_the_shards(name: str) -> None:
    for path, shares in deal(SESSIONS[name], 4).items():
        assert list(shares) == sorted(shares)
        assert [place for each in shares.values() for place in each] == list(range(SESSIONS[name][path]))


def test_files_stay_whole_where_that_is_even_enough() -> None:
    assert {len(shares) for shares in deal(FILES, 4).values()} == {1}
    cut = {path for path, shares in deal(SESSIONS["one large file"], 16).items() if len(shares) > 1}
    assert "large.py" in cut
    assert len(cut) < 20


def test_files_without_sessions_and_more_shards_than_sessions_do_no_harm() -> None:
    assert deal({}, 3) == {}
    assert deal({"a.py": 0}, 2) == {"a.py": {1: range(0)}}
    assert sum(loads({"a.py": 3, "b.py": 0}, 8)) == 3
