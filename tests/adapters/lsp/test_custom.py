"""A language server of one's own, by its command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.base.errors import InstallError
from ci_eval.core.catalogs import engines
from ci_eval.core.contracts import Surroundings
from ci_eval.plugins.adapters.lsp.custom import CommandRecipe, custom, is_called
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import Overlay
from ci_eval.plugins.adapters.place import Place
from tests.projects import write


def around(root: Path) -> Surroundings:
    return Surroundings(root=root, language="python", keywords=frozenset(), cache=root, timeout=1, memory=0)


def test_files_of_the_current_folder_are_named_in_full_and_the_root_is_filled_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, server__py="", **{"bin/run": ""})
    monkeypatch.chdir(tmp_path)
    command = ("bin/run", "server.py", "--root={root}", "nothing.py")
    engine = custom("mine", command, language_id="x", own=Overlay(settings={"a": "{root}/x"}))
    place = Place(folder=tmp_path, root=tmp_path / "p", base=tmp_path, surroundings=around(tmp_path / "p"))
    assert engine.command(place) == [
        str(tmp_path / "bin" / "run"),
        str(tmp_path / "server.py"),
        f"--root={tmp_path / 'p'}",
        "nothing.py",
    ]
    launch = engine.launch(place)
    assert (launch.settings, engine.only_language_id) == ({"a": f"{tmp_path}/p/x"}, "x")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/opt/llvm/bin/clangd", "clangd"),
        ("clangd-19 --log=error", "clangd"),
        ("/builds/7/gopls serve", "gopls"),
        ("ty.exe server", "ty"),
        ("pyright-langserver --stdio", "pyright"),
        ("node {modules}/pyright/langserver.index.js --stdio", "pyright"),
        ("node {modules}/@vtsls/language-server/bin/vtsls.js --stdio", "vtsls"),
        ("node {modules}/typescript-language-server/lib/cli.mjs --stdio", "typescript-language-server"),
        ("node {modules}/typescript/bin/tsc --lsp --stdio", "typescript"),
        ("my-clangd-wrapper", None),
        ("python server.py clangd", None),
    ],
)
def test_a_command_is_recognised_by_its_program_or_npm_package(tmp_path: Path, command: str, name: str | None) -> None:
    words = command.format(modules=tmp_path / "node_modules").split()
    for word in words[1:]:
        if "node_modules" in word:
            Path(word).parent.mkdir(parents=True)
            Path(word).touch()
    servers = [engine for engine in engines.CATALOG.all() if isinstance(engine, LspEngine)]
    assert [engine.name for engine in servers if is_called(words, engine)] == ([name] if name else [])


def test_a_command_that_is_like_an_engine_is_told_and_treated_as_that_one(tmp_path: Path) -> None:
    clangd = engines.CATALOG.load("clangd")
    assert isinstance(clangd, LspEngine)
    like = custom("mine", ("sh", "--log=verbose"), like=clangd)
    place = Place.new(tmp_path, around(tmp_path))
    place.renew()
    theirs, ours = like.launch(place), clangd.launch(place)
    assert (theirs.settings, theirs.options, theirs.environment) == (ours.settings, ours.options, ours.environment)
    assert (like.quirks, like.like) == (clangd.quirks, "clangd")
    # What the user's command says itself is left as it is.
    assert [each for each in theirs.command[1:] if each.startswith("--log")] == ["--log=verbose"]
    assert "--background-index=0" in theirs.command
    place.remove()


@pytest.mark.parametrize(
    ("arguments", "options", "enabled", "cleaned"),
    [
        ((), {}, "--enable-config=0", True),
        ((), {"fallbackFlags": ["-DA"]}, "--enable-config=0", True),
        (("--enable-config",), {}, "--enable-config", True),
        (("--compile-commands-dir=x",), {}, "--enable-config=0", False),
    ],
)
def test_a_clangd_of_ones_own_reads_cleaned_compile_commands_too(
    tmp_path: Path, arguments: tuple[str, ...], options: dict[str, Any], enabled: str, cleaned: bool
) -> None:
    root = write(tmp_path / "p", a__cpp="", compile_flags__txt="-DB\n-fplugin=./evil.so\n")
    clangd = engines.CATALOG.load("clangd")
    assert isinstance(clangd, LspEngine)
    engine = custom("m", ("clangd", *arguments), own=Overlay(options=options), like=clangd)
    surroundings = Surroundings(root=root, language="cpp", keywords=frozenset(), cache=tmp_path, timeout=1, memory=0)
    place = Place.new(tmp_path, surroundings)
    try:
        launch = engine.launch(place)
        assert [part for part in launch.command if part.startswith("--enable-config")] == [enabled]
        assert set(arguments) <= set(launch.command)
        assert {**launch.options, **options} == launch.options
        assert ("compilationDatabasePath" in launch.options) == cleaned
        if cleaned:
            text = Path(launch.options["compilationDatabasePath"], "compile_commands.json").read_text()
            assert "-DB" in text
            assert "-fplugin" not in text
            assert "-fplugin (1)" in engine.left_out(root)
    finally:
        place.remove()


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert not CommandRecipe(program="no-such-program").is_made(tmp_path)
    with pytest.raises(InstallError, match="there is no program 'no-such-program' on PATH"):
        CommandRecipe(program="no-such-program").make(None, tmp_path)
    assert CommandRecipe(program="sh").make("7", tmp_path).version == "7"
    assert len(CommandRecipe(program="sh").make(None, tmp_path).version) == 12
