"""Folders of the cache: what of them was damaged is noticed before they are used."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ci_eval.core.base.errors import PreparationError
from ci_eval.fetch import sealed
from tests.projects import write

LONG_AGO = 1_000_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = write(tmp_path / "x", a__py="one", **{"b/server": b"two"})
    (found / "b/__pycache__").mkdir()
    (found / "b/__pycache__/c.pyc").write_text("compiled")
    (found / "link").symlink_to("a.py")
    sealed.seal(found, complete=True)
    return found


def told(folder: Path) -> list[str]:
    """What is told of it."""
    said: list[str] = []
    with sealed.care(tell=said.append):
        assert sealed.intact(folder) == (not said)
    return said


def relink(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").symlink_to("elsewhere")


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a.py has 2 bytes, not 3": lambda folder: os.truncate(folder / "a.py", 2),
    "a.py has other contents": lambda folder: (folder / "a.py").write_text("eno"),
    "b/server is gone": lambda folder: (folder / "b/server").unlink(),
    "b/server may be run, or may not": lambda folder: (folder / "b/server").chmod(0o755),
    "b/__pycache__/c.pyc has 0 bytes, not 8": lambda folder: os.truncate(folder / "b/__pycache__/c.pyc", 0),
    "link leads elsewhere": relink,
    "b/new.py was added": lambda folder: (folder / "b/new.py").touch(),
}


@pytest.mark.parametrize("expected", DAMAGE)
def test_damage_is_told_and_the_folder_counts_as_unfinished(expected: str, folder: Path) -> None:
    assert told(folder) == []
    DAMAGE[expected](folder)
    assert told(folder)[0].startswith(f"x in the cache is damaged: {expected}")
    assert not sealed.is_sealed(folder)


@pytest.mark.parametrize("name", [".settings", ".cache/a", "b/__pycache__/d.pyc"])
def test_what_programs_leave_beside_it_is_no_damage(name: str, folder: Path) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).touch()
    assert told(folder) == []


def test_a_copy_with_other_times_is_as_good(folder: Path) -> None:
    before = (folder / sealed.LIST).read_bytes()
    os.utime(folder / "a.py", (LONG_AGO, LONG_AGO))
    assert told(folder) == []
    assert (folder / sealed.LIST).read_bytes() != before


def test_a_cache_that_cannot_be_written_to_is_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Read-only file system")

    os.utime(folder / "b/server", (LONG_AGO, LONG_AGO))
    monkeypatch.setattr(Path, "write_bytes", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    assert told(folder) == []
    os.truncate(folder / "a.py", 0)
    with pytest.raises(PreparationError, match=r"damaged: a\.py has 0 bytes.* cannot be replaced: Read-only"):
        sealed.intact(folder)


def test_names_that_are_no_text_are_told_apart(folder: Path) -> None:
    for name in (b"\xff", b"\xc3\xbc"):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("x")
    sealed.seal(folder, complete=True)
    assert told(folder) == []
    (folder / "ü").unlink()
    assert "ü is gone" in told(folder)[0]


def test_a_damaged_folder_is_replaced_and_a_good_one_is_left(folder: Path, tmp_path: Path) -> None:
    for text in ("new", "newer"):
        (tmp_path / text).mkdir()
        whole = write(tmp_path / text / "whole", a__py=text)
        if text == "new":
            os.truncate(folder / "a.py", 0)
            assert told(folder)
        sealed.publish(whole, folder)
    assert (folder / "a.py").read_text() == "new"
