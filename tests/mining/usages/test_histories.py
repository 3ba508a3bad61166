"""Histories of usages, as the paper has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ci_eval.core.model import Definition, History, ObjectUsage
from ci_eval.core.queries.carets import hash_text
from ci_eval.fetch.git import repository
from ci_eval.plugins.mining.usages.dialect import ProjectContext
from ci_eval.plugins.mining.usages.histories import (
    Dropped,
    Key,
    Mined,
    Miner,
    Moment,
    Selection,
    Snapshot,
    equal,
    git_snapshots,
    histories,
)
from ci_eval.plugins.mining.usages.languages import CATALOG
from tests.fetch import repository as origin

A: Key = ("C.m", "A")
B: Key = ("C.m", "B")


def usage(type_: str, *calls: str, kind: str = "NEW") -> ObjectUsage:
    return ObjectUsage(type=type_, method="C.m", definition=Definition(kind=kind), calls=calls)


def at(time: float, *usages: ObjectUsage, selected: ObjectUsage | None = None, is_trigger: bool = False) -> Moment:
    return Moment(
        time=time,
        usages={("C.m", each.type): each for each in usages},
        selected={("C.m", selected.type): selected} if selected else {},
        is_trigger=is_trigger,
    )


def made(*moments: Moment) -> tuple[dict[str, History], Counter[Dropped]]:
    dropped: Counter[Dropped] = Counter()
    found = histories(moments, dropped, project="p", file="f", user="u")
    return {each.type: each for each in found}, dropped


def test_figure_2_of_the_paper() -> None:
    a1, a2, b1 = usage("A", "x"), usage("A", "x", "y"), usage("B", "z")
    with_s = usage("A", "x", "y", "s")
    found, _ = made(at(0, a1), at(1, a2, b1, selected=with_s))
    assert found["A"].states == (a1, a2, with_s)
    assert found["B"].states == (None, b1)
    found, _ = made(at(0, a2), at(1, a2, b1, selected=with_s))
    assert found["A"].states == (a2, with_s)
    assert (found["A"].project, found["A"].file, found["A"].user, found["A"].method) == ("p", "f", "u", "C.m")


def test_a_selection_before_the_last_moment_makes_no_state() -> None:
    a1, a2, with_s = usage("A", "x"), usage("A", "x", "y"), usage("A", "x", "s")
    assert made(at(0, a1, selected=with_s), at(1, a2))[0]["A"].states == (a1, a2)


def test_only_neighbours_are_duplicates_and_the_order_of_calls_makes_no_difference() -> None:
    a, b = usage("A", "x", "y"), usage("A", "x")
    assert made(at(0, a), at(1, b), at(2, a))[0]["A"].states == (a, b, a)
    assert equal(usage("A", "x", "y"), usage("A", "y", "x"))
    assert not equal(usage("A", "x"), usage("A", "x", kind="PARAM"))
    assert not equal(usage("A"), None)


def test_what_is_not_there_yet_or_not_any_more_is_empty() -> None:
    a = usage("A", "x")
    assert made(at(0), at(1, a), at(2))[0]["A"].states == (None, a, None)


def test_moments_are_in_order_of_time() -> None:
    a, b = usage("A", "x"), usage("A", "y")
    assert made(at(5, b), at(1, a))[0]["A"].states == (a, b)


def test_where_completion_was_called_only_these_moments_count() -> None:
    a, b, c = usage("A", "x"), usage("A", "y"), usage("A", "z")
    found, _ = made(at(0, a, is_trigger=True), at(1, b), at(2, c, is_trigger=True))
    assert found["A"].states == (a, c)


def test_what_comes_to_nothing_is_counted() -> None:
    assert made(at(0, usage("A", "x"))) == ({}, {"file with one snapshot": 1})
    assert made(at(0, usage("A", "x")), at(1, usage("A", "x"))) == ({}, {"unchanged": 1})
    assert made(at(0), at(1, usage("A"))) == ({}, {"without any call": 1})
    assert made() == ({}, {"file with one snapshot": 0})


HEAD = "from a import Box\ndef put():\n"


def mined(*snapshots: Snapshot, own: frozenset[str] = frozenset(), own_types: bool = False) -> Mined:
    found = Mined()
    miner = Miner(dialect=CATALOG.load("python"), project="p", around=ProjectContext(own=own), own_types=own_types)
    miner.mine(snapshots, found)
    return found


def snapshot(time: float, body: str, selection: Selection | None = None) -> Snapshot:
    return Snapshot(user="u", file="shop.py", time=time, text=HEAD + body, selection=selection)


def calls(found: Mined, type_: str = "a.Box") -> list[Sequence[str] | None]:
    (history,) = [each for each in found.histories if each.type == type_]
    return [state.calls if state else None for state in history.states]


def test_texts_become_states() -> None:
    found = mined(
        snapshot(0, "  pass\n"), snapshot(1, "  box = Box()\n  box."), snapshot(2, "  box = Box()\n  box.open()\n")
    )
    assert calls(found) == [None, (), ("open",)]
    assert (found.snapshots, found.files) == (3, {("u", "shop.py")})


def test_a_selected_proposal_is_on_the_object_in_front_of_the_caret() -> None:
    body = "  box = Box()\n  box.op"
    selection = Selection(item="open(self)", offset=len(HEAD + body) - 2, typed=2)
    assert calls(mined(snapshot(0, "  pass\n"), snapshot(1, body, selection))) == [None, (), ("open",)]
    inside = "  box = Box()\n  box.\n  box.close()\n"
    selection = Selection(item="open", offset=len(HEAD) + inside.index("\n  box.close"), typed=0)
    assert calls(mined(snapshot(0, "  pass\n"), snapshot(1, inside, selection))) == [
        None,
        ("close",),
        ("close", "open"),
    ]


def test_types_of_the_project_are_left_out_and_counted() -> None:
    moments = snapshot(0, "  pass\n"), snapshot(1, "  Box().open()\n")
    found = mined(*moments, own=frozenset(["a"]))
    assert (found.histories, found.own) == ([], 1)
    assert calls(mined(*moments, own=frozenset(["a"]), own_types=True)) == [None, ("open",)]


def test_a_snapshot_that_is_too_large_is_counted() -> None:
    found = mined(snapshot(0, "x" * 2_000_000), snapshot(1, "  pass\n"))
    assert found.skipped == {"snapshot that is not read: the text has 2,000,029 bytes; the limit is 1,000,000": 1}


# ---------------------------------------------------------------------------------------------------------- texts


def test_the_texts_that_states_are_in_are_kept_once_where_places_are_wanted() -> None:
    first, second = snapshot(1, "  box = Box()\n"), snapshot(2, "  box = Box()\n  box.open()\n")
    found = Mined()
    around = ProjectContext(places=True)
    Miner(dialect=CATALOG.load("python"), around=around).mine([snapshot(0, "  pass\n"), first, second, second], found)
    (history,) = found.histories
    assert history.places[0] is None
    digests = [place.text for place in history.places if place]
    assert digests == [hash_text(first.text), hash_text(second.text)]
    assert set(found.texts) == set(digests)
    assert mined(first, second).texts == {}
    assert mined(first, second).histories[0].places == ()


def test_a_state_with_a_selected_proposal_is_in_no_text() -> None:
    body = "  box = Box()\n  box.op"
    chosen = snapshot(1, body, Selection(item="open(self)", offset=len(HEAD + body) - 2, typed=2))
    found = Mined()
    Miner(dialect=CATALOG.load("python"), around=ProjectContext(places=True)).mine(
        [snapshot(0, "  pass\n"), chosen], found
    )
    (history,) = found.histories
    assert [place is not None for place in history.places] == [False, True, False]


def test_each_commit_of_a_file_is_a_state(tmp_path: Path) -> None:
    made = origin.create(tmp_path / "origin")
    head = "from a import Box\n# " + "x" * 200 + "\ndef put():\n    box = Box()\n"
    made.commit(old_py=head)
    made.commit(old_py=f"{head}    box.open()\n")
    made.git("mv", "old.py", "new.py")
    made.commit(new_py=f"{head}    box.open()\n    box.close()\n")
    (made.folder / "new.py").write_bytes(b"\0" + head.encode())
    made.commit()
    made.commit(new_py="# nothing\n")
    mined = Mined()
    with repository(made.url) as found:
        Miner(dialect=CATALOG.load("python"), project="p").mine(git_snapshots(found, "new.py", mined.skipped), mined)
    (history,) = mined.histories
    assert (history.project, history.file, history.method) == ("p", "new.py", "new.put")
    assert [state.calls if state else None for state in history.states] == [(), ("open",), ("open", "close"), None]
    assert mined.skipped == Counter({"revision that is not text": 1})
