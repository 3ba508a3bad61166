"""The tokens of each language against the language's own parser (`benchmarks/languages.py`)."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.needs import lack

FOLDER = Path(__file__).parents[2] / "benchmarks"
LANGUAGES = ("cpp", "go", "java", "javascript", "kotlin", "php", "python", "ruby", "rust", "scala", "typescript")
FILES = 40


@pytest.fixture
def benchmark_module(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(FOLDER)
    return import_module("languages")


def test_each_disagreement_is_counted(benchmark_module: Any) -> None:
    result = benchmark_module.Result()
    ours = {
        0: ("a", "FIELD"),
        2: ("b", "VARIABLE"),
        4: ("c", "FIELD"),
        6: ("d", "FIELD"),
        8: ("e", "VARIABLE"),
        16: ("i", "FIELD"),
    }
    theirs = {
        0: ("a", "FIELD"),
        2: ("b", "FIELD|TYPE_REFERENCE"),
        4: ("c", "DEFINITION"),
        8: ("e", "VARIABLE|DEFINITION"),
        10: ("f", "KEYWORD"),
        12: ("g", "VARIABLE|DEFINITION"),
        14: ("h", "DEFINITION"),
        16: ("i", "UNDECIDED"),
        18: ("j", "UNDECIDED"),
    }
    result.add("x.py", "a b c d e f g h i j", ours, theirs)
    assert (result.tokens, result.missed, result.invented, result.wrong) == (5, 1, 2, 1)
    assert result.undecided == 1


def test_offsets_of_other_units_become_code_points(benchmark_module: Any) -> None:
    text = "é😀a"
    assert benchmark_module.code_points(text, "bytes")(6) == 2
    assert benchmark_module.code_points(text, "UTF-16")(3) == 2
    assert benchmark_module.code_points(text, "code points")(2) == 2


def test_every_oracle_is_tested(benchmark_module: Any) -> None:
    assert set(LANGUAGES) == benchmark_module.ORACLES.keys()


@pytest.fixture
def projects(request: pytest.FixtureRequest) -> int | None:
    """Return how many projects of a language are compared: all of them weekly (test.yml), else the first."""
    return None if request.config.getoption("--all-engines") else 1


@pytest.mark.slow
@pytest.mark.registry
@pytest.mark.parametrize("name", LANGUAGES)
def test_real_files_have_the_tokens_of_the_language_s_own_parser(
    benchmark_module: Any, projects: int | None, name: str
) -> None:
    try:
        result = benchmark_module.compare_projects(name, benchmark_module.ORACLES[name].projects[:projects], FILES)
        snippets = benchmark_module.compare_snippets(name)
    except benchmark_module.Unavailable as reason:
        lack(str(reason))
    # libclang refuses files whose headers another system has.
    assert result.refused <= (0.4 if name == "cpp" else 0.1) * result.files
    assert result.tokens > 1_000
    assert result.missed <= 0.002 * result.tokens, result.examples
    assert result.invented <= 0.002 * result.tokens, result.examples
    assert result.wrong <= 0.005 * result.tokens, result.examples
    assert snippets.tokens > 0
    assert snippets.missed + snippets.invented + snippets.wrong <= 0.01 * snippets.tokens, snippets.examples
