"""What is removed from the cache of workspaces, and what stays."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ci_eval.core.base.errors import WorkspaceError
from ci_eval.jobs.remote import pruning
from ci_eval.jobs.remote.pruning import DAY, PARTIAL, mark, prune, unmark


def made(folder: Path, days: float, size: int = 100) -> Path:
    """A workspace of so many bytes that was last used so many days ago."""
    (folder / "sessions").mkdir(parents=True)
    (folder / "sessions" / "file").write_bytes(bytes(size))
    mark(folder)
    aged(folder.parents[1] / "used" / folder.parent.name / folder.name, days)
    return folder


def aged(path: Path, days: float) -> None:
    then = time.time() - days * DAY
    os.utime(path, (then, then))


def left(root: Path) -> set[str]:
    """Workspaces, and marks of them, which must be the same."""
    there = {path.relative_to(root).as_posix() for path in root.glob("*/*") if path.parent.name != "used"}
    assert {path.relative_to(root / "used").as_posix() for path in root.glob("used/*/*")} <= there
    return there


def test_what_was_not_used_for_a_month_is_removed(tmp_path: Path) -> None:
    for name, days in (("old", 31), ("young", 29)):
        made(tmp_path / "fetched" / name, days)
    prune(tmp_path)
    assert left(tmp_path) == {"fetched/young"}


def test_beyond_the_limit_the_oldest_go_first_of_all_together(tmp_path: Path) -> None:
    for name, days in (("fetched/a", 5), ("to-send/b", 4), ("fetched/c", 3), ("to-send/d", 2)):
        made(tmp_path / name, days, size=10**6)
    prune(tmp_path, most=3 * 10**6)
    assert left(tmp_path) == {"fetched/c", "to-send/d"}


def test_what_a_running_command_may_read_stays_whatever_its_size(tmp_path: Path) -> None:
    made(tmp_path / "fetched" / "today", 0.5, size=1000)
    prune(tmp_path, most=10)
    assert left(tmp_path) == {"fetched/today"}


def test_what_was_never_sent_stays(tmp_path: Path) -> None:
    unmark(made(tmp_path / "to-send" / "begun", 99))
    aged(tmp_path / "to-send" / "begun", 99)
    prune(tmp_path, most=0)
    assert left(tmp_path) == {"to-send/begun"}


def test_what_a_killed_process_left_goes_after_a_day(tmp_path: Path) -> None:
    for name, days in (("now", 0.5), ("then", 2)):
        (tmp_path / "fetched" / f"{PARTIAL}{name}").mkdir(parents=True)
        aged(tmp_path / "fetched" / f"{PARTIAL}{name}", days)
    prune(tmp_path)
    assert left(tmp_path) == {f"fetched/{PARTIAL}now"}


def test_what_another_process_removed_meanwhile_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = made(tmp_path / "fetched" / "gone", 99)
    monkeypatch.setattr(pruning, "_list_marks", lambda _: [(0.0, gone), (0.0, tmp_path / "fetched" / "never")])
    prune(tmp_path)
    assert left(tmp_path) == set()


def test_a_mark_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "used").touch()
    with pytest.raises(WorkspaceError, match="cannot create"):
        mark(tmp_path / "fetched" / "any")
