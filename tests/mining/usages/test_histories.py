"""Histories of usages, as the paper has them."""

from __future__ import annotations

from collections import Counter

from ci_eval.core.model import Definition, History, ObjectUsage
from ci_eval.plugins.mining.usages.histories import Dropped, Key, Merge, Moment, equal, histories

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


def made(*moments: Moment, merge: Merge = "last") -> tuple[dict[str, History], Counter[Dropped]]:
    dropped: Counter[Dropped] = Counter()
    found = histories(moments, dropped, project="p", file="f", user="u", merge=merge)
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


def test_a_selection_before_the_last_moment_counts_only_where_all_are_merged() -> None:
    a1, a2, with_s = usage("A", "x"), usage("A", "x", "y"), usage("A", "x", "s")
    moments = (at(0, a1, selected=with_s), at(1, a2))
    assert made(*moments)[0]["A"].states == (a1, a2)
    assert made(*moments, merge="all")[0]["A"].states == (a1, with_s, a2)


def test_the_copy_of_a_selection_that_the_next_moment_shows_disappears() -> None:
    a1, with_s = usage("A", "x"), usage("A", "x", "s")
    assert made(at(0, a1, selected=with_s), at(1, with_s), merge="all")[0]["A"].states == (a1, with_s)


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
