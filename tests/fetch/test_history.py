"""What files were in each commit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.fetch.git import Repository, repository
from tests.fetch import repository as origin


@pytest.fixture
def made(tmp_path: Path) -> origin.Repository:
    return origin.create(tmp_path / "origin")


def texts(found: Repository, path: str, most: int = 1000) -> list[bytes | None]:
    revisions = found.revisions(path)
    contents = found.contents([each.blob for each in revisions if each.blob], most)
    return [next(contents) if each.blob else b"(none)" for each in revisions]


def test_a_file_is_followed_through_renames_deletions_and_branches(made: origin.Repository) -> None:
    made.commit(old_py="one\n" * 20)
    first = made.commit(old_py="one\n" * 20 + "two\n", other_py="x")
    made.git("mv", "old.py", "new.py")
    made.commit(other_py="y")
    made.git("switch", "--quiet", "--create", "branch", first)
    made.commit(other_py="z")
    made.git("switch", "--quiet", "main")
    made.git("merge", "--quiet", "--strategy=ours", "--message=m", "branch")
    made.git("rm", "--quiet", "new.py")
    made.commit()
    made.commit(new_py="back")
    with repository(made.url) as found:
        assert found.files([".py"]) == ["new.py", "other.py"]
        assert texts(found, "new.py")[-2:] == [b"(none)", b"back"]
        assert texts(found, "other.py") == [b"x", b"z", b"y"] or texts(found, "other.py") == [b"x", b"y", b"z"]
    with repository(f"{made.url}@branch") as found:
        assert texts(found, "old.py") == [b"one\n" * 20, b"one\n" * 20 + b"two\n"]


def test_a_rename_is_no_end(made: origin.Repository) -> None:
    made.commit(old_py="one\n" * 20)
    made.git("mv", "old.py", "new.py")
    made.commit(new_py="one\n" * 20 + "two\n")
    with repository(str(made.folder)) as found:
        assert texts(found, "new.py") == [b"one\n" * 20, b"one\n" * 20 + b"two\n"]


def test_what_is_too_large_or_no_file_is_left_out(made: origin.Repository) -> None:
    made.commit(a_py="small", b_py="x" * 2000)
    made.commit(a_py="x" * 2000)
    made.commit(a_py="")
    (made.folder / "link.py").symlink_to("a.py")
    made.commit()
    with repository(made.url) as found:
        assert texts(found, "a.py") == [b"small", None, b""]
        assert texts(found, "link.py") == [b"(none)"]
        assert found.files([".py"]) == ["a.py", "b.py"]


def test_a_path_is_no_pattern(made: origin.Repository) -> None:
    (made.folder / "a[b].py").write_text("one")
    (made.folder / ":b.py").write_text("two")
    made.commit(ab_py="three")
    with repository(made.url) as found:
        assert texts(found, "a[b].py") == [b"one"]
        assert texts(found, ":b.py") == [b"two"]


def test_what_is_no_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no Git repository"), repository(str(tmp_path / "nothing")):
        pass
    with pytest.raises(ConfigError, match="not allowed"), repository("file:nothing"):
        pass
    with pytest.raises(InstallError, match="git fetch failed"), repository(str(tmp_path)):
        pass


def test_settings_of_the_repository_start_nothing(made: origin.Repository, tmp_path: Path) -> None:
    made.commit(a_py="one")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path / 'sprung'}\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "diff.external", "core.sshCommand", "uploadpack.packObjectsHook"):
        made.git("config", name, os.fspath(trap))
    with repository(str(made.folder)) as found:
        assert texts(found, "a.py") == [b"one"]
    assert not (tmp_path / "sprung").exists()


def test_a_name_may_be_no_text(made: origin.Repository) -> None:
    (made.folder / os.fsdecode(b"\xe9.py")).write_text("one")
    made.commit()
    with repository(made.url) as found:
        (path,) = found.files([".py"])
        assert os.fsencode(path) == b"\xe9.py"
        assert texts(found, path) == [b"one"]
