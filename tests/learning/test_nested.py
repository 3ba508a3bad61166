"""Nested caches: what the file, its folder and the project say, mixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ci_eval.core.logs.names import START_OF_LINE
from ci_eval.plugins.learning import nested
from ci_eval.plugins.learning.nested import (
    TOP,
    Corpus,
    Nested,
    Others,
    Project,
    Surrounding,
    Texts,
    backwards,
    may_follow,
    number_tokens,
)
from ci_eval.plugins.learning.ngrams import shares

FILES = {
    "a/one.py": "x = load(path)\n",
    "a/two.py": "y = load(name)\ny = load(name)\n",
    "b/three.py": "z = load(size)\nz = load(size)\nz = load(size)\n",
}


def is_token(text: str) -> bool:
    return text != START_OF_LINE


def likely(
    path: str,
    before: str,
    after: str = "",
    scopes: tuple[str, ...] = ("file", "folder", "project"),
    candidates: int = 60,
) -> list[str]:
    model = Nested(Project(FILES, "python", 4, is_token), path, scopes, 0.5, candidates)
    around = Surrounding("python", 4, is_token)
    around.read(before, after)
    return [text for text, _ in model.likely(around)]


def test_a_nearer_cache_counts_more() -> None:
    assert likely("a/one.py", "q = load(", scopes=("project",))[0] == "size"
    assert likely("a/one.py", "q = load(")[0] == "name"
    assert likely("a/one.py", "q = load(mine)\nq = load(")[0] == "mine"


def test_the_open_file_itself_as_it_is_on_disk_is_never_read() -> None:
    assert "path" not in likely("a/one.py", "x = load(", ")\n")
    assert "size" not in likely("b/three.py", "z = load(", ")\n")


@pytest.mark.parametrize("scope", ["file", "folder", "project"])
def test_each_cache_works_alone_in_a_project_of_one_folder(scope: str) -> None:
    model = Nested(Project({"a.py": "x = load(1)\n"}, "python", 4, is_token), "b.py", (scope,), 0.5, 60)
    around = Surrounding("python", 4, is_token)
    around.read("x = load(2)\nx = ", "")
    assert model.likely(around)[0][0] == "load"


def test_what_stands_behind_the_caret_helps() -> None:
    assert likely("a/one.py", "", "= load(1)\n")[0] in {"y", "z"}
    assert likely("a/one.py", "x = ", "(name)\n")[0] == "load"


def test_so_many_candidates_are_of_each_side_of_the_caret() -> None:
    assert len(likely("a/one.py", "q = load(", candidates=2)) == 2
    assert len(likely("a/one.py", "q = load(", ")\n", candidates=2)) == 4


def test_probabilities_are_a_distribution_over_what_is_known() -> None:
    model = Nested(Project(FILES, "python", 4, is_token), "a/one.py", ("file", "folder", "project"), 0.5, 1000)
    around = Surrounding("python", 4, is_token)
    around.read("q = load(mine)\nq = load(", ")\n")
    probability = [each for _, each in model.likely(around)]
    assert sum(probability) == pytest.approx(1)
    assert probability == sorted(probability, reverse=True)


TEXT = st.text("ab (\n", max_size=40)


@given(TEXT, TEXT, TEXT, TEXT, st.sampled_from(["a.py", "m.py", "z.py"]))
# With the open file, a sum was made in another order: 0.8533333333333333, not 0.8533333333333332.
@example("(\na(a", "", "a\na", "a(", "z.py")
# The open file was read first, so that its "b" came before the others' equal "a".
@example("a b", "", "", "b", "a.py")
def test_nothing_depends_on_the_open_file_as_it_is_on_disk(
    first: str, second: str, before: str, on_disk: str, path: str
) -> None:
    others = {"b.py": first, "n.py": second}

    def ask(files: dict[str, str]) -> tuple[list[tuple[str, float]], list[tuple[str, int]]]:
        project = Project(files, "python", 4, is_token)
        around = Surrounding("python", 4, is_token)
        around.read(before, "")
        model = Nested(project, path, ("file", "folder", "project"), 0.5, 3)
        return model.likely(around), list(project.frequent(path))

    assert ask({**others, path: on_disk}) == ask(others)


def test_a_mixture_is_as_sure_as_its_parts_are_on_average() -> None:
    # Weights 4 and 2, so confidences 3/4 and 1/2: (3/4 * 4 + 1/2 * 2) / 6 = 2/3, and the weight is 3.
    assert shares((1, 2))[1] == pytest.approx(3)


FILE = 'from a import b\nx = b(a)\n\n"""one\ntwo"""\nfor x in b:\n    print(x, a)  # no\n'


def fresh() -> Surrounding:
    return Surrounding("python", 3, lambda text: text != START_OF_LINE)


def shown(around: Surrounding) -> list[object]:
    sides = (around.before, around.after)
    return [(each.tokens, [dict(each.following(each.context(length))) for length in range(3)]) for each in sides]


def test_both_sides_end_at_the_caret() -> None:
    around = fresh()
    around.read("a = 1\nb(", ", c)\n\nd = 2\n")
    assert around.before.tokens == [START_OF_LINE, "a", "=", "1", START_OF_LINE, "b", "("]
    assert around.after.tokens == [START_OF_LINE, "2", "=", "d", START_OF_LINE, ")", "c", ","]


@given(st.lists(st.tuples(st.integers(0, len(FILE)), st.integers(0, 3), st.booleans()), min_size=1, max_size=8))
@settings(max_examples=300)
def test_reading_on_gives_what_reading_anew_gives(places: list[tuple[int, int, bool]]) -> None:
    around = fresh()
    for place, missing, left in places:
        before, after = FILE[:place], "" if left else FILE[place + missing :]
        anew = fresh()
        around.read(before, after)
        anew.read(before, after)
        assert shown(around) == shown(anew)


def test_no_more_than_the_capacity_is_counted_before_the_line() -> None:
    around = Surrounding("python", 1, lambda text: text != START_OF_LINE, capacity=3)
    around.read("a\nb\nc\n", "")
    assert dict(around.before.following(())) == {"b": 1, "c": 1}


Lines = list[list[str]]
CORPUS_FILES = st.lists(st.lists(st.lists(st.sampled_from("abc("), max_size=6), max_size=5), min_size=1, max_size=4)


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
    CORPUS_FILES,
    st.lists(st.sampled_from(["a", "b", "c", "(", START_OF_LINE, "new"]), max_size=5),
    st.sampled_from([0, 48]),
)
def test_counts_are_those_of_counting_one_by_one(files: list[Lines], context: list[str], few: int) -> None:
    texts = Texts()
    read = [number_tokens(file, texts) for file in files]
    kept, nested.FEW = nested.FEW, few
    found = Others(Corpus(read, texts, may_follow(texts, is_letter), 4), None).levels(texts.known(context))
    nested.FEW = kept
    for length in range(min(len(context), 3) + 1):
        expected = one_by_one(files, context[len(context) - length :])
        here = found[length].counts if length < len(found) else {}
        assert here == expected
        if expected:
            assert found[length].total == expected.total()


@given(
    CORPUS_FILES,
    st.lists(st.sampled_from(["a", "b", "(", START_OF_LINE]), max_size=3),
    st.sampled_from([0, 48]),
    st.sampled_from([1, nested.CACHED]),
)
def test_a_file_that_does_not_count_is_as_if_it_were_not_there(
    files: list[Lines], context: list[str], few: int, remembered: int
) -> None:
    texts = Texts()
    read = [number_tokens(file, texts) for file in files]
    ids = texts.known(context)
    follows = may_follow(texts, is_letter)
    kept = nested.FEW, nested.CACHED
    nested.FEW, nested.CACHED = few, remembered
    others = Others(Corpus(read, texts, follows, 4), 0)
    others.levels([])
    found = others.levels(ids)
    expected = Others(Corpus(read[1:], texts, follows, 4), None).levels(ids)
    nested.FEW, nested.CACHED = kept
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
