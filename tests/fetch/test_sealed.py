"""Folders of the cache: files that were lost or cut off are noticed before they are used."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ci_eval.core.base.errors import PreparationError
from ci_eval.fetch import sealed
from tests.projects import write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    whole = write(tmp_path / "new" / "whole", a__py="one", **{"b/server": b"two"})
    (whole / "link").symlink_to("a.py")
    Path(os.fsdecode(os.fsencode(whole) + b"/\xff")).write_text("x")
    sealed.publish(whole, tmp_path / "x")
    return tmp_path / "x"


def reports(folder: Path) -> list[str]:
    said: list[str] = []
    with sealed.care(report=said.append):
        assert sealed.intact(folder) == (not said)
    return said


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a.py changed": lambda folder: os.truncate(folder / "a.py", 2),
    "b/server changed": lambda folder: (folder / "b/server").unlink(),
    "link changed": lambda folder: (folder / "link").unlink(),
    "\udcff changed": lambda folder: Path(os.fsdecode(os.fsencode(folder) + b"/\xff")).unlink(),
}


@pytest.mark.parametrize("expected", DAMAGE)
def test_damage_is_reported_and_the_folder_counts_as_unfinished(expected: str, folder: Path) -> None:
    assert reports(folder) == []
    DAMAGE[expected](folder)
    assert reports(folder) == [f"x in the cache is damaged: {expected}; it is made again"]
    assert not sealed.is_sealed(folder)


def test_a_folder_of_another_version_is_replaced_without_a_warning(folder: Path, tmp_path: Path) -> None:
    (folder / sealed.LIST).write_text('{"files": {"a.py": [3]}}')
    with sealed.care(report=pytest.fail):
        assert not sealed.intact(folder)
    sealed.publish(write(tmp_path / "whole", a__py="newer"), folder)
    assert (folder / "a.py").read_text() == "newer"


def test_a_damaged_folder_in_a_cache_that_cannot_be_written_to_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", refuse)
    assert reports(folder) == []
    os.truncate(folder / "a.py", 0)
    with pytest.raises(PreparationError, match=r"damaged: a\.py changed, and cannot be replaced: Read-only"):
        sealed.intact(folder)


def test_a_damaged_folder_is_replaced_and_a_good_one_is_left(folder: Path, tmp_path: Path) -> None:
    for text in ("other", "newer"):
        (tmp_path / text).mkdir()
        whole = write(tmp_path / text / "whole", a__py=text)
        if text == "other":
            os.truncate(folder / "a.py", 0)
            assert reports(folder)
        sealed.publish(whole, folder)
    assert (folder / "a.py").read_text() == "other"
