"""The vocabulary of a project."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.actions.vocabulary import Texts


def test_open_is_what_no_other_file_has_and_new_the_first_of_it() -> None:
    texts = Texts()
    texts.add({"a": 3, "b": 2})
    texts.add({"b": 1, "c": 4})
    found = texts.summed()
    assert found
    assert (found.tokens, found.texts) == (10, 3)
    assert [found.open, found.new] == pytest.approx([0.7, 0.2])


def test_nothing_has_no_vocabulary() -> None:
    assert Texts().summed() is None


@given(st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1), min_size=1))
def test_it_is_what_counting_again_gives(files: list[list[str]]) -> None:
    texts = Texts()
    for each in files:
        texts.add(Counter(each))
    found = texts.summed()
    assert found
    alone = [
        text for i, one in enumerate(files) for text in one if not any(text in x for x in files[:i] + files[i + 1 :])
    ]
    assert found.open == pytest.approx(len(alone) / sum(map(len, files)))
    assert found.new == pytest.approx(len(set(alone)) / sum(map(len, files)))
