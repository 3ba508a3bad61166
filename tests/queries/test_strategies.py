"""What recommenders are told, by each strategy."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.model import Definition, ObjectUsage
from ci_eval.core.model.settings import StrategyName
from ci_eval.core.queries.cases import QueryCase
from ci_eval.core.queries.strategies import STRATEGIES, Sampling, missing_calls
from tests.queries.usages import A, B, case, evaluated_cases, usage

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
