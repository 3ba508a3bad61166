"""How right a line is; whether a file can be parsed with a suggestion in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.catalogs.languages import CATALOG, OF_HOLES
from ci_eval.core.contracts import Pairing
from ci_eval.plugins.graders.inline import GRADERS, GRAMMARS, similarity


def grades(expected: str, text: str) -> dict[str, float]:
    return dict(GRADERS["inline"].grade(Pairing(reference=expected, hypothesis=text)))


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("this is a test", "this is a test!", 0.9655172413793104),
        ("fuzzy wuzzy was a bear", "wuzzy fuzzy was a bear", 0.9090909090909091),
        ("return self.name", "return self._name", 0.9696969696969697),
        ("a", "b", 0.0),
        ("", "", 1.0),
        ("größe = 1", "grosse = 1", 0.7368421052631579),
    ],
)
def test_the_similarity_is_that_of_rapidfuzz(one: str, other: str, ratio: float) -> None:
    """Values of rapidfuzz 3.14.6, fuzz.ratio / 100."""
    assert similarity(one, other) == pytest.approx(ratio, abs=1e-12)


def common(one: str, other: str) -> int:
    """The longest common subsequence, by the textbook's table."""
    row = [0] * (len(other) + 1)
    for letter in one:
        before = row
        row = [0]
        for place, against in enumerate(other, 1):
            row.append(before[place - 1] + 1 if letter == against else max(before[place], row[-1]))
    return row[-1]


@given(st.text(alphabet="abc ", max_size=70), st.text(alphabet="abc ", max_size=70))
def test_the_fast_way_finds_what_the_table_finds(one: str, other: str) -> None:
    lengths = len(one) + len(other)
    assert similarity(one, other) == (2 * common(one, other) / lengths if lengths else 1.0)


@pytest.mark.parametrize(
    ("text", "matched", "first", "line"),
    [
        ("self.name()", 11, 1, 1),
        ("self.", 5, 1, 0),
        ("self.other()", 0, 1, 0),
        ("selfish", 0, 0, 0),
        ("", 0, 0, 0),
    ],
)
def test_what_a_suggestion_saves_and_how_it_begins(text: str, matched: float, first: float, line: float) -> None:
    found = grades("self.name()", text)
    assert (found["matched"], found["firstToken"], found["lineMatch"]) == (matched, first, line)
    assert found["firstLine"] == 11 * line


@pytest.mark.parametrize(("text", "length"), [("if x:", 5), ("if x:\n    no", 5), ("if x", 0), ("if y:\n    a", 0)])
def test_a_first_line_is_right_or_not(text: str, length: float) -> None:
    assert grades("if x:\n    a\n    b", text)["firstLine"] == length


def well_formed(
    text: str, *, before: str = "def f(a):\n    return ", after: str = "\n", language: str = "python"
) -> object:
    pairing = Pairing(reference="a", hypothesis=text, before=before, after=after, language=language)
    return GRADERS["well-formed"].grade(pairing).get("wellFormed")


@pytest.mark.parametrize(("text", "good"), [("a + 1", 1), ("(a", 0), ("a b", 0), ("", 1), ("[a for a in (1,)]", 1)])
def test_a_suggestion_that_breaks_the_file_is_told(text: str, good: int) -> None:
    assert well_formed(text) == good


def test_errors_that_were_there_before_do_not_count() -> None:
    assert well_formed("b", before="def (:\n\nx = ") == 1


def test_a_file_of_typescript_is_read_by_the_grammar_that_fits_it() -> None:
    assert well_formed("b", before="const x = <div>{", after="}</div>;\n", language="typescript") == 1
    assert well_formed("b", before="const x = <any>", after=";\n", language="typescript") == 1


def test_of_plain_text_nothing_is_said() -> None:
    assert well_formed("b", language="text") is None


def test_every_language_with_a_grammar_is_known() -> None:
    known = {each.name: set(filter(None, each.grammars.values())) for each in CATALOG.all()}
    of_holes = {name: {grammar} for name, (_, grammar) in OF_HOLES.items()}
    expected = {name: each for name, each in known.items() if each} | of_holes
    assert {name: set(each) for name, each in GRAMMARS.items()} == expected
