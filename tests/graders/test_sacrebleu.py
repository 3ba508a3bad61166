"""BLEU and chrF in both directions: the values of sacrebleu called directly, recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from ci_eval.core.catalogs import graders
from ci_eval.core.contracts import Pairing

RECORDED = json.loads(Path(__file__).with_name("sacrebleu.json").read_text())["pairs"]
NAMES = ["bleu", "bleu-mera", "chrf", "chrf-mera"]
FULL = "Переменная не используется, её можно удалить."
SHORT = "Переменная не используется."


def score(grader: str, reference: str, hypothesis: str) -> float:
    scores: Mapping[str, float] = graders.CATALOG.load(grader).grade(
        Pairing(reference=reference, hypothesis=hypothesis)
    )
    assert list(scores) == ["score"]
    return scores["score"]


@pytest.mark.parametrize("grader", NAMES)
def test_all_recorded_values_are_met(grader: str) -> None:
    found = [score(grader, each["reference"], each["hypothesis"]) for each in RECORDED]
    assert found == pytest.approx([each[grader] for each in RECORDED], abs=1e-9)


@pytest.mark.parametrize("grader", NAMES)
def test_an_equal_text_has_exactly_100_and_none_has_0(grader: str) -> None:
    assert score(grader, FULL, FULL) == 100.0
    assert score(grader, FULL, "") == 0.0


def test_a_short_text_is_favoured_only_with_the_arguments_of_mera() -> None:
    assert score("chrf-mera", FULL, SHORT) > 80
    assert score("chrf", FULL, SHORT) < 65


def test_an_equal_text_of_one_word_has_nothing_in_mera_only() -> None:
    assert score("bleu", "Да", "Да") == 100.0
    assert score("bleu-mera", "Да", "Да") == 0.0
