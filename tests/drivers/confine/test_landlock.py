"""Older kernels, and none: what stays open is said."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ci_eval.core.model import Confine
from ci_eval.plugins.adapters.process import NOTHING_OPEN, SandboxPolicy

Tried = Callable[..., str]


@pytest.fixture
def tried(tmp_path: Path) -> Tried:
    """What the launcher says, or its error, with Landlock at most of a version."""

    def say(abi: int, confine: Confine = "auto", program: Sequence[str] = ()) -> str:
        (tmp_path / "canary").write_text("x")
        (tmp_path / "own").mkdir(exist_ok=True)
        walls = SandboxPolicy(confine=confine, writes=(tmp_path / "own",), canary=tmp_path / "canary")
        command = walls.around(program or ["/bin/true"], 1)
        place = command.index("--confine")
        command[place:place] = ["--abi", str(abi)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = done.stdout.strip() if done.returncode == 0 else f"{done.returncode}: {done.stderr.strip()}"
        # Not every machine has a control group; without one, this is open as well.
        uncounted = ("; open: memory in pipes and sockets; otherwise", ","), (", memory in pipes and sockets", "")
        for longer, shorter in ((" + control group", ""), *uncounted):
            said = said if program else said.replace(longer, shorter)
        return said

    return say


@pytest.mark.parametrize(("abi", "opened"), [(1, "signals"), (3, "signals"), (5, "signals"), (6, "")])
def test_an_older_kernel_leaves_signals_open_and_that_is_said(
    complete_walls: None, tried: Tried, abi: int, opened: str
) -> None:
    said = f"landlock {abi} + seccomp"
    assert tried(abi) == (f"{said}; open: {opened}" if opened else f"{said}, {NOTHING_OPEN}")


def test_a_control_group_is_named_where_the_kernel_has_put_the_program_into_one(tried: Tried) -> None:
    said, *groups = tried(6, program=["/bin/cat", "/proc/self/cgroup"]).splitlines()
    joined = {controller for _, controller, path in (group.split(":", 2) for group in groups) if "/ci-eval-" in path}
    # A group of version 2 (no controller is named) may count no memory.
    assert ("+ control group" in said) == ("memory" in joined) or joined == {""}


def test_without_landlock_files_are_open_and_that_is_said(tried: Tried) -> None:
    assert tried(0).startswith("seccomp; open: reading files, writing files, making files, removing files")


def test_where_walls_are_required_an_engine_does_not_start_without_them(tried: Tried) -> None:
    assert tried(0, "required").startswith("126: interpret.confine is required, but: seccomp; open: reading files")
