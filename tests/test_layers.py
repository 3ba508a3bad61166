"""The picture and the table of docs/architecture.md, enforced."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ci_eval

ROOT = Path(ci_eval.__file__).parent
PAGE = (ROOT.parent / "docs" / "architecture.md").read_text()
VARIANTS = {"languages", "metrics", "rankers", "reporters", "engines", "tasks", "graders", "schemes", "formats", "apis"}
VARIANTS |= {"streams", "kinds", "generations"}
APART = {"__init__", "drivers"}
PICTURE = PAGE.split("```")[1].strip().splitlines()
HEIGHT = {room: -number for number, line in enumerate(PICTURE) for room in line.split()}
ROOMS = dict(re.findall(r"^\| `(\w+)/` \| .+? \| ?(.*?) ?\|$", PAGE, re.MULTILINE))
MODULES = sorted(ROOT.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(part: ast.AST) -> Iterator[str]:
    for node in ast.walk(part):
        if isinstance(node, ast.ImportFrom):
            yield from (
                [f"{node.module}.{name.name}" for name in node.names]
                if node.module == "ci_eval"
                else [node.module or ""]
            )
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def ours(path: Path) -> set[str]:
    return {
        name
        for name in imported(ast.parse(path.read_text()))
        if name.startswith("ci_eval.") and name != "ci_eval.__version__"
    }


def reached(path: Path) -> set[str]:
    """The rooms that a module imports from, its own aside."""
    return {name.split(".")[1] for name in ours(path)} - {room(path)}


def test_the_picture_has_every_room() -> None:
    assert {room(path) for path in MODULES} - APART == set(HEIGHT)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_the_lines_below(path: Path) -> None:
    above = {each for each in reached(path) if HEIGHT[each] >= HEIGHT.get(room(path), 0)}
    assert above == set()


@pytest.mark.parametrize("name", sorted(ROOMS))
def test_a_room_imports_from_the_rooms_that_the_table_names(name: str) -> None:
    found = {each for path in MODULES if room(path) == name for each in reached(path)}
    folders = {each for each in found if (ROOT / each).is_dir() and each != "model"}
    named = set(re.findall(r"`(\w+)`", ROOMS[name]))
    if ROOMS[name].startswith("all but"):
        named = set(ROOMS) - {name, "model", "drivers"} - named
    assert folders == named


@pytest.mark.parametrize("path", [p for p in MODULES if room(p) in VARIANTS and p.parent != ROOT / room(p)], ids=str)
def test_a_variant_of_several_files_imports_no_other(path: Path) -> None:
    own = f"ci_eval.{room(path)}.{path.relative_to(ROOT).parts[1]}"
    assert not {name for name in ours(path) if name.startswith(f"ci_eval.{room(path)}.") and not name.startswith(own)}


@pytest.mark.parametrize("path", [p for p in MODULES if p.parent.name in VARIANTS and p.stem != "__init__"], ids=str)
def test_a_variant_imports_no_sibling(path: Path) -> None:
    folder = f"ci_eval.{path.parent.relative_to(ROOT).as_posix().replace('/', '.')}"
    assert not {name for name in ours(path) if f"{name}.".startswith(f"{folder}.")}


@pytest.mark.parametrize("path", [p for p in MODULES if room(p) == "stages" and p.stem != "__init__"], ids=str)
def test_a_stage_imports_no_other_stage(path: Path) -> None:
    own = path.relative_to(ROOT / "stages").parts[0].removesuffix(".py")
    assert {name.split(".")[2] for name in ours(path) if name.startswith("ci_eval.stages.")} <= {own}


SLOW = {"git", "jedi", "requests", "urllib3"}
"""Libraries that take long to import, and that most commands never need."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_slow_libraries_are_imported_inside_a_function_or_for_type_checking_only(path: Path) -> None:
    inner = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        for name in imported(node)
    }
    assert inner <= SLOW


def test_every_module_says_in_a_sentence_what_it_is() -> None:
    silent = [path for path in MODULES if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text()))]
    assert silent == []


def test_no_module_has_more_than_500_lines() -> None:
    assert [path for path in MODULES if len(path.read_text().splitlines()) > 500] == []


def test_no_folder_has_more_than_20_modules_but_those_of_variants() -> None:
    folders = {path.parent for path in MODULES if path.parent.name not in VARIANTS}
    full = [folder for folder in folders if len([p for p in folder.glob("*.py") if p.stem != "__init__"]) > 20]
    assert full == []


def test_no_room_has_more_than_30_percent_of_the_lines() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in MODULES}
    shares = {each: sum(lines[p] for p in MODULES if room(p) == each) / sum(lines.values()) for each in HEIGHT}
    assert max(shares.values()) <= 0.3
