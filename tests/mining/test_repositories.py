"""Repositories are searched at GitHub by language, stars, forks and licence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ci_eval.plugins.mining import repositories
from ci_eval.plugins.mining.repositories import Criteria, Search, newest_spec
from ci_eval.plugins.mining.reviews.api import Api
from tests.mining.reviews.github import HEAD, GitHub, serve


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serve(GitHub()) as known:
        yield known


def search(github: GitHub, **criteria: Any) -> Search:
    return Search(Api("", github.address), Criteria(language="Go", **criteria))


def names(search: Search, limit: int = 10_000) -> list[str]:
    return [item["full_name"] for item in search.names(limit)]


def test_those_with_most_stars_come_first_and_what_does_not_fit_is_counted(github: GitHub) -> None:
    github.repository_found("a/few", 11, forks_count=9)
    github.repository_found("a/many", 900, forks_count=9)
    github.repository_found("a/fork", 50, forks_count=9, fork=True)
    github.repository_found("a/gpl", 50, "GPL-3.0", forks_count=9)
    github.repository_found("a/none", 50, None, forks_count=9)
    github.repository_found("a/alone", 50, forks_count=1)
    repositories = search(github, stars=10, forks=2, licences=frozenset({"MIT"}))
    assert names(repositories) == ["a/many", "a/few"]
    assert repositories.left_out == {"fork": 1, "licence": 2, "forks": 1}
    assert names(search(github), 2) == ["a/many", "a/gpl"]


def test_the_query_is_in_githubs_words(github: GitHub) -> None:
    names(search(github, stars=10, forks=2))
    (query,) = parse_qs(urlsplit(github.asked[0][0]).query)["q"]
    assert query == 'language:"Go" stars:>=10 forks:>=2 fork:false'


def test_more_than_one_search_gives_are_listed_once_each(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repositories, "MOST", 5)
    monkeypatch.setattr("tests.mining.reviews.github.MOST_SEARCHED", 5)
    github.page = 2
    for number in range(23):
        github.repository_found(f"a/r{number}", 100 - number // 2)
    listed = names(search(github))
    assert sorted(listed) == sorted(f"a/r{number}" for number in range(23))


def test_more_with_equal_stars_than_one_search_gives_end_it(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repositories, "MOST", 5)
    monkeypatch.setattr("tests.mining.reviews.github.MOST_SEARCHED", 5)
    for number in range(9):
        github.repository_found(f"a/r{number}", 7)
    assert len(names(search(github))) == 5


def test_a_spec_names_the_newest_commit(github: GitHub) -> None:
    github.repository_found("o/r", 7)
    repositories = search(github)
    (item,) = repositories.names(1)
    assert newest_spec(repositories.api, item) == f"git:https://github.com/o/r.git@{HEAD}"
    assert github.asked[-1][0] == "/repos/o/r/commits/main"
