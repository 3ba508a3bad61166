"""What engines declare about the files that their answers depend on."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.catalogs import engines
from ci_eval.plugins.adapters.closure import Closure, find_closure, source_roots


def test_what_is_declared_is_known_of_each_engine() -> None:
    closures = {name: find_closure(engines.CATALOG.load(name)) for name in engines.names()}
    assert {name for name, closure in closures.items() if closure is Closure.FILE} == {"words"}
    assert {name for name, closure in closures.items() if closure is Closure.IMPORTS} == {"basedpyright", "pyright"}
    # It looks for calls of a function in all files of the project.
    assert closures["jedi"] is Closure.PROJECT


def package_of(text: str) -> str | None:
    return None if text == "none" else text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "a" / "project"


def write(root: Path, path: str, package: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(package)


def test_a_root_is_where_the_folders_of_a_package_begin(root: Path) -> None:
    write(root, "src/main/java/a/b/C.java", "a.b")
    write(root, "src/main/java/a/D.java", "a")
    write(root, "src/test/java/a/b/T.java", "a.b")
    assert source_roots(root, ".java", package_of) == [root / "src/main/java", root / "src/test/java"]


def test_a_file_without_a_package_is_in_a_root(root: Path) -> None:
    write(root, "examples/E.java", "")
    assert source_roots(root, ".java", package_of) == [root / "examples"]


def test_a_file_that_is_not_where_its_package_is_has_no_root(root: Path) -> None:
    write(root, "data/C.java", "a.b")
    write(root, "other/E.java", "none")
    assert source_roots(root, ".java", package_of) == []


def test_no_root_is_outside_the_project(root: Path) -> None:
    write(root, "C.java", "a.project")
    assert source_roots(root, ".java", package_of) == []
