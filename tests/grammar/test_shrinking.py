"""What may be cut out of a text, and where the rest was."""

from __future__ import annotations

import pytest

from ci_eval.core.grammar.shrinking import INSERTED, Cut, Excerpt, Shrinker, minimise

TEXT = "import os\n\nclass A:\n    def f(self, a, b=1):\n        if a:\n            return a.b\n        return b\n"
TOKEN = TEXT.index(".b") + 1


def shrinker(text: str = TEXT) -> Shrinker:
    begin = text.index(".b") + 1
    return Shrinker(Excerpt.whole(text), "python", (begin, begin + 1))


def test_an_excerpt_knows_where_its_characters_were() -> None:
    excerpt = Excerpt.whole("abcdef").cut([Cut(1, 3, "X"), Cut(2, 4)])
    assert excerpt.text == "aXef"
    assert list(excerpt.origins) == [0, INSERTED, 4, 5]
    assert (excerpt.find(4), excerpt.find(2), excerpt.find_from(3)) == (2, None, 2)


def test_units_are_dropped_until_each_is_needed() -> None:
    asked = list[list[int]]()

    def holds(units: list[int]) -> bool:
        asked.append(units)
        return {3, 40} <= {*units}

    assert minimise(range(64), holds) == [3, 40]
    assert len(asked) < 64


def test_statements_around_the_token_are_not_cut() -> None:
    whole = shrinker().excerpt
    texts = [whole.cut(ways[0]).text for ways in shrinker().statements(0)]
    assert [TEXT.replace("import os\n", ""), TEXT.replace("        return b\n", "")] == texts


def test_a_parameter_goes_with_its_comma() -> None:
    whole = shrinker().excerpt
    texts = {whole.cut(way).text for ways in shrinker().nodes(1) for way in ways}
    assert TEXT.replace(", b=1", "") in texts
    assert TEXT.replace("self, ", "") in texts


def test_a_statement_takes_the_place_of_the_one_around_it() -> None:
    text = "if x:\n    for y in z:\n        f(\n            y.b\n        )\n"
    unwrapped = {Excerpt.whole(text).cut(cuts).text for cuts in shrinker(text).unwrapped()}
    assert "for y in z:\n    f(\n        y.b\n    )\n" in unwrapped


def test_the_role_begins_with_the_object_and_ends_at_the_statement() -> None:
    assert shrinker().role() == ("identifier", "identifier", "attribute", "return_statement")


@pytest.mark.parametrize(
    ("text", "name"),
    [("a.b\n", "a"), ("x.a.b\n", "a"), ("x.a(y.z)[0].b\n", "a"), ("a.c(x)(y).b\n", "c"), ("x = b\n", None)],
)
def test_the_object_of_a_member_is_found_by_its_last_name(text: str, name: str | None) -> None:
    begin = text.rindex("b")
    receiver = Shrinker(Excerpt.whole(text), "python", (begin, begin + 1)).receiver()
    assert (None if receiver is None else text[receiver]) == name
