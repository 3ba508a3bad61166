"""The n-gram cache: SLP-Core's own numbers, and the same whatever was read before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.core.logs.names import count
from ci_eval.plugins.learning import ngrams
from ci_eval.plugins.learning.ngrams import Typed, interpolate, mix

TEXTS = ["a", "b", "c", "d", "e"]
SLP_CORE = {
    # Of the file, of the project, and mixed: as JMModel(6), JMModel(3) and InverseMixModel print them at commit
    # 9c428ce22bde, both models having read all at once (`learn`; `learnToken` counts a sequence again with each token).
    "a b c a b c d a b ": (
        (0.047619047619047616, 0.047619047619047616, 0.888888888888889, 0.015873015873015872, 0.0),
        (0.12337662337662338, 0.05194805194805195, 0.5497835497835498, 0.2748917748917749, 0.0),
        (0.08549783549783549, 0.049783549783549784, 0.7193362193362194, 0.1453823953823954, 0.0),
    ),
    "a b c a b c d c a b a b c a b c ": (
        (0.15575396825396826, 0.00496031746031746, 0.00496031746031746, 0.8343253968253969, 0.0),
        (0.4805194805194805, 0.4805194805194805, 0.025974025974025976, 0.012987012987012988, 0.0),
        (0.1918390251723585, 0.057800224466891134, 0.007295173961840629, 0.7430655763989098, 0.0),
    ),
}


@pytest.mark.parametrize(("before", "expected"), SLP_CORE.items())
def test_the_probabilities_are_those_of_slp_core(before: str, expected: tuple[tuple[float, ...], ...]) -> None:
    typed = Typed()
    typed.read(before)
    others = count(["a b c a b d a b c b a"]).without("")
    file, project = interpolate(typed.levels(TEXTS)), interpolate(others.levels(TEXTS, typed.context(2)))
    found = np.stack([file[0], project[0], mix(file, project)])
    assert found == pytest.approx(np.array(expected))


def test_a_model_that_saw_nothing_has_no_weight() -> None:
    known = np.array([0.25, 0.75]), 2
    unknown = interpolate([(np.zeros(2), 0.0)])
    assert mix(known, unknown).tolist() == mix(unknown, known).tolist() == [0.25, 0.75]
    assert mix(unknown, unknown).tolist() == [0.0]


FILE = "from a import b\nx = b(a)\n\n   \nfor x in b:\n    print(x, a)\n" * 2


@given(st.lists(st.integers(0, len(FILE)), min_size=1, max_size=8), st.sampled_from([5, 5_000]))
@settings(max_examples=100)
def test_reading_on_gives_what_reading_anew_gives(places: list[int], capacity: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ngrams, "CAPACITY", capacity)
        typed = Typed()
        for place in places:
            fresh = Typed()
            typed.read(FILE[:place])
            fresh.read(FILE[:place])
            assert known(typed) == known(fresh)


def known(typed: Typed) -> object:
    names = ["a", "b", "x", "print", "for"]
    levels = [(counts.tolist(), total) for counts, total in typed.levels(names)]
    return levels, typed.context(6), [typed.last(name) for name in names]


def test_the_cache_holds_the_last_tokens_alone() -> None:
    typed = Typed()
    typed.read("first\n" + "x\n" * (ngrams.CAPACITY // 2) + "x ")
    counts, total = next(iter(typed.levels(["first", "x"])))
    assert (counts.tolist(), total) == ([0, ngrams.CAPACITY // 2 + 1], ngrams.CAPACITY // 2 + 1)
    assert typed.last("first") == 2
