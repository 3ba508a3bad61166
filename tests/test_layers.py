"""The table of layers in CONTRIBUTING, enforced."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ci_eval

ROOT = Path(ci_eval.__file__).parent
VARIANTS = {"languages", "metrics", "rankers", "reporters", "engines"}
LOWEST = {"errors", "model"}
ALLOWED = {
    "errors": set(),
    "model": set(),
    "contracts": {"model"},
    "support": LOWEST | {"contracts", "support"},
    "config": LOWEST | {"contracts", "support"},
    "manifest": LOWEST | {"support"},
    "workspace": LOWEST | {"contracts", "support", "manifest"},
    **{variant: LOWEST | {"contracts", "support"} for variant in VARIANTS},
    "stages": LOWEST | {"contracts", "support", "manifest", "workspace"},
    "jobs": LOWEST | VARIANTS | {"contracts", "support", "config", "manifest", "workspace", "stages"},
    "cli": {"jobs", "config", "errors", "model", "support"},
    "__main__": {"cli"},
    "__init__": set(),
    "drivers": set(),
}
MODULES = sorted(path for path in ROOT.rglob("*.py"))


def layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield from (
                [f"{node.module}.{name.name}" for name in node.names]
                if node.module == "ci_eval"
                else [node.module or ""]
            )
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def ours(path: Path) -> set[str]:
    return {name for name in imports(path) if name.startswith("ci_eval.") and name != "ci_eval.__version__"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_the_layers_below(path: Path) -> None:
    reached = {name.split(".")[1] for name in ours(path)}
    assert reached - ALLOWED[layer(path)] - {layer(path)} == set()


@pytest.mark.parametrize("path", [p for p in MODULES if layer(p) in VARIANTS and p.stem != "__init__"], ids=str)
def test_a_variant_imports_no_sibling(path: Path) -> None:
    assert not {name for name in ours(path) if name.split(".")[1] == layer(path)}


@pytest.mark.parametrize("path", [p for p in MODULES if layer(p) == "stages" and p.stem != "__init__"], ids=str)
def test_a_stage_imports_no_other_stage(path: Path) -> None:
    own = path.relative_to(ROOT / "stages").parts[0].removesuffix(".py")
    assert {name.split(".")[2] for name in ours(path) if name.startswith("ci_eval.stages.")} <= {own}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_imported_inside_a_function_or_for_type_checking_only(path: Path) -> None:
    tree = ast.parse(path.read_text())
    inner = [
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert not inner
    assert "TYPE_CHECKING" not in path.read_text()


def test_every_module_says_in_a_sentence_what_it_is() -> None:
    silent = [path for path in MODULES if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text()))]
    assert silent == []


def test_no_module_has_more_than_500_lines() -> None:
    assert [path for path in MODULES if len(path.read_text().splitlines()) > 500] == []
