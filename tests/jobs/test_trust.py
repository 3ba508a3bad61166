"""A workspace from somebody else runs nothing of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from ci_eval.cli.group import find_command
from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.jobs.hostile import configure, names_a_command, sessions_of
from tests.packed import unpacked


def first_id(folder: Path) -> str:
    identity = msgspec.json.decode(unpacked(sessions_of(folder)).splitlines()[1])["id"]
    assert isinstance(identity, str)
    return identity


ASKS: dict[str, Callable[[Path], tuple[object, ...]]] = {
    "show": lambda folder: ("show", folder, first_id(folder), "--replay"),
    "reduce": lambda folder: ("reduce", folder, first_id(folder), "--output", folder.parent / "reduced"),
    "interpret": lambda folder: ("interpret", folder, "--output", folder.parent / "new"),
    "evaluate": lambda folder: ("evaluate", "--resume", "--output", folder),
    "generate-ml-logs": lambda folder: ("generate-ml-logs", "--log-format", "jsonl", "--resume", "--output", folder),
}


@pytest.mark.parametrize("asks", ASKS.values(), ids=list(ASKS))
@pytest.mark.parametrize(("sealed", "said"), [(False, "config.yaml changed since"), (True, "add --trust")])
def test_a_command_of_a_workspace_is_not_run(
    hostile: Path, asks: Callable[[Path], tuple[object, ...]], sealed: bool, said: str
) -> None:
    canary = hostile.parent / "canary"
    names_a_command(hostile, ["touch", str(canary)], sealed=sealed)
    code, _, err = command(*asks(hostile))
    assert (code, said in " ".join(err.split()), canary.exists()) == (2, True, False)
    advised = set(re.findall(r"--[a-z-]+", err.partition("somebody else")[2]))
    assert advised <= {name for param in find_command(str(asks(hostile)[0])).params for name in param.opts}


def test_a_trusted_command_is_run(hostile: Path) -> None:
    canary = hostile.parent / "canary"
    engine: dict[str, object] = {"name": "mine", "command": ["touch", str(canary)]}
    configure(hostile, {"engine": engine, "interpret": {"confine": "off"}})
    command("show", hostile, first_id(hostile), "--replay", "--trust")
    assert canary.exists()


@pytest.mark.parametrize("opened", [{"interpret": {"confine": "off"}}, {"engine": {"reads": ["/home"]}}])
def test_a_workspace_opens_no_walls(hostile: Path, opened: dict[str, dict[str, object]]) -> None:
    configure(hostile, opened)
    code, _, err = command("show", hostile, first_id(hostile), "--replay")
    assert (code, "add --trust" in " ".join(err.split())) == (2, True)


@pytest.mark.parametrize("key", ["settings", "options", "environment"])
def test_a_workspace_puts_nothing_on_top_of_an_engine(hostile: Path, key: str) -> None:
    configure(hostile, {"engine": {"name": "ty", key: {"LD_PRELOAD": "/tmp/evil.so"}}})
    code, _, err = command("show", hostile, first_id(hostile), "--replay")
    assert code == 2
    assert f"start the engine with the stored engine.{key}" in " ".join(err.split())


def test_the_command_that_a_user_gives_is_run_and_not_that_of_the_workspace(hostile: Path) -> None:
    canary, typed = hostile.parent / "canary", hostile.parent / "typed"
    engine: dict[str, object] = {"name": "mine", "command": ["touch", str(canary)], "reads": []}
    configure(hostile, {"engine": engine})
    typed.write_text("#!/bin/sh\nexit 3\n")
    typed.chmod(0o755)
    _, _, err = command("interpret", hostile, "--engine-command", typed, "--output", hostile.parent / "new")
    assert "add --trust" not in err
    assert any("typed ended (exit code 3)" in each.message for each in Workspace.open(hostile.parent / "new").errors())
    assert not canary.exists()


def test_another_engine_takes_the_place_of_the_command(hostile: Path) -> None:
    names_a_command(hostile, ["touch", str(hostile.parent / "canary")], sealed=True)
    code, _, err = command("interpret", hostile, "--engine", "words", "--output", hostile.parent / "new")
    assert (code, (hostile.parent / "canary").exists()) == (0, False), err
