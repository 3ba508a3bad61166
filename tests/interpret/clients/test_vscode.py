"""The same lists as VS Code's own code makes of what servers answer.

`lists.jsonl` holds lists, made by hand and at random; `shown.jsonl` what `vscode.mjs` printed for each.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.interpret.clients import CATALOG, Listing, TypedToken
from ci_eval.core.interpret.clients.vscode import show
from ci_eval.core.model import Suggestion
from ci_eval.core.model.sessions import Offer
from tests.interpret.clients.conformance import shown

HERE = Path(__file__).parent


def lines(name: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in (HERE / name).read_bytes().splitlines()]


def test_every_stored_list_is_shown_as_vs_code_shows_it() -> None:
    asked, expected = lines("lists.jsonl"), lines("shown.jsonl")
    assert len(asked) == len(expected) > 150
    different = [number for number, (ask, show) in enumerate(zip(asked, expected, strict=True)) if shown(ask) != show]
    assert different == []


def listed(*answered: Suggestion, line: str = "", prefix: str = "", asked: int = 0, follows: str = "") -> Listing:
    caret = TypedToken(line=line + prefix, prefix=prefix, asked=asked or len(prefix), follows=follows)
    return show(answered, caret)


def texts(*answered: Suggestion, line: str = "", prefix: str = "", follows: str = "") -> list[str]:
    return [found.text for found in listed(*answered, line=line, prefix=prefix, follows=follows).suggestions]


def test_duplicates_are_kept_and_ties_go_by_label() -> None:
    answered = [Offer(text=text, sort_text="1") for text in ("total", "Zulu", "total")]
    assert texts(*answered) == ["Zulu", "total", "total"]


def test_an_engine_without_sort_text_keeps_its_own_order() -> None:
    assert texts(Suggestion(text="b"), Suggestion(text="a"), Suggestion(text="b")) == ["b", "a", "b"]


def test_the_full_match_is_first() -> None:
    answered = [Offer(text=text, sort_text=str(place)) for place, text in enumerate(("total", "to", "t"))]
    assert texts(*answered, prefix="t") == ["t", "total", "to"]


def test_what_covers_the_dot_must_be_filtered_by_it() -> None:
    hidden = Offer(text="total", sort_text="1", begin=-1)
    assert texts(hidden, line="x.", prefix="t") == []
    assert texts(Offer(text="total", sort_text="1", begin=-1, filtered_by=".total"), line="x.", prefix="t") == ["total"]


def test_the_preselected_of_the_best_is_highlighted() -> None:
    answered = [Offer(text="arm", sort_text="1"), Offer(text="art", sort_text="2", preselect=True)]
    assert listed(*answered, prefix="a").highlighted == 1
    assert listed(*answered, prefix="art").highlighted == 0


def test_what_is_shown_is_no_offer_any_more() -> None:
    (found,) = listed(Offer(text="environ", tail="=", label="environ=", sort_text="1", firm=1)).suggestions
    assert found == Suggestion(text="environ", tail="=", label="environ=", sort_text="1")
    assert type(found) is Suggestion


NAMES = st.text("abA_$.", max_size=5)
OFFERS = st.builds(
    Offer,
    text=NAMES,
    label=NAMES,
    sort_text=NAMES,
    filtered_by=st.none() | NAMES,
    begin=st.integers(-2, 2),
    preselect=st.booleans(),
    visible=st.booleans(),
)


@given(answered=st.lists(OFFERS, max_size=6), line=NAMES, prefix=NAMES, asked=st.integers(0, 5))
def test_a_list_is_made_of_what_was_offered(answered: list[Offer], line: str, prefix: str, asked: int) -> None:
    listing = show(answered, TypedToken(line=line + prefix, prefix=prefix, asked=min(asked, len(prefix)), follows=None))
    kept = [each.text for each in answered if each.visible]
    for found in listing.suggestions:
        kept.remove(found.text)
    assert 0 <= listing.highlighted <= max(len(listing.suggestions) - 1, 0)


@pytest.mark.parametrize("name", CATALOG.names())
def test_each_client_shows_an_ordinary_list(name: str) -> None:
    client = CATALOG.load(name)
    caret = TypedToken(line="x.to", prefix="to", asked=2, follows="")
    answered = [Offer(text="total", sort_text="1"), Offer(text="tower", sort_text="2")]
    assert client.name == name
    assert [found.text for found in client.show(answered, caret).suggestions] == ["total", "tower"]
