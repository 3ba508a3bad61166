"""Plain words: how docstrings begin, and names that say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import ci_eval
from tests.words import Words, count_comments, read_words

PACKAGE = Path(ci_eval.__file__).parent


@pytest.fixture(scope="module")
def words() -> dict[Path, Words]:
    return {path: read_words(path) for path in sorted(PACKAGE.rglob("*.py"))}


def places(words: dict[Path, Words], rule: str) -> list[str]:
    return [f"{path.relative_to(PACKAGE)}:{line}" for path, module in words.items() for line in getattr(module, rule)]


def test_few_docstrings_are_inverted(words: dict[Path, Words]) -> None:
    inverted = places(words, "inverted")
    assert len(inverted) <= 0.03 * sum(len(module.docstrings) for module in words.values()), inverted


def test_few_names_say_nothing(words: dict[Path, Words]) -> None:
    empty = places(words, "empty_names")
    assert len(empty) <= 0.001 * sum(len(module.names) for module in words.values()), empty


def test_few_functions_are_named_by_a_participle_or_a_preposition(words: dict[Path, Words]) -> None:
    names = [f"{path.relative_to(PACKAGE)}: {name}" for path, module in words.items() for name in module.participles]
    assert len(names) <= 0.06 * sum(len(module.functions) for module in words.values()), names


def test_comments_give_reasons(words: dict[Path, Words]) -> None:
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in words)
    assert sum(map(count_comments, words)) >= 0.02 * lines


def test_faults_are_found(tmp_path: Path) -> None:
    path = tmp_path / "planted.py"
    path.write_text(
        '"""What this module holds and does."""\n'
        "LIMIT = 3\n"
        '"""Of the most that there may be."""\n'
        "def gathered(found):\n"
        '    """Some of them."""\n'
        "    # The engine sorts by itself.\n"
        "    return [each for each in found]  # noqa: C416\n"
        "def is_confined(path):\n"
        '    """Return whether the engine in `path` is confined."""\n'
        "def seed(path): ...\n"
    )
    words = read_words(path)
    assert sorted(words.inverted) == [1, 3, 5]
    assert words.empty_names == [4, 7, 7, 7]
    assert words.participles == ["gathered"]
    assert count_comments(path) == 1
