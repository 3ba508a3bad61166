"""Golden values of Proksch et al. (ASE 2016), and what must hold of any history."""

from __future__ import annotations

from collections import Counter
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.model import Definition, History, ObjectUsage
from ci_eval.core.model.settings import StrategyName
from ci_eval.core.queries.cases import (
    EVOLUTIONS,
    SCENARIOS,
    STRATEGIES,
    QueryCase,
    Sampling,
    agreement,
    coarse,
    generate_cases,
    missing_calls,
    scenario,
)
from tests.queries.usages import A, B, case, evaluated_cases, usage, usages


@pytest.mark.parametrize(
    ("start", "end", "label", "found", "evolution"),
    [
        (usage("m1 mX mY", A), usage("m2 m1", B), "3-2+1", "1|2", "-M+dD"),  # figure 3
        (None, usage("a", A), "0+1", "NEW", "NEW"),
        (usage("", A), usage("a", A), "0+1", "0|1", "0"),
        (usage("x", A), usage("1 2", A), "1-1+2", "0|2+", "-M"),
        (usage("1", A), usage("1 2", A), "1+1", "1|2", "0"),
        (usage("1", A), usage("1 2", B), "1+1", "1|2", "dD"),
        (usage("1 2", A), usage("1 2 3", A), "2+1", "M-1|M", "0"),
        (usage("1", A), usage("1 2 3", A), "1+2", "N|3+", "0"),
    ],
)
def test_an_evaluated_case_has_a_label_a_scenario_and_a_class(
    start: ObjectUsage | None, end: ObjectUsage, label: str, found: str, evolution: str
) -> None:
    made = case(start, end)
    assert (made.fate, made.label, made.scenario, made.evolution) == ("evaluated", label, found, evolution)


@pytest.mark.parametrize(
    ("start", "end", "fate"),
    [
        (usage("1 9", A), usage("1", A), "only removals"),
        (usage("1", A), None, "only removals"),
        (usage("1", A), usage("1", B), "unchanged"),
        (usage("1 2", A), usage("2 1", A), "unchanged"),
        (None, usage("", A), "unchanged"),
        (None, None, "unchanged"),
    ],
)
def test_without_an_added_call_there_is_nothing_to_evaluate(
    start: ObjectUsage | None, end: ObjectUsage | None, fate: str
) -> None:
    assert case(start, end).fate == fate


TABLE_3 = {
    0: (4327, 703, 592, 82, 13, 30),
    1: (0, 741, 109, 60, 3, 6),
    2: (0, 0, 252, 52, 15, 11),
    3: (0, 0, 0, 95, 19, 6),
    4: (0, 0, 0, 0, 19, 5),
    5: (0, 0, 0, 0, 0, 17),
}


def test_the_sums_of_the_papers_table_3_are_those_of_its_table_4() -> None:
    cells = {(kept, wanted): count for kept, row in TABLE_3.items() for wanted, count in enumerate(row, 1) if count}
    counts: Counter[str] = Counter()
    for (kept, wanted), count in cells.items():
        counts[scenario(kept, wanted, new=False)] += count
    # Of the 17 cases with five calls or more, 8 lack several. Which objects are new, table 3 does not tell.
    counts += Counter({"N|3+": 8})
    counts["M-1|M"] -= 8
    assert counts["0|1"] + counts["0|2+"] == 5747 == 3612 + 1445 + 690
    assert {each: counts[each] for each in ("1|2", "N|3+", "M-1|M")} == {"1|2": 741, "N|3+": 294, "M-1|M": 375}
    assert counts.total() == 7157


def test_three_coarse_scenarios_are_made_of_the_six() -> None:
    assert [coarse(each) for each in SCENARIOS] == ["0|M", "0|M", "0|M", "N|M", "N|M", "M-1|M"]


HISTORY = History(type="T", states=(None, usage("a", A), usage("a b", A), None))


@pytest.mark.parametrize(
    ("goal", "labels"),
    [
        ("last", {0: "0", 1: "1-1", 2: "2-2"}),
        ("last_nonempty", {0: "0+2", 1: "1+1"}),
        ("next", {0: "0+1", 1: "1+1", 2: "2-2"}),
    ],
)
def test_a_case_ends_at_the_goal(goal: str, labels: dict[int, str]) -> None:
    assert {each.number: each.label for each in generate_cases(HISTORY, goal)} == labels  # type: ignore[arg-type]


def test_a_call_that_is_named_twice_counts_once() -> None:
    assert case(usage("a a"), usage("a b b")).label == "1+1"


@given(usages, usages)
def test_labels_add_up_and_every_evaluated_case_is_classified(
    start: ObjectUsage | None, end: ObjectUsage | None
) -> None:
    made = case(start, end)
    assert len(made.before) - made.removed + made.added == len(made.after)
    if made.fate == "evaluated":
        assert made.scenario in SCENARIOS
        assert made.evolution in EVOLUTIONS
        assert (made.scenario == "NEW") == (made.evolution == "NEW") == (start is None)


@given(st.lists(usages, max_size=6), st.sampled_from(["last", "last_nonempty", "next"]))
def test_every_state_but_the_goal_starts_one_case(states: list[ObjectUsage | None], goal: str) -> None:
    found = list(generate_cases(History(type="T", states=tuple(states)), goal))  # type: ignore[arg-type]
    assert [each.number for each in found] == list(range(len(found)))
    assert len(found) <= max(len(states) - 1, 0)
    assert len({each.identity for each in found}) == len(found)


def test_an_empty_usage_has_no_definition() -> None:
    made = QueryCase(HISTORY, 0, None, usage("a", Definition()), 1)
    assert made.evolution == "NEW"


FIGURE_3 = case(usage("m1 mX mY", A), usage("m2 m1", B))
ARTIFICIAL: tuple[StrategyName, ...] = ("LINEAR", "RANDOM", "REAL*")
PLAIN = Sampling()


@pytest.mark.parametrize(
    ("strategy", "definition", "calls"),
    [
        ("LINEAR", B, [("m2",)]),
        ("RANDOM", B, [("m2",), ("m1",)]),
        ("REAL*", B, [("m1",)]),
        ("REAL", A, [("m1", "mX", "mY")]),
    ],
)
def test_figure_3_is_asked_about_as_the_paper_does(
    strategy: StrategyName, definition: Definition, calls: list[tuple[str, ...]]
) -> None:
    queries = STRATEGIES[strategy](FIGURE_3, PLAIN)
    assert [each.calls for each in queries] == calls
    assert {each.definition for each in queries} == {definition}
    assert {each.method for each in queries} == {"M"}
    lacking = {"m2": ("m1",), "m1": ("m2",), "m1 mX mY": ("m2",)}
    assert [missing_calls(each, FIGURE_3) for each in queries] == [lacking[" ".join(each)] for each in calls]


def test_of_an_object_that_is_not_there_only_type_and_method_are_known() -> None:
    (query,) = STRATEGIES["REAL"](case(None, usage("a", B)), PLAIN)
    assert query == ObjectUsage(type="T", method="M")


@given(evaluated_cases(kept=0))
def test_where_no_call_stays_the_artificial_strategies_coincide(made: QueryCase) -> None:
    first, *others = (STRATEGIES[each](made, PLAIN) for each in ARTIFICIAL)
    assert others == [first, first]
    assert [each.calls for each in first] == [()]


@given(evaluated_cases(noise=False))
def test_where_nothing_changes_but_what_is_added_real_has_no_noise(made: QueryCase) -> None:
    assert made.evolution == "0"
    (plain,), (real,) = STRATEGIES["REAL*"](made, PLAIN), STRATEGIES["REAL"](made, PLAIN)
    assert (plain.definition, set(plain.calls)) == (real.definition, set(real.calls))
    assert missing_calls(plain, made) == missing_calls(real, made)


@given(evaluated_cases(), st.integers(1, 30), st.integers(0, 3))
def test_random_asks_about_different_subsets_of_the_right_size(made: QueryCase, subsets: int, seed: int) -> None:
    queries = STRATEGIES["RANDOM"](made, Sampling(seed=seed, subsets=subsets))
    assert len(queries) == min(comb(len(made.after), len(made.kept)), subsets)
    assert len({each.calls for each in queries}) == len(queries)
    for each in queries:
        assert len(each.calls) == len(made.kept)
        assert list(each.calls) == [call for call in made.after if call in each.calls]
        assert len(missing_calls(each, made)) == made.added


@given(evaluated_cases())
def test_something_is_always_expected_and_what_is_drawn_is_drawn_again(made: QueryCase) -> None:
    sampling = Sampling(subsets=3, dropped=0.4, replaced=0.4, definitions={"T": [A, B]})
    for strategy in STRATEGIES.values():
        queries = strategy(made, sampling)
        assert all(missing_calls(each, made) for each in queries)
        assert queries == strategy(made, sampling)


def test_the_definition_is_dropped_or_replaced_in_artificial_queries_alone() -> None:
    dropped = Sampling(dropped=1.0)
    replaced = Sampling(replaced=1.0, definitions={"T": [A, B], "U": [Definition(kind="THIS")]})
    for strategy in ARTIFICIAL:
        assert {each.definition for each in STRATEGIES[strategy](FIGURE_3, dropped)} == {Definition()}
        assert {each.definition for each in STRATEGIES[strategy](FIGURE_3, replaced)} == {A}
    for sampling in (dropped, replaced):
        assert STRATEGIES["REAL"](FIGURE_3, sampling) == STRATEGIES["REAL"](FIGURE_3, PLAIN)


def test_a_definition_that_no_other_object_has_stays() -> None:
    alone = Sampling(replaced=1.0, definitions={"T": [B]})
    assert STRATEGIES["LINEAR"](FIGURE_3, alone) == STRATEGIES["LINEAR"](FIGURE_3, PLAIN)


@pytest.mark.parametrize(
    ("proposed", "expected", "precision", "recall", "f1"),
    [
        ("a", "a", 1, 1, 1),
        ("a b", "a", 0.5, 1, 2 / 3),
        ("a x", "a b c", 0.5, 1 / 3, 0.4),
        ("x", "a", 0, 0, 0),
        ("", "a", 1, 0, 0),
        ("a a x", "a", 0.5, 1, 2 / 3),
    ],
)
def test_f1_of_sets(proposed: str, expected: str, precision: float, recall: float, f1: float) -> None:
    found = agreement(proposed.split(), expected.split())
    assert (found["precision"], found["recall"], found["f1"]) == pytest.approx((precision, recall, f1))


def test_a_ranking_is_cut_at_the_number_of_expected_calls() -> None:
    found = agreement(["x", "a", "b", "y"], {"a", "b"})
    assert found["rPrecision"] == 0.5
    assert found["reciprocalRank"] == 0.5
    assert [found[f"recall.{most}"] for most in (1, 3, 5)] == [0, 1, 1]


@given(st.lists(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef"), min_size=1))
def test_everything_is_a_share_and_1_only_where_all_is_right(proposed: list[str], expected: set[str]) -> None:
    found = agreement(proposed, expected)
    assert all(0 <= value <= 1 for value in found.values())
    assert (found["f1"] == 1) == (set(proposed) == expected)
