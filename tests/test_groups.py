"""Tests that share a fixture run in one worker process (`conftest.py`): another process would make it again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def once_a_file() -> int:
    return 1


@pytest.fixture
def each_time(once_a_file: int) -> int:
    return once_a_file


def group_of(request: pytest.FixtureRequest) -> tuple[object, ...]:
    mark = request.node.get_closest_marker("xdist_group")
    return mark.args if mark else ()


def test_a_fixture_of_the_file_makes_a_group_of_the_file(each_time: int, request: pytest.FixtureRequest) -> None:
    assert each_time == 1
    assert group_of(request) == ("tests/test_groups.py",)


def test_a_fixture_of_the_session_makes_a_group_of_its_folder(
    nights: Mapping[str, Path], request: pytest.FixtureRequest
) -> None:
    assert nights
    assert group_of(request) == ("tests",)


@pytest.mark.xdist_group("own")
def test_a_group_of_its_own_stays(each_time: int, request: pytest.FixtureRequest) -> None:
    assert each_time == 1
    assert group_of(request) == ("own",)


def test_others_have_no_group(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    assert tmp_path.is_dir()
    assert group_of(request) == ()
