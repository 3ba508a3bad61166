"""What doctor says of engines and of the programs they need."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.core.catalogs import engines
from ci_eval.jobs import doctor
from ci_eval.plugins.adapters.engine import FromRecipe
from ci_eval.plugins.adapters.recipes import Pip, once
from tests.fetch.standins import client


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path))
    return tmp_path


def findings() -> dict[str, doctor.Finding]:
    return {found.what: found for found in doctor.programs_and_engines()}


def test_an_engine_is_installed_or_comes_on_first_use(cache: Path) -> None:
    name = next(what for what in findings() if what.startswith("engine ty "))
    assert findings()[name].detail == "is installed from PyPI on first use"
    recipe = Pip(package="ty", version=name.rpartition(" ")[2])
    once(cache / "engines" / recipe.name(recipe.version), recipe.version, lambda _: {})
    assert findings()[name].detail == "installed"


@pytest.mark.usefixtures("cache")
def test_a_program_that_a_new_engine_needs_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    ty = engines.CATALOG.load("ty")
    assert isinstance(ty, FromRecipe)
    monkeypatch.setattr(engines.CATALOG, "all", lambda: [replace(ty, name="new", runs_on=("no-such-program",))])
    assert findings()["no-such-program (new)"].detail == "not found"
    assert findings()[f"engine new {ty.version}"].detail == "needs no-such-program; see above"


@pytest.mark.usefixtures("cache")
def test_an_engine_whose_toolchain_is_too_old_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "go", "echo go version go1.24.4 linux/amd64")
    gopls = next(finding for what, finding in findings().items() if what.startswith("engine gopls "))
    assert (gopls.good, gopls.detail) == (False, "needs go 1.26 or newer; here is 1.24.4")


@pytest.mark.usefixtures("cache")
def test_a_missing_program_is_named_with_what_needs_it_and_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "go" else f"/bin/{name}")
    found = findings()
    go = found["go (go: projects; gopls)"]
    assert (go.good, go.needed) == (False, False)
    assert "apt-get install golang-go" in go.detail
    gopls = next(finding for what, finding in found.items() if what.startswith("engine gopls "))
    assert (gopls.good, gopls.detail) == (False, "needs go; see above")


@pytest.mark.usefixtures("cache")
def test_what_was_only_found_is_not_called_tried() -> None:
    found = findings()
    ty = next(finding for what, finding in found.items() if what.startswith("engine ty "))
    assert (ty.good, ty.tried) == (True, False)
    assert not any(finding.tried for finding in found.values() if finding.good)
