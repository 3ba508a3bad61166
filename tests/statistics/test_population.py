"""How many sessions there are, and which share was asked."""

from __future__ import annotations

from collections import Counter

from ci_eval.core.statistics.population import cluster_unit, count_project_sessions, select_shard_files, share

FILES = {"one/a.py": 40, "one/b.py": 60, "two/c.py": 300}


def test_sessions_are_counted_by_project_where_several_were_merged() -> None:
    assert count_project_sessions(FILES, shard=None, merged=True) == {"one": 100, "two": 300}
    assert count_project_sessions(FILES, shard=None, merged=False) == {"": 400}


def test_shards_divide_the_files() -> None:
    shards = [select_shard_files(FILES, f"{index}/2") for index in (1, 2)]
    assert {path: sum(each.get(path, 0) for each in shards) for path in FILES} == FILES


def test_the_share_is_that_of_the_project_least_asked() -> None:
    known = Counter({"one": 100, "two": 300})
    assert share(known, {"one/a.py": 40, "two/c.py": 30}, merged=True) == (400, 0.1)
    assert share(Counter({"": 400}), {"one/a.py": 100}, merged=False) == (400, 0.25)


def test_what_could_not_be_read_counts_as_not_asked() -> None:
    whole = Counter({"": 400})
    assert share(whole, {"a.py": 400}, merged=False, unread=0.25) == (400, 0.75)
    assert share(whole, {"a.py": 400}, merged=False, unread=0.001) == (400, 1.0)


def test_two_projects_and_more_speak_for_other_code_and_one_does_not() -> None:
    assert (cluster_unit(0), cluster_unit(1), cluster_unit(2)) == ("files", "files", "projects")
