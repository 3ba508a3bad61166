"""Workspaces in a store: by a real server of S3's protocol, by the command line."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.base.errors import WorkspaceError
from ci_eval.jobs.remote import stores
from tests.needs import need_modules
from tests.projects import GREETER, timeless, write
from tests.waiting import HANGS, wait_for

fsspec, _, _ = need_modules("fsspec", "s3fs", "moto")

pytestmark = pytest.mark.registry

BUCKET = "s3://nights"


class Machine:
    """One that shares nothing with another one but the store."""

    def __init__(self, folder: Path, address: str) -> None:
        self.cache = folder / "cache"
        keys = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "us-east-1"}
        self.environment = {**os.environ, **keys, "AWS_ENDPOINT_URL": address, "CI_EVAL_CACHE": str(self.cache)}

    def run(self, *arguments: object) -> tuple[int, list[str], str]:
        argv = [sys.executable, "-m", "ci_eval", *map(str, arguments)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=HANGS, env=self.environment)
        return done.returncode, done.stdout.splitlines(), " ".join(done.stderr.split())

    def works(self, *arguments: object) -> list[str]:
        code, out, err = self.run(*arguments)
        assert code == 0, err
        return out


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a store with one bucket."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (tmp_path_factory.mktemp("moto") / "log").open("w")
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-p", str(port)], stdout=log, stderr=subprocess.STDOUT
    )
    wait_for(lambda: _answers(port))
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait()
    log.close()


@pytest.fixture
def system(server: str) -> Any:
    """The store itself, with an empty bucket."""
    system = fsspec.filesystem("s3", key="any", secret="any", endpoint_url=server, use_listings_cache=False)
    if system.exists("nights"):
        system.rm("nights", recursive=True)
    system.mkdir("nights")
    return system


@pytest.fixture
def machines(server: str, tmp_path: Path) -> tuple[Machine, Machine]:
    return Machine(tmp_path / "one", server), Machine(tmp_path / "other", server)


@pytest.fixture
def evaluated(system: Any, machines: tuple[Machine, Machine], tmp_path: Path) -> str:
    """The URL of an evaluation that the first machine sent."""
    project = write(tmp_path / "p", **{f"f{i}__py": GREETER + f"x{i} = {i}\nprint(x{i})\n" for i in range(4)})
    url = f"{BUCKET}/a/night"
    out = machines[0].works("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", url)
    assert out[-1] == url
    return url


def test_what_one_machine_sends_another_one_reads_to_the_byte(
    evaluated: str, system: Any, machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, other = machines
    local = next((one.cache / "workspaces" / "to-send").iterdir())
    sent = {path.relative_to(local).as_posix(): path.read_bytes() for path in local.rglob("*") if path.is_file()}
    stored = {path.removeprefix("nights/a/night/"): system.cat_file(path) for path in system.find("nights/a/night")}
    assert stored == sent
    session = json.loads(system.cat_file("nights/a/night/manifest.json"))
    assert session["digests"]
    other.works("compare", evaluated, evaluated, "--output", tmp_path / "c")
    (kept,) = (other.cache / "workspaces" / "fetched").iterdir()
    assert timeless(kept) == timeless(local)
    other.works("rerank", evaluated, "--completion-type", "ALPHABETICAL", "--output", f"{BUCKET}/a/alphabet")
    assert system.exists("nights/a/alphabet/manifest.json")


def test_stage_1_is_handed_on_and_shards_are_put_together(
    system: Any, machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    project = write(tmp_path / "p", **{f"f{i}__py": GREETER + f"x{i} = {i}\n" for i in range(4)})
    common = ("--project", f"path:{project}", "--engine", "words", "--output")
    one, other = machines
    one.works("actions", *common, f"{BUCKET}/actions")
    before = system.info("nights/actions/manifest.json")["LastModified"]
    for number, machine in enumerate((one, other), 1):
        machine.works("interpret", f"{BUCKET}/actions", "--shard", f"{number}/2", "--output", f"{BUCKET}/{number}")
    assert system.info("nights/actions/manifest.json")["LastModified"] == before
    other.works("merge", f"{BUCKET}/1", f"{BUCKET}/2", "--output", tmp_path / "merged")
    one.works("evaluate", *common, tmp_path / "whole")
    assert timeless(tmp_path / "merged") == timeless(tmp_path / "whole")


def test_what_a_command_changes_is_sent_back(evaluated: str, system: Any, machines: tuple[Machine, Machine]) -> None:
    system.rm_file("nights/a/night/reports/report.md")
    assert machines[1].works("report", evaluated)[-1] == evaluated
    assert b"RecallAt1" in system.cat_file("nights/a/night/reports/report.md")


def test_what_was_changed_in_the_store_is_refused(
    evaluated: str, system: Any, machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    path = next(each for each in system.find("nights/a/night/sessions"))
    system.pipe_file(path, system.cat_file(path)[:-1])
    code, _, err = machines[1].run("compare", evaluated, evaluated, "--output", tmp_path / "c")
    assert code == 2
    assert f"{evaluated} cannot be used" in err
    assert "sessions changed since" in err


def test_names_that_lead_out_of_the_folder_are_refused(
    evaluated: str, system: Any, machines: tuple[Machine, Machine]
) -> None:
    system.pipe_file("nights/a/night/errors/../../../../out", b"x")
    code, _, err = machines[1].run("show", evaluated, "00")
    assert code == 2
    assert "leads out of it" in err


def test_places_that_are_taken_empty_or_unreachable_are_told(
    evaluated: str, machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, other = machines
    common = ("evaluate", "--project", f"path:{tmp_path / 'p'}", "--engine", "words", "--output")
    for machine in machines:
        code, _, err = machine.run(*common, evaluated)
        assert (code, "is not empty" in err, "Sent" in err) == (2, True, False), err
    code, _, err = other.run("report", f"{BUCKET}/nothing")
    assert (code, "has no manifest.json" in err) == (2, True), err
    other.environment["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1"
    code, _, err = other.run("report", evaluated)
    assert (code, "check the URL, your credentials and the network" in err) == (2, True), err
    assert one.run("report", "nosuch://x/y")[0] == 2


def test_an_earlier_night_in_the_store_is_reused(
    evaluated: str, machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    common = ("evaluate", "--project", f"path:{tmp_path / 'p'}", "--engine", "words")
    _, _, err = machines[1].run(*common, "--reuse", evaluated, "--output", tmp_path / "next")
    assert "Reused:" in err
    _, _, err = machines[1].run(*common, "--reuse", f"{BUCKET}/no", "--output", tmp_path / "first")
    assert "Nothing is reused: there is no workspace at s3://nights/no yet" in err


def test_an_unfinished_workspace_is_not_sent(tmp_path: Path) -> None:
    assert not stores.send(tmp_path, "memory://x")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError("No module named 'fsspec'")

    monkeypatch.setattr(stores, "import_module", missing)
    with pytest.raises(WorkspaceError, match=r"pip install '\.\[s3\]'"):
        stores.fetch("s3://a/b")
