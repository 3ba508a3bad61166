"""Counts of what follows what, held against counting one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.logs.names import START_OF_LINE
from ci_eval.plugins.learning import corpus
from ci_eval.plugins.learning.corpus import TOP, Corpus, Others, Texts, backwards, may_follow, number_tokens

Lines = list[list[str]]
FILES = st.lists(st.lists(st.lists(st.sampled_from("abc("), max_size=6), max_size=5), min_size=1, max_size=4)


def is_letter(text: str) -> bool:
    return text.isalpha()


def one_by_one(files: Sequence[Lines], context: Sequence[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for file in files:
        tokens = [token for line in file if line for token in [START_OF_LINE, *line]]
        for place, token in enumerate(tokens):
            begin = place - len(context)
            if is_letter(token) and begin >= 0 and tokens[begin:place] == list(context):
                found[token] += 1
    return found


@given(
    FILES, st.lists(st.sampled_from(["a", "b", "c", "(", START_OF_LINE, "new"]), max_size=5), st.sampled_from([0, 48])
)
def test_counts_are_those_of_counting_one_by_one(files: list[Lines], context: list[str], few: int) -> None:
    texts = Texts()
    read = [number_tokens(file, texts) for file in files]
    kept, corpus.FEW = corpus.FEW, few
    found = Others(Corpus(read, texts, may_follow(texts, is_letter), 4), None).levels(texts.known(context))
    corpus.FEW = kept
    for length in range(min(len(context), 3) + 1):
        expected = one_by_one(files, context[len(context) - length :])
        here = found[length].counts if length < len(found) else {}
        assert here == expected
        if expected:
            assert found[length].total == expected.total()


@given(
    FILES,
    st.lists(st.sampled_from(["a", "b", "(", START_OF_LINE]), max_size=3),
    st.sampled_from([0, 48]),
    st.sampled_from([1, corpus.REMEMBERED]),
)
def test_a_file_that_does_not_count_is_as_if_it_were_not_there(
    files: list[Lines], context: list[str], few: int, remembered: int
) -> None:
    texts = Texts()
    read = [number_tokens(file, texts) for file in files]
    ids = texts.known(context)
    follows = may_follow(texts, is_letter)
    kept = corpus.FEW, corpus.REMEMBERED
    corpus.FEW, corpus.REMEMBERED = few, remembered
    others = Others(Corpus(read, texts, follows, 4), 0)
    others.levels([])
    found = others.levels(ids)
    expected = Others(Corpus(read[1:], texts, follows, 4), None).levels(ids)
    corpus.FEW, corpus.REMEMBERED = kept
    assert [(each.total, list(each.top)) for each in found] == [(each.total, list(each.top)) for each in expected]
    left = [{text: count - each.less.get(text, 0) for text, count in each.counts.items()} for each in found]
    assert [{text: count for text, count in each.items() if count} for each in left] == [
        each.counts for each in expected
    ]
    for each in expected:
        assert list(each.top) == sorted(each.counts, key=lambda text: (-each.counts[text], texts.ids[text]))[:TOP]


def test_backwards_lines_and_tokens_come_in_reverse_order() -> None:
    texts = Texts()
    file = number_tokens([["a", "b"], [], ["c", "d", "e"]], texts)
    turned = [texts.texts[each] for each in backwards(file, texts.ids[START_OF_LINE])]
    assert turned == [START_OF_LINE, "e", "d", "c", START_OF_LINE, "b", "a"]
    assert len(backwards(np.empty(0, dtype=np.int32), 1)) == 0
