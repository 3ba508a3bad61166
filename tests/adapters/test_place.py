"""The walls around engines, against a real program that tries to get out."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.contracts import Query, Surroundings
from ci_eval.core.model import Confine
from ci_eval.plugins.adapters.lsp.custom import custom
from ci_eval.plugins.adapters.place import measure_confinement
from ci_eval.plugins.adapters.process import NOTHING_OPEN, SandboxPolicy, find_install_root, find_installs
from tests.tree import runs
from tests.waiting import wait_for

SERVER = Path(__file__).parent / "hostile_server.py"


ALLOWED = {"own", "project"}


class Servers:
    """What listens on this machine, and what it was told."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.heard: list[bytes] = []
        self._stack = stack
        self.unix, self.abstract = str(folder / "u"), f"ci-eval-{os.getpid()}-{folder.name}"
        self.tcp = self._listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)).getsockname()[1]
        self.udp = self._listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)).getsockname()[1]
        self._listen(socket.AF_UNIX, socket.SOCK_STREAM, self.unix)
        self._listen(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.abstract}")

    def _listen(self, family: int, kind: int, address: Any) -> socket.socket:
        server = self._stack.enter_context(socket.socket(family, kind))
        server.bind(address)
        if kind == socket.SOCK_STREAM:
            server.listen()
        threading.Thread(target=self._hear, args=(server,), daemon=True).start()
        return server

    def _hear(self, server: socket.socket) -> None:
        # The test is over when the server is closed.
        with suppress(OSError):
            while True:
                with server.accept()[0] if server.type == socket.SOCK_STREAM else nullcontext(server) as talking:
                    self.heard.append(talking.recv(100))


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    with ExitStack() as stack:
        yield Servers(tmp_path, stack)


Attempts = Callable[[Confine], tuple[dict[str, bool], int, str]]


@pytest.fixture
def attempts(tmp_path: Path, servers: Servers, monkeypatch: pytest.MonkeyPatch) -> Attempts:
    """What a hostile server could do, the process that it sent away, and what is said of its confinement."""
    monkeypatch.setenv("CI_TOKEN", "secret")
    outside, root = tmp_path / "outside", tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    outside.mkdir()
    files = [root / "a.py", root / ".git" / "config", *(outside / name for name in ("secret", "cut", "opened", "gone"))]
    for path in files:
        path.write_text("content")
    (root / "folder_link").symlink_to(outside)
    (root / "file_link").symlink_to(outside / "secret")
    (root / "git_link").symlink_to(root / ".git")
    plan = {"outside": str(outside), "root": str(root), "caller": os.getpid(), "tcp": servers.tcp, "udp": servers.udp}
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "plan.json").write_text(
        json.dumps(plan | {"unix": servers.unix, "abstract": servers.abstract})
    )

    def ask(confine: Confine) -> tuple[dict[str, bool], int, str]:
        command = (sys.executable, str(SERVER), str(tmp_path / "plan" / "plan.json"))
        engine = custom("hostile", command)
        surroundings = Surroundings(
            root=root, language="python", keywords=frozenset(), cache=tmp_path, timeout=20, memory=0, confine=confine
        )
        running = engine.start(engine.install(None, tmp_path), surroundings)
        try:
            running.open("a.py", "content")
            found = [each.text for each in running.complete(Query(offset=0, prefix="", expected="")).suggestions]
            done = {name.rpartition("_")[0]: name.endswith("_done") for name in found if not name.startswith("pid")}
            return done, int(next(name[3:] for name in found if name.startswith("pid"))), running.confined
        finally:
            running.close()

    return ask


def test_a_hostile_server_gets_nothing(complete_walls: None, attempts: Attempts, servers: Servers) -> None:
    done, _, said = attempts("required")
    assert {name for name, worked in done.items() if worked} == ALLOWED
    assert " + seccomp" in said
    assert said.endswith(NOTHING_OPEN)
    assert servers.heard == []


def test_without_walls_the_same_server_gets_nearly_everything(attempts: Attempts, servers: Servers) -> None:
    done, _, said = attempts("off")
    refused = {name for name, worked in done.items() if not worked}
    # The rest is for root alone, or for file systems that know it.
    system = {"trace", "environ", "memory", "file_flags", "attributes", "no_attributes", "own_project", "posix_queues"}
    assert refused <= {"token", "descriptors", *system}, "an emptied environment, at least"
    assert said == "not confined: interpret.confine is off"
    wait_for(lambda: len(servers.heard) >= 4, seconds=60)
    assert servers.heard == [b"stolen"] * 4


@pytest.mark.parametrize("confine", ["auto", "off"])
def test_what_a_server_sends_away_does_not_outlive_it(attempts: Attempts, confine: Confine) -> None:
    _, fled, _ = attempts(confine)
    assert not runs(fled)


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_program_may_read_where_it_is_installed(tmp_path: Path) -> None:
    assert find_install_root(write(tmp_path / "tool" / "1.2" / "bin" / "tool")) == tmp_path / "tool" / "1.2"
    assert find_install_root(write(tmp_path / "mine" / "out" / "server.js")) == tmp_path / "mine" / "out"
    write(tmp_path / "mine" / "package.json")
    assert find_install_root(tmp_path / "mine" / "out" / "server.js") == tmp_path / "mine"
    package = write(tmp_path / "kit" / "node_modules" / "@x" / "server" / "cli.js")
    write(package.parent / "package.json")
    assert find_install_root(package) == tmp_path / "kit" / "node_modules"
    write(tmp_path / "kit" / "package.json")
    assert find_install_root(package) == tmp_path / "kit"


def test_a_program_may_not_read_a_home_because_it_lies_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "package.json")
    for place in ("bin/tool", ".local/bin/tool", ".cargo/bin/tool", "tool"):
        assert find_install_root(write(tmp_path / place)) == tmp_path / place


def test_what_runs_a_script_may_be_read_too(tmp_path: Path) -> None:
    script = write(tmp_path / "tools" / "bin" / "tool", f"#!{write(tmp_path / 'lang' / 'bin' / 'run')} -x\n")
    assert find_installs(str(script)) == [tmp_path / "tools", tmp_path / "lang"]


def test_what_runs_a_script_in_a_virtual_environment_may_be_read_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "venv" / "pyvenv.cfg")
    (tmp_path / "venv" / "bin").mkdir()
    (tmp_path / "venv" / "bin" / "python3").symlink_to(write(tmp_path / "lang" / "bin" / "python3"))
    monkeypatch.setenv("PATH", str(tmp_path / "venv" / "bin"))
    script = write(tmp_path / "tools" / "bin" / "tool", "#!/usr/bin/env python3\n")
    assert find_installs(str(script)) == [tmp_path / "tools", tmp_path / "venv", tmp_path / "lang"]


def test_what_the_system_has_needs_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.defpath)
    assert find_installs("sh") == []
    assert find_installs("no-such-program") == []


def test_what_this_machine_offers_is_found_by_trying(complete_walls: None) -> None:
    assert measure_confinement("auto").endswith(NOTHING_OPEN)
    assert measure_confinement("off") == "not confined: interpret.confine is off"


@pytest.mark.parametrize(("silent", "found"), [(1, "not confined: interpret.confine is off"), (2, "it did not start")])
def test_a_program_that_ends_before_it_can_tell_is_tried_once_more(
    monkeypatch: pytest.MonkeyPatch, silent: int, found: str
) -> None:
    within, started = SandboxPolicy.around, list[int]()

    def around(walls: SandboxPolicy, command: Sequence[str], report: int) -> list[str]:
        started.append(report)
        return ["true"] if len(started) <= silent else list(within(walls, command, report))

    monkeypatch.setattr(SandboxPolicy, "around", around)
    assert measure_confinement("off").endswith(found)
    assert len(started) == 2
