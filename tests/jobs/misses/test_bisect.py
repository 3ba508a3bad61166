"""A search over revisions names the commit of each planted regression, with few questions."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path
from typing import Any

import pytest

from tests.command import command
from tests.here import one_process
from tests.jobs.misses.regressing import BROKEN, COMMITS, PLANTED, make_repository
from tests.jobs.misses.test_causes import TEXT
from tests.projects import write

pytestmark = pytest.mark.slow(minutes=2)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bisected")


@pytest.fixture(scope="module")
def commits(root: Path) -> list[str]:
    write(root / "p", a__py=TEXT)
    return make_repository(root / "r")


def bisect(root: Path, good: str, bad: str, output: Path) -> tuple[int, str, str]:
    with one_process(), pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        return command(
            *("bisect", good, bad, "--repository", "r", "--build", "sh build", "--output", output.relative_to(root)),
            *("--engine-command", "./server", "--language", "python", "--project", f"path:{root / 'p'}"),
        )


@pytest.fixture(scope="module")
def found(root: Path, commits: list[str]) -> dict[str, Any]:
    code, _, err = bisect(root, commits[0], commits[-1], root / "search")
    assert code == 0, err
    result: dict[str, Any] = json.loads((root / "search" / "bisect.json").read_text())
    return result


def test_each_regression_is_named(found: dict[str, Any], commits: list[str]) -> None:
    named = [commits.index(cluster["version"]) for cluster in found["clusters"]]
    assert named == sorted(PLANTED.values())
    assert all(len(cluster["candidates"]) == 1 for cluster in found["clusters"])
    assert all(cluster["worse"] == cluster["sessions"] for cluster in found["clusters"])


def test_it_takes_a_third_of_the_questions_of_three_searches(found: dict[str, Any]) -> None:
    plain = len(PLANTED) * log2(COMMITS) * found["changed"]
    assert 0 < found["questions"] <= plain / 3


def test_a_search_that_ended_asks_nothing_again(root: Path, found: dict[str, Any], commits: list[str]) -> None:
    code, _, err = bisect(root, commits[0], commits[-1], root / "search")
    assert code == 0, err
    again = json.loads((root / "search" / "bisect.json").read_text())
    assert again["questions"] == 0
    assert again["clusters"] == found["clusters"]


def test_a_commit_that_does_not_build_is_skipped(root: Path, commits: list[str]) -> None:
    first = PLANTED["bare"] - 2
    code, _, err = bisect(root, commits[first], commits[2 * BROKEN - first], root / "skipped")
    result = json.loads((root / "skipped" / "bisect.json").read_text())
    assert code == 0, err
    assert list(result["skipped"]) == [commits[BROKEN]]
    assert [cluster["version"] for cluster in result["clusters"]] == [commits[PLANTED["bare"]]]


def test_it_says_at_once_that_nothing_changed(root: Path, commits: list[str]) -> None:
    code, out, err = bisect(root, commits[40], commits[44], root / "same")
    assert code == 0, err
    assert "Nothing changed: " in out
    assert json.loads((root / "same" / "bisect.json").read_text())["questions"] == 0


def test_another_search_does_not_go_on_in_a_folder(root: Path, found: dict[str, Any], commits: list[str]) -> None:
    assert found
    code, _, err = bisect(root, commits[1], commits[-1], root / "search")
    assert code == 2
    assert "holds another search" in err


def test_good_must_come_before_bad(root: Path, commits: list[str]) -> None:
    code, _, err = bisect(root, commits[9], commits[3], root / "turned")
    assert code == 2
    assert "revision before" in err
