"""What the rule shows that ci-eval had before VS Code's; and the raw list."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from ci_eval.core.interpret.clients import TypedToken, raw
from ci_eval.core.interpret.clients.editor import show
from ci_eval.core.model import Suggestion
from ci_eval.core.model.sessions import Offer


def caret(prefix: str) -> TypedToken:
    return TypedToken(line=prefix, prefix=prefix, asked=len(prefix), follows=None)


def listed(suggestions: Sequence[Suggestion], prefix: str) -> list[Suggestion]:
    return show(suggestions, caret(prefix)).suggestions


def texts(*suggestions: Suggestion, prefix: str = "") -> list[str]:
    return [found.text for found in listed(suggestions, prefix)]


def test_without_a_typed_word_the_order_is_that_of_sort_text_then_of_text() -> None:
    given = [
        Suggestion(text="b", sort_text="1"),
        Suggestion(text="C", sort_text="0"),
        Suggestion(text="a", sort_text="1"),
    ]
    assert texts(*given) == ["C", "a", "b"]


def test_the_order_in_which_equals_came_does_not_matter() -> None:
    given = [
        Suggestion(text="A", sort_text="1"),
        Suggestion(text="a", sort_text="1"),
        Suggestion(text="a", sort_text="0", kind="class"),
        Suggestion(text="a", sort_text="0", kind="function"),
    ]
    shown = {tuple(listed(order, prefix)) for order in permutations(given) for prefix in ("", "a")}
    assert shown == {(given[2], given[0])}


def test_an_engine_without_sort_text_keeps_its_own_order() -> None:
    assert texts(Suggestion(text="b"), Suggestion(text="a")) == ["b", "a"]


def test_equal_fits_keep_the_order_of_sort_text() -> None:
    given = [Suggestion(text="getB", sort_text="2"), Suggestion(text="getA", sort_text="3"), Suggestion(text="x")]
    assert texts(*given, prefix="get") == ["getB", "getA"]


def test_what_is_compared_is_the_filter_text_and_what_is_inserted_is_the_text() -> None:
    """As the specification says: when there is no filterText the label is used."""
    given = [Suggestion(text="forEach", filter_text="each"), Suggestion(text="each", filter_text="other")]
    assert texts(*given, prefix="ea") == ["forEach"]


def test_raw_shows_everything_as_it_came() -> None:
    given = [Suggestion(text="b", sort_text="2"), Suggestion(text="a", sort_text="1"), Suggestion(text="b")]
    assert [found.text for found in raw.show(given, caret("x")).suggestions] == ["b", "a"]


def test_offers_count_by_their_first_word_as_they_did_then() -> None:
    given = [
        Offer(text="environ", tail="=", label="environ=", sort_text="1"),
        Offer(text="environ", sort_text="2"),
        Offer(text="std::vector", label="vector", sort_text="3", visible=False),
    ]
    assert listed(given, "") == [
        Suggestion(text="environ", label="environ=", sort_text="1"),
        Suggestion(text="std", label="vector", sort_text="3"),
    ]
