"""BLEU by hand."""

from __future__ import annotations

import math

import pytest

from ci_eval.plugins.drivers.codebleu.parts import brevity, count_ngrams, match_runs


def test_a_text_has_each_run_as_often_as_it_is_there() -> None:
    assert count_ngrams(["a", "b", "a", "b"], 2) == {("a", "b"): 2, ("b", "a"): 1}
    assert count_ngrams(["a"], 2) == {}


def test_what_is_missed_counts_a_tenth_of_one_and_nothing_in_common_is_0() -> None:
    assert match_runs("abcd", "abcx", {}, most=4) == pytest.approx((3 / 4 * 2 / 3 * 1 / 2 * 0.1 / 1) ** 0.25)
    assert match_runs("ab", "xy", {}, most=2) == 0


def test_only_a_shorter_text_is_penalised() -> None:
    assert (brevity(4, 5), brevity(4, 4), brevity(4, 0)) == (1, 1, 0)
    assert brevity(4, 2) == pytest.approx(math.exp(-1))
