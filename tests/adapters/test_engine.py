"""What engines declare: the files that their answers depend on, and their toolchains."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.catalogs import engines
from ci_eval.plugins.adapters.engine import (
    TOOLCHAINS,
    Closure,
    FromRecipe,
    check_toolchains,
    find_closure,
    is_at_least,
    newest_toolchains,
    read_toolchain,
)
from tests.fetch.standins import client
from tests.needs import REQUIRE_ALL, need_engine

SAID = {
    "go": ("go version go1.24.4 linux/amd64", "1.24.4"),
    "java": ("openjdk 17.0.15 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6)", "17.0.15"),
    "node": ("v20.20.2", "20.20.2"),
    "php": ("PHP 8.4.16 (cli) (built: Jan  1 2026 00:00:00) (NTS)", "8.4.16"),
    "ruby": ("ruby 3.1.2p20 (2022-04-12 revision 4491bb740a) [x86_64-linux-gnu]", "3.1.2"),
}


def test_what_is_declared_is_known_of_each_engine() -> None:
    closures = {name: find_closure(engines.CATALOG.load(name)) for name in engines.names()}
    assert {name for name, closure in closures.items() if closure is Closure.FILE} == {"words"}
    assert {name for name, closure in closures.items() if closure is Closure.IMPORTS} == {"basedpyright", "pyright"}
    # It looks for calls of a function in all files of the project.
    assert closures["jedi"] is Closure.PROJECT


@pytest.mark.parametrize("name", TOOLCHAINS)
def test_the_version_is_what_the_program_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said, version = SAID[name]
    client(tmp_path, monkeypatch, name, f"printf '%s\\n' '{said}'")
    assert read_toolchain(name) == version


def test_a_program_that_is_not_there_or_fails_has_no_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "go", "echo 1.26; exit 1")
    assert read_toolchain("go") == ""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert read_toolchain("go") == ""


@pytest.mark.parametrize(
    ("here", "lowest", "enough"),
    [("1.26", "1.26", True), ("1.26.8", "1.26", True), ("1.9", "1.26", False), ("21", "17", True), ("", "17", False)],
)
def test_versions_are_compared_number_by_number(here: str, lowest: str, enough: bool) -> None:
    assert is_at_least(here, lowest) is enough


def test_of_two_needs_the_newer_one_counts() -> None:
    assert newest_toolchains({"go": "1.9", "java": "17"}, {"go": "1.26"}) == {"go": "1.26", "java": "17"}


def test_an_engine_is_not_installed_with_an_older_toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "go", "echo go version go1.24.4 linux/amd64")
    with pytest.raises(PreparationError, match=r"gopls needs go 1\.26 or newer; found 1\.24\.4.*setup-go"):
        engines.CATALOG.load("gopls").install(None, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_where_there_is_none_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PreparationError, match="found none"):
        check_toolchains("x", {"php": "8.1"})


def test_a_test_of_an_engine_is_skipped_where_its_toolchain_is_too_old_or_fails_where_nothing_may_lack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "go", "echo go version go1.24.4 linux/amd64")
    gopls = engines.CATALOG.load("gopls")
    assert isinstance(gopls, FromRecipe)
    monkeypatch.delenv(REQUIRE_ALL, raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"gopls needs go 1\.26 or newer, here is 1\.24\.4"):
        need_engine(gopls)
    monkeypatch.setenv(REQUIRE_ALL, "1")
    with pytest.raises(pytest.fail.Exception, match="gopls needs go"):
        need_engine(gopls)


@pytest.mark.parametrize("name", engines.names())
def test_an_engine_declares_every_toolchain_among_the_programs_it_needs(name: str) -> None:
    engine = engines.CATALOG.load(name)
    assert set(engine.toolchains) == set(engine.needs) & set(TOOLCHAINS)
