"""From texts to histories."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ci_eval.core.queries.texts import hash_text
from ci_eval.plugins.mining.usages.contract import Surroundings
from ci_eval.plugins.mining.usages.languages import CATALOG
from ci_eval.plugins.mining.usages.snapshots import Mined, Miner, Selection, Snapshot, Typing

HEAD = "from a import Box\ndef put():\n"


def mined(*snapshots: Snapshot, own: frozenset[str] = frozenset(), own_types: bool = False) -> Mined:
    found = Mined()
    miner = Miner(dialect=CATALOG.load("python"), project="p", around=Surroundings(own=own), own_types=own_types)
    miner.mine(snapshots, found)
    return found


def at(time: float, body: str, selection: Selection | None = None) -> Snapshot:
    return Snapshot(user="u", file="shop.py", time=time, text=HEAD + body, selection=selection)


def calls(found: Mined, type_: str = "a.Box") -> list[Sequence[str] | None]:
    (history,) = [each for each in found.histories if each.type == type_]
    return [state.calls if state else None for state in history.states]


def test_texts_become_states() -> None:
    found = mined(at(0, "  pass\n"), at(1, "  box = Box()\n  box."), at(2, "  box = Box()\n  box.open()\n"))
    assert calls(found) == [None, (), ("open",)]
    assert (found.snapshots, found.files) == (3, {("u", "shop.py")})


def test_a_selected_proposal_is_on_the_object_in_front_of_the_caret() -> None:
    body = "  box = Box()\n  box.op"
    selection = Selection(item="open(self)", offset=len(HEAD + body) - 2, typed=2)
    assert calls(mined(at(0, "  pass\n"), at(1, body, selection))) == [None, (), ("open",)]
    inside = "  box = Box()\n  box.\n  box.close()\n"
    selection = Selection(item="open", offset=len(HEAD) + inside.index("\n  box.close"), typed=0)
    assert calls(mined(at(0, "  pass\n"), at(1, inside, selection))) == [None, ("close",), ("close", "open")]


def test_types_of_the_project_are_left_out_and_counted() -> None:
    moments = at(0, "  pass\n"), at(1, "  Box().open()\n")
    found = mined(*moments, own=frozenset(["a"]))
    assert (found.histories, found.own) == ([], 1)
    assert calls(mined(*moments, own=frozenset(["a"]), own_types=True)) == [None, ("open",)]


def test_a_snapshot_that_is_too_large_is_counted() -> None:
    found = mined(at(0, "x" * 2_000_000), at(1, "  pass\n"))
    assert found.skipped == {"snapshot is no text: 2,000,029 bytes are more than 1,000,000": 1}


# -------------------------------------------------------------------------------------------------------- typing


def test_a_snapshot_is_taken_before_a_pause_behind_a_new_line_and_at_the_end() -> None:
    typing = Typing("u", "f")
    found = [*typing.edit(0, 0, 0, "a"), *typing.edit(1, 1, 0, "b"), *typing.edit(4, 2, 0, "c")]
    found += [*typing.edit(4.5, 3, 0, "\n"), *typing.edit(5, 0, 2, ""), *typing.end()]
    assert [(each.time, each.text) for each in found] == [(1, "ab"), (4.5, "abc\n"), (5, "c\n")]


@pytest.mark.parametrize(("offset", "length"), [(5, 0), (0, 9), (-1, 0), (0, -1)])
def test_an_edit_outside_of_the_text_is_refused(offset: int, length: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        list(Typing("u", "f", "abc").edit(0, offset, length, "x"))


def test_line_ends_are_normalised_and_places_with_them() -> None:
    snapshot = Typing("u", "f", "a\r\nb\r\nc").complete(1, Selection(item="x", offset=6))
    assert snapshot.text == "a\nb\nc"
    assert snapshot.selection == Selection(item="x", offset=4)


# ---------------------------------------------------------------------------------------------------------- texts


def test_the_texts_that_states_are_in_are_kept_once_where_places_are_wanted() -> None:
    first, second = at(1, "  box = Box()\n"), at(2, "  box = Box()\n  box.open()\n")
    found = Mined()
    around = Surroundings(places=True)
    Miner(dialect=CATALOG.load("python"), around=around).mine([at(0, "  pass\n"), first, second, second], found)
    (history,) = found.histories
    assert history.places[0] is None
    digests = [place.text for place in history.places if place]
    assert digests == [hash_text(first.text), hash_text(second.text)]
    assert set(found.texts) == set(digests)
    assert mined(first, second).texts == {}
    assert mined(first, second).histories[0].places == ()


def test_a_state_with_a_selected_proposal_is_in_no_text() -> None:
    body = "  box = Box()\n  box.op"
    chosen = at(1, body, Selection(item="open(self)", offset=len(HEAD + body) - 2, typed=2))
    found = Mined()
    Miner(dialect=CATALOG.load("python"), around=Surroundings(places=True)).mine([at(0, "  pass\n"), chosen], found)
    (history,) = found.histories
    assert [place is not None for place in history.places] == [False, True, False]
