"""What later parts of a file are missing, or different, while an earlier one is typed."""

from __future__ import annotations

import re

import pytest

from ci_eval.core.model import EvolutionConfig, StrategyConfig
from tests.actions.views import TEXT, views


def test_later_lines_are_missing_and_earlier_ones_are_there() -> None:
    shown = views(StrategyConfig(evolution=EvolutionConfig(share=1)))
    assert "value = first" not in shown["os"][1]
    assert "print(value)" not in shown["self"][0]
    assert shown["print"] == [TEXT.replace("print", "|")]


def test_later_definitions_are_missing() -> None:
    shown = views(StrategyConfig(evolution=EvolutionConfig(share=1, what="definitions")))
    assert "def method" not in shown["os"][1]
    assert "def first(a)" in shown["os"][1]
    assert "def method" in shown["value"][0]


def test_imports_are_missing_until_they_are_typed_themselves() -> None:
    shown = views(StrategyConfig(evolution=EvolutionConfig(share=1, what="imports")))
    assert shown["sys"][0].startswith("import |\n")
    assert shown["argv"][0].startswith("\n\ndef first")


def test_a_different_line_is_one_of_the_same_depth() -> None:
    shown = views(StrategyConfig(evolution=EvolutionConfig(share=1, how="different")))
    assert re.search(r"def method\(self\):\n        (return|print)", shown["os"][1])


@pytest.mark.parametrize("what", ["lines", "definitions", "imports"])
def test_the_seed_decides_what_is_missing(what: str) -> None:
    strategy = StrategyConfig(evolution=EvolutionConfig(share=0.5, what=what))  # type: ignore[arg-type]
    assert views(strategy) == views(strategy)
    assert len({str(views(strategy, seed=seed)) for seed in range(8)}) > 1
