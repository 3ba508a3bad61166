"""Whether a file can be parsed with a suggestion in it."""

from __future__ import annotations

import pytest

from ci_eval.core.catalogs.languages import CATALOG, OF_HOLES
from ci_eval.core.contracts import Pairing
from ci_eval.plugins.graders.well_formed import GRADER, GRAMMARS


def well_formed(
    text: str, *, before: str = "def f(a):\n    return ", after: str = "\n", language: str = "python"
) -> object:
    pairing = Pairing(reference="a", hypothesis=text, before=before, after=after, language=language)
    return GRADER.grade(pairing).get("wellFormed")


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
