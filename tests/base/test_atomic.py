"""Files are written as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import WorkspaceError
from tests.projects import write


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = atomic.write(tmp_path / "deep" / "a", b"old")

    def is_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", is_full)
    with pytest.raises(WorkspaceError, match="No space left on device; free some space, or choose another folder"):
        atomic.write(path, b"new")
    assert [each.read_bytes() for each in path.parent.iterdir()] == [b"old"]


def test_what_was_left_half_written_is_removed_and_no_link_is_followed(tmp_path: Path) -> None:
    kept = write(tmp_path / "mine", a__txt="")
    folder = write(tmp_path / "w", a__json="{}", a__json__7__tmp="{", **{"b.7.tmp/c": ""})
    (folder / "link.tmp").symlink_to(kept)
    atomic.tidy(folder)
    assert [path.name for path in folder.iterdir()] == ["a.json"]
    assert (kept / "a.txt").exists()


def test_only_an_empty_folder_is_written_to(tmp_path: Path) -> None:
    assert atomic.empty_folder(tmp_path / "new").is_dir()
    full = write(tmp_path / "full", a="a")
    for path, reason in ((full, "is not empty"), (full / "a", "is a file, not a folder")):
        with pytest.raises(WorkspaceError, match=f"{reason}: choose another --output"):
            atomic.empty_folder(path)
