"""A project's own files, told from what only looks like one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ci_eval.core.base.files import below, exists, is_own, read_own, remove_tree
from tests.projects import write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, secret="s")
    root = write(tmp_path / "p", a__py="x\n")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "in").symlink_to(root / "a.py")
    (root / "cycle").symlink_to(root / "cycle")
    os.mkfifo(root / "pipe")
    return root


def test_only_regular_files_inside_a_project_are_its_own(root: Path) -> None:
    names = ["a.py", "in", "out", "cycle", "pipe", "missing", "../secret", "a\0b"]
    assert [name for name in names if is_own(root / name, root)] == ["a.py", "in"]


@pytest.mark.parametrize("name", ["out", "pipe", "missing", "../secret"])
def test_what_is_not_its_own_is_not_read(root: Path, name: str) -> None:
    assert read_own(root, "a.py") == b"x\n"
    with pytest.raises(OSError, match=r"not a regular file of the project|No such file"):
        read_own(root, name)


def test_a_name_that_no_file_can_have_is_not_there(root: Path) -> None:
    assert [exists(root / name) for name in ("a.py", "b.py", "x" * 5000, "a\0b")] == [True, False, False, False]


def test_below_a_folder_are_its_regular_files_but_those_of_others_and_hidden_ones(root: Path) -> None:
    write(root, b__py="", **dict.fromkeys(("x/c__py", "node_modules/d__py", "__git/e__py", "x/f__txt"), ""))
    assert sorted(below(root, root, (".py",))) == ["a.py", "b.py", "x/c.py"]
    assert sorted(below(root / "x", root, (".py", ".txt"), ("f.txt",))) == ["x/c.py"]


def test_a_tree_is_removed_however_deep_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "deep"
    folder.mkdir()
    here = os.open(folder, os.O_RDONLY)
    for _ in range(5_000):
        os.mkdir("d", dir_fd=here)
        inside = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inside
    os.close(here)
    remove_tree(folder)
    assert not folder.exists()
    remove_tree(folder)
