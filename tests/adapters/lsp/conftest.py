"""A real server process for each peculiarity."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ci_eval.core.contracts import Query, Running, Surroundings
from ci_eval.core.model import Confine
from ci_eval.plugins.adapters.lsp.client import QUIET
from ci_eval.plugins.adapters.lsp.engine import LspEngine, RunningLsp
from ci_eval.plugins.adapters.lsp.quirks import PLAIN, ServerQuirks
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import InstalledEngine

SERVER = Path(__file__).parent / "server.py"
Start = Callable[..., RunningLsp]


@dataclass(frozen=True)
class Nothing:
    """Installs nothing."""

    version: str = "1"
    source: str = "tests"
    needs: tuple[str, ...] = ()

    def is_made(self, _folder: Path) -> bool:
        return True

    def make(self, version: str | None, folder: Path) -> InstalledEngine:
        return InstalledEngine(folder, self.version, {})


def engine(peculiarity: str, quirks: ServerQuirks, quiet: float = QUIET) -> LspEngine:
    def command(place: Place) -> list[str]:
        return [sys.executable, str(SERVER), peculiarity, str(place.root)]

    def settings(_place: Place) -> dict[str, object]:
        return {"a": {"b": "wanted"}}

    return LspEngine(
        name="fake",
        summary="for tests",
        languages=frozenset({"python"}),
        licence="Apache-2.0",
        recipe=Nothing(),
        command=command,
        settings=settings,
        installs=(SERVER.parent,),
        quirks=quirks,
        quiet=quiet,
    )


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[Running] = []

    def start(
        peculiarity: str = "",
        *,
        timeout: float = 20.0,
        memory: int = 0,
        confine: Confine = "auto",
        quirks: ServerQuirks = PLAIN,
        quiet: float = QUIET,
        initialize: float = 60.0,
        ready: float = 120.0,
    ) -> RunningLsp:
        root = tmp_path / "project"
        root.mkdir(exist_ok=True)
        surroundings = Surroundings(
            root=root,
            language="python",
            keywords=frozenset(),
            cache=tmp_path / "cache",
            timeout=timeout,
            memory=memory,
            suffixes=(".py",),
            confine=confine,
            initialize=initialize,
            ready=ready,
        )
        server = RunningLsp(engine(peculiarity, quirks, quiet), tmp_path, surroundings)
        running.append(server)
        return server

    yield start
    for each in running:
        each.close()


TEXT = "one two\n𐐀é three()\n"


def ask(server: RunningLsp, offset: int = 0, prefix: str = "", *, continues: bool = False) -> list[str]:
    query = Query(offset=offset, prefix=prefix, expected="", continues=continues)
    return [found.text for found in server.complete(query).suggestions]
