"""Workspaces that somebody made who means harm: nothing of them runs, and nothing outside them is touched."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import yaml

from ci_eval.workspace import Workspace
from tests.command import command
from tests.projects import GREETER, write


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished evaluation by words."""
    root = tmp_path_factory.mktemp("hostile")
    project = write(root / "p", a__py=GREETER, b__py=GREETER.replace("Greeter", "Welcomer"))
    code, _, err = command(
        "evaluate", "--project", f"path:{project}", "--engine", "words", "--output", root / "night", "--jobs", 1
    )
    assert code == 0, err
    return root / "night"


@pytest.fixture
def hostile(night: Path, tmp_path: Path) -> Path:
    """A copy to do things to."""
    return Path(shutil.copytree(night, tmp_path / "hostile"))


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the user's."""
    return write(tmp_path / "outside", html__index__html="mine", a__json="{}", precious="mine")


def sessions_of(folder: Path) -> Path:
    """One of its files of sessions."""
    return sorted((folder / "sessions").iterdir())[0]


def rewrite(folder: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Change the lines of one file of sessions, and seal it as if nothing had happened."""
    path = sessions_of(folder)
    path.write_bytes(gzip.compress(b"\n".join(change(gzip.decompress(path.read_bytes()).splitlines()))))
    Workspace(folder).seal()


def names_a_command(folder: Path, argv: list[str], *, sealed: bool) -> None:
    """Put an engine of its own into its configuration."""
    config = folder / "config.yaml"
    changed = yaml.safe_load(config.read_text()) | {"engine": {"name": "mine", "command": argv}}
    config.write_text(yaml.safe_dump(changed))
    if sealed:
        Workspace(folder).seal()


# ------------------------------------------------------------------------------------------------------------- links


@pytest.mark.parametrize("part", ["reports", "sessions", "actions", "errors", "logs"])
def test_a_linked_part_is_refused_and_what_it_leads_to_stays(hostile: Path, outside: Path, part: str) -> None:
    shutil.rmtree(hostile / part)
    (hostile / part).symlink_to(outside)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    code, _, err = command("report", hostile)
    assert (code, "is a symbolic link" in " ".join(err.split())) == (2, True)
    assert before == {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["manifest.json", "config.yaml", "names.npz", "reports/html/index.html", "logs/x"])
def test_a_linked_file_is_refused(hostile: Path, name: str) -> None:
    original = hostile.parent / "original"
    original.write_bytes((hostile / name).read_bytes() if (hostile / name).exists() else b"")
    (hostile / name).unlink(missing_ok=True)
    (hostile / name).symlink_to(original)
    code, _, err = command("report", hostile)
    assert (code, "is a symbolic link" in " ".join(err.split())) == (2, True)


def test_the_workspace_itself_may_be_a_link(hostile: Path, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(hostile)
    assert command("report", tmp_path / "latest")[0] == 0


@pytest.mark.parametrize("name", ["sessions/x.jsonl.gz", "actions/x.json.gz", "errors/x.json", "logs/x", "names.npz"])
def test_a_pipe_is_refused_and_not_waited_for(hostile: Path, name: str) -> None:
    os.mkfifo(hostile / name)
    code, _, err = command("report", hostile)
    assert (code, "neither a file nor a folder" in " ".join(err.split())) == (2, True)


def test_a_linked_or_piped_file_of_a_history_is_refused(hostile: Path, tmp_path: Path) -> None:
    (tmp_path / "past").mkdir()
    (tmp_path / "past" / "one.json").symlink_to(hostile / "reports" / "metrics.json")
    code, _, err = command("compare", hostile, "--history", tmp_path / "past", "--output", tmp_path / "out")
    assert (code, "is a symbolic link" in " ".join(err.split())) == (2, True)


def test_figures_are_kept_in_the_history_whatever_time_they_name(hostile: Path, tmp_path: Path) -> None:
    path = hostile / "reports" / "metrics.json"
    report = msgspec.json.decode(path.read_bytes())
    report["evaluations"][0]["started"] = "../../../escaped"
    path.write_bytes(msgspec.json.encode(report))
    assert command("compare", hostile, "--history", tmp_path / "a/b/past", "--output", tmp_path / "out")[0] == 0
    assert not list(tmp_path.rglob("escaped*"))
    assert len(list((tmp_path / "a/b/past").iterdir())) == 1


@pytest.mark.parametrize("path", ["/etc/passwd", "../../p/a.py", "a\0.py"])
def test_the_path_of_a_source_file_leads_nowhere_else(hostile: Path, path: str) -> None:
    actions = sorted((hostile / "actions").iterdir())[0]
    said = msgspec.json.decode(gzip.decompress(actions.read_bytes()))
    actions.write_bytes(gzip.compress(msgspec.json.encode(said | {"path": path})))
    code, _, err = command("interpret", hostile, "--engine", "words", "--output", hostile.parent / "new")
    assert (code, "is not the path of a file inside" in " ".join(err.split())) == (2, True)


# ---------------------------------------------------------------------------------------------------------- commands


def first_id(folder: Path) -> str:
    identity = msgspec.json.decode(gzip.decompress(sessions_of(folder).read_bytes()).splitlines()[1])["id"]
    assert isinstance(identity, str)
    return identity


ASKS: dict[str, Callable[[Path], tuple[object, ...]]] = {
    "show": lambda folder: ("show", folder, first_id(folder), "--replay"),
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


def test_a_trusted_command_is_run(hostile: Path) -> None:
    canary = hostile.parent / "canary"
    names_a_command(hostile, ["touch", str(canary)], sealed=True)
    command("show", hostile, first_id(hostile), "--replay", "--trust")
    assert canary.exists()


def test_another_engine_takes_the_place_of_the_command(hostile: Path) -> None:
    names_a_command(hostile, ["touch", str(hostile.parent / "canary")], sealed=True)
    code, _, err = command("interpret", hostile, "--engine", "words", "--output", hostile.parent / "new")
    assert (code, (hostile.parent / "canary").exists()) == (0, False), err


def test_the_variables_of_the_job_are_not_for_a_workspace(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hush")
    config = hostile / "config.yaml"
    config.write_text(
        yaml.safe_dump(yaml.safe_load(config.read_text()) | {"reports": {"evaluationTitle": "${SECRET}"}})
    )
    Workspace(hostile).seal()
    code, out, err = command("evaluate", "--resume", "--output", hostile)
    assert (code, "hush" in out + err) == (2, False)
