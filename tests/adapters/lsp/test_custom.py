"""A language server of one's own, by its command."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.adapters.lsp.custom import Given, custom
from ci_eval.adapters.lsp.manners import BY_PROGRAM, PLAIN
from ci_eval.adapters.place import Place
from ci_eval.contracts import Surroundings
from ci_eval.errors import InstallError
from tests.projects import write


def test_files_of_the_current_folder_are_named_in_full_and_the_root_is_filled_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, server__py="", **{"bin/run": ""})
    monkeypatch.chdir(tmp_path)
    command = ("bin/run", "server.py", "--root={root}", "nothing.py")
    engine = custom("mine", command, language_id="x", settings={"a": 1}, options={})
    surroundings = Surroundings(
        root=tmp_path / "p", language="python", keywords=frozenset(), cache=tmp_path, timeout=1, memory=0
    )
    place = Place(folder=tmp_path, root=tmp_path / "p", base=tmp_path, surroundings=surroundings)
    assert engine.command(place) == [
        str(tmp_path / "bin" / "run"),
        str(tmp_path / "server.py"),
        f"--root={tmp_path / 'p'}",
        "nothing.py",
    ]
    assert (engine.settings(place), engine.only_language_id) == ({"a": 1}, "x")


def test_a_program_that_is_known_is_asked_in_its_manner() -> None:
    known = next(iter(BY_PROGRAM))
    manners = [
        custom("m", (name,), language_id=None, settings={}, options={}).manners for name in (f"/opt/{known}", "unknown")
    ]
    assert manners == [BY_PROGRAM[known], PLAIN]


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert not Given("no-such-program").is_made(tmp_path)
    with pytest.raises(InstallError, match="there is no program 'no-such-program' on PATH"):
        Given("no-such-program").make(None, tmp_path)
    assert Given("sh").make("7", tmp_path).version == "7"
    assert len(Given("sh").make(None, tmp_path).version) == 12
