"""Figures over query cases."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from ci_eval.core.model import Kind, LookupScore, Properties, QueryFigures, SessionScore, Status
from ci_eval.core.statistics.nonparametric import mann_whitney
from ci_eval.core.statistics.querying import Cases
from tests.needs import need_module


def about(
    strategy: str, scenario: str = "0|1", evolution: str = "0", change: str = "0+1", case: int = 0
) -> SessionScore:
    properties = Properties(
        kind=Kind.RECORD,
        package="T",
        strategy=strategy,
        scenario=scenario,
        evolution=evolution,
        change=change,
        case=case,
    )
    return session(properties)


def session(properties: Properties) -> SessionScore:
    return SessionScore(id="s", file="a", offset=0, expected_text="x", properties=properties, status=Status.OK)


def figures(cases: Cases) -> QueryFigures:
    found = cases.figures({"evaluated": 2})
    assert found
    return found


def test_a_case_counts_once_whatever_the_strategies() -> None:
    cases = Cases()
    for strategy, f1 in (("REAL", 0.0), ("REAL*", 1.0), ("LINEAR", 0.5)):
        cases.add("a", "a", about(strategy), f1)
    cases.add("a", "a", about("REAL", case=1), 1.0)
    everything, *_ = figures(cases).scenarios
    assert (everything.name, everything.cases) == ("ALL", 2)
    assert everything.f1 == {"REAL": 0.5, "REAL*": 1.0, "LINEAR": 0.5}


def test_without_sessions_about_objects_there_are_no_figures() -> None:
    assert Cases().figures({}) is None


@pytest.mark.parametrize(
    ("change", "cell"),
    [("3-2+1", ("1", "2")), ("0+1", ("0", "1")), ("9-1+3", ("5+", "6+")), ("2-2+7", ("0", "6+")), ("1+1", ("1", "2"))],
)
def test_cases_are_counted_by_what_stays_and_what_is_wanted(change: str, cell: tuple[str, str]) -> None:
    cases = Cases()
    cases.add("a", "a", about("REAL", change=change), 0.0)
    found = {
        (kept, wanted) for kept, row in figures(cases).transitions.items() for wanted, count in row.items() if count
    }
    assert found == {cell}


def test_strategies_differ_in_the_cases_that_have_both() -> None:
    cases = Cases()
    for number in range(80):
        cases.add(f"f{number}", f"f{number}", about("REAL*"), 0.5 + number % 2 / 10)
        cases.add(f"f{number}", f"f{number}", about("REAL"), 0.3)
    cases.add("g", "g", about("REAL*"), 1.0)
    first = figures(cases).optimism[0]
    assert (first.more, first.less, first.part, first.cases) == ("REAL*", "REAL", "ALL", 80)
    assert first.difference == pytest.approx(0.25)
    assert first.low is not None
    assert first.high is not None
    assert 0.23 < first.low < 0.25 < first.high < 0.27


def test_few_files_have_a_wide_interval_for_other_code() -> None:
    cases = Cases()
    for number in range(200):
        cases.add(f"f{number}", f"f{number % 10}", about("LINEAR", "N|3+"), number % 3 / 2)
        cases.add(f"f{number}", f"f{number % 10}", about("REAL", "N|3+"), 0.0)
    found = figures(cases).optimism
    assert [(each.part, each.cases) for each in found] == [("ALL", 200), ("N|M", 200)]
    assert all(each.low is not None and each.high is not None and each.low < each.high for each in found)
    assert found[0].effective == pytest.approx(10)


def test_the_types_with_the_most_cases_are_listed() -> None:
    cases = Cases()
    for number in range(30):
        properties = Properties(
            kind=Kind.RECORD, package=f"T{number % 12}", strategy="REAL", scenario="NEW", evolution="NEW", case=number
        )
        cases.add("a", "a", session(properties), 1.0)
    found = figures(cases)
    assert (len(found.types), found.all_types) == (10, 12)
    assert [each.cases for each in found.types] == [3] * 6 + [2] * 4


def test_lists_without_an_end_are_not_told_of_as_f1() -> None:
    cases = Cases()
    cases.add("a", "a", replace(about("REAL"), at_caret=True), 0.5)
    assert figures(cases).figure == "R-precision"


def test_the_cases_of_files_may_be_collected_apart() -> None:
    whole, parts = Cases(), [Cases(), Cases()]
    for number in range(6):
        for strategy in ("REAL", "REAL*"):
            given = f"f{number}", f"f{number % 3}", about(strategy, case=number % 2), number / 10
            whole.add(*given)
            parts[number > 2].add(*given)
    parts[0].add_all(parts[1])
    assert figures(parts[0]) == figures(whole)
    assert figures(whole).scenarios[0].cases == 6


def test_a_real_query_is_held_against_the_next_state_in_the_cases_that_have_both() -> None:
    cases = Cases()
    for number, (goal, following) in enumerate([(1.0, 0.5), (0.5, 0.5), (0.0, 0.25), (1.0, None)]):
        grades = {"f1": goal} | ({} if following is None else {"f1.next": following})
        lookups = (LookupScore(prefix="", total=1, rank=None, latency=1.0, grades=grades),)
        cases.add("a", "a", replace(about("REAL", case=number), lookups=lookups), goal)
    everything = figures(cases)
    assert everything.scenarios[0].f1 == {"REAL": 0.625}
    steps = everything.steps
    assert steps
    assert (steps.cases, steps.goal, steps.low) == (3, 0.5, None)
    assert (steps.next, steps.difference) == pytest.approx((5 / 12, 1 / 12))
    # Of nine pairs, the goal wins four (1 against all, 0.5 against 0.25) and ties two.
    assert steps.u == 5


@pytest.mark.parametrize("values", [2, 5, 10**6])
def test_u_and_its_p_value_are_those_of_scipy(values: int) -> None:
    scipy = need_module("scipy.stats")
    rng = np.random.default_rng(values)
    for sizes in ((3, 4), (30, 20), (400, 400)):
        first, second = (
            rng.integers(values, size=size) + np.float64(shift) for size, shift in zip(sizes, (0, 0.4), strict=True)
        )
        known = scipy.mannwhitneyu(first, second, method="asymptotic")
        assert mann_whitney(first, second) == pytest.approx((known.statistic, known.pvalue), rel=1e-12)


def test_equal_values_do_not_differ() -> None:
    assert mann_whitney(np.ones(3), np.ones(2)) == (3.0, 1.0)
