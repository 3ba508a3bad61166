"""Lists of real servers that were once read wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core import machine
from ci_eval.core.catalogs import engines
from ci_eval.core.contracts import Query, Surroundings
from ci_eval.core.interpret.clients import CATALOG as CLIENTS
from ci_eval.core.interpret.clients import TypedToken
from ci_eval.core.model import Suggestion
from tests.projects import write

pytestmark = [pytest.mark.engine, pytest.mark.registry]

SHAPES = "struct Shape { int width; };\n#ifdef __OBJC__\nint of_objective_c;\n#else\nint of_cpp;\n#endif\n"
GO = """package main

import "net/http"

func limit() error {
\tvar tooLarge *http.MaxBytesError
\ttooLarge = |
\treturn tooLarge
}

func main() { limit() }
"""
CLASS = """class Base {
  extend(text: string): string { return text; }
  run(): string { return |; }
}
"""


def complete(name: str, language: str, root: Path, path: str, prefix: str = "") -> list[Suggestion]:
    """Return the suggestions of an engine at `|` in a file of the project, behind the prefix."""
    before, after = (root / path).read_text().split("|")
    engine = engines.CATALOG.load(name)
    surroundings = Surroundings(
        root=root,
        language=language,
        keywords=frozenset(),
        cache=machine.cache_folder(),
        timeout=120,
        memory=8 * 10**9,
        confine="off",
    )
    running = engine.start(engine.install(None, machine.cache_folder()), surroundings)
    try:
        running.open(path, f"{before}{prefix}{after}")
        return list(running.complete(Query(offset=len(before + prefix), prefix=prefix, expected="")).suggestions)
    finally:
        running.close()


@pytest.mark.parametrize(
    ("beside", "expected", "is_objective_c"),
    [("a.cpp", {"of_cpp", "Shape", "width"}, False), ("a.m", {"of_objective_c", "Shape"}, True)],
)
def test_clangd_reads_a_header_in_the_language_of_its_project(
    tmp_path: Path, beside: str, expected: set[str], is_objective_c: bool
) -> None:
    header = f"{SHAPES}struct Box : Shape {{ int twice() {{ return | + width; }} }};\n"
    root = write(tmp_path, **{"shapes.h": header, beside: '#include "shapes.h"\n'})
    texts = {suggestion.text for suggestion in complete("clangd", "cpp", root, "shapes.h")}
    assert expected <= texts
    assert any(text.startswith("@") for text in texts) is is_objective_c


def test_the_escaped_brace_of_gopls_is_a_brace(tmp_path: Path) -> None:
    """gopls writes the literal as `&http.MaxBytesError{$0\\}`."""
    root = write(tmp_path, **{"go.mod": "module example\n\ngo 1.21\n", "a.go": GO})
    literals = [suggestion for suggestion in complete("gopls", "go", root, "a.go") if "MaxBytes" in suggestion.text]
    assert [suggestion.text for suggestion in literals] == ["&http.MaxBytesError{}"]


@pytest.mark.parametrize("name", ["typescript", "typescript-language-server"])
def test_a_member_that_needs_this_is_shown(tmp_path: Path, name: str) -> None:
    root = write(tmp_path, **{"a.ts": CLASS, "tsconfig.json": "{}"})
    line = "  run(): string { return ext"
    listing = CLIENTS.load("vscode").show(
        complete(name, "typescript", root, "a.ts", "ext"), TypedToken(prefix="ext", line=line, asked=3, follows=None)
    )
    assert "this.extend" in [suggestion.text for suggestion in listing.suggestions[:3]]
