"""Figures as people read them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ci_eval.core.filters import label, letters
from ci_eval.core.model import Estimate, Evaluation, MetricInfo, OtherCode
from ci_eval.core.model.engine import CpuTimes
from ci_eval.core.model.units import TO, amount, change, change_between, interval
from ci_eval.rendering.figures import (
    NO_FIGURES,
    cost_text,
    cpu_text,
    describe_session_counts,
    find_length_figures,
    find_length_filters,
    format_count,
    headline,
    indicative,
    intervals,
    other_groups,
    pooled_label,
    sentences,
    shown_filter,
    statuses,
    times_text,
)
from tests.reports.samples import small


@pytest.mark.parametrize(
    ("value", "unit", "written", "changed"),
    [
        (0.5, "share", "50.0%", "+50.00 pp"),
        (0.5, "score", "0.500", "+0.5000"),
        (1234.5, "ms", "1,234.5 ms", "+1,234.5 ms"),
        (2.0, "rank", "2.00", "+2.00"),
        (-0.0267, "nats", "-0.027", "-0.0267"),
        (None, "share", "—", "—"),
        (float("nan"), "ms", "—", "—"),
        (0.00001, "share", "0.0%", "±0.00 pp"),
        (-0.00001, "share", "-0.0%", "±0.00 pp"),
    ],
)
def test_a_figure_and_a_change_are_written_in_their_unit(
    value: float | None, unit: str, written: str, changed: str
) -> None:
    assert (amount(value, unit), change(value, unit)) == (written, changed)


def test_an_interval_is_exact_where_nothing_is_uncertain_and_nothing_where_there_is_none() -> None:
    estimates = [Estimate(value=0.5, low=low, high=high) for low, high in ((0.4, 0.6), (0.5, 0.5), (None, 0.6))]
    assert [interval(each, "share") for each in estimates] == [f"40.0{TO}60.0%", "exact", ""]
    assert change_between(-0.1, 0.1, "share") == "-10.00 pp to +10.00 pp"
    assert change_between(None, 0.1, "share") == ""


def test_the_interval_for_other_code_says_so() -> None:
    estimate = Estimate(value=0.5, low=0.5, high=0.5, elsewhere=OtherCode(low=0.4, high=0.6))
    assert intervals(estimate, "share") == f"exact; 40.0{TO}60.0% in other code"


def test_sessions_that_the_engine_failed_in_are_told_apart() -> None:
    def said(**statuses: int) -> str:
        given = {name.replace("_", "-"): count for name, count in statuses.items()}
        return describe_session_counts(replace(NO_FIGURES, sessions=20, planned=21, statuses=given))

    assert said(ok=20, skipped=1) == "20 of 21 sessions evaluated"
    assert said(ok=17, timeout=2, engine_crash=1) == "20 of 21 sessions evaluated, the engine failed in 3"
    assert said(engine_crash=20) == "20 of 21 sessions evaluated, the engine failed in all"


def test_one_is_no_plural() -> None:
    assert (format_count(1, "file"), format_count(1200, "session")) == ("1 file", "1,200 sessions")


def test_statuses_come_in_the_order_of_reports_and_unknown_ones_last() -> None:
    given = {"new": 1, "error": 2, "ok": 3, "timeout": 0, "empty": 4}
    assert statuses(given) == [("ok", 3), ("empty", 4), ("error", 2), ("new", 1)]


@pytest.mark.parametrize(
    ("costs", "text"),
    [
        ({}, ""),
        ({"Cost": None, "JudgeCost": None}, ""),
        ({"Cost": 0.00271}, "0.0027 for the answers"),
        ({"Cost": 12.5, "JudgeCost": 0.0}, "12.50 for the answers, 0.00 for the judge's"),
    ],
)
def test_what_answers_cost_is_told_where_prices_are_known(costs: dict[str, float | None], text: str) -> None:
    evaluation = small().evaluation()
    whole = evaluation.filters["ALL"]
    metrics = {name: Estimate(value=value) for name, value in costs.items()}
    assert cost_text(replace(evaluation, filters={"ALL": replace(whole, metrics=metrics)})) == text


def test_times_of_a_single_run_are_no_headline_and_say_what_they_are() -> None:
    evaluation = small().evaluation()
    latencies = {f"LatencyPercentile{share}": Estimate(value=float(share)) for share in (50, 95)}
    whole = evaluation.filters["ALL"]
    evaluation = replace(evaluation, filters={"ALL": replace(whole, metrics=whole.metrics | latencies)})
    assert times_text(evaluation).startswith(
        "median 50.0 ms, 95 % of the lookups within 95.0 ms (indicative: one run on one"
    )
    infos = [MetricInfo(name=name, summary="", unit="ms", better="lower") for name in latencies]
    recall = MetricInfo(name="RecallAt1", summary="", unit="share", better="higher")
    assert headline([*infos, recall]) == [recall]


def laddered(*lengths: int, headline: str = "names, Prefix 1") -> Evaluation:
    evaluation = small().evaluation()
    whole = evaluation.filters["ALL"]
    names = {f"names, Prefix {n}": replace(whole, sessions=n + 10) for n in lengths}
    letters = {f"Prefix {n}": replace(whole, sessions=n + 20) for n in lengths}
    nothing = Estimate(value=0.0)
    unoffered = replace(whole, sessions=7, metrics=whole.metrics | {"RecallAt1": nothing, "Recall": nothing})
    keywords = {"keywords, Prefix 1": unoffered}
    return replace(evaluation, filters={"ALL": whole} | letters | names | keywords, headline=headline)


def test_the_headline_is_said_first_and_keywords_apart() -> None:
    evaluation = laddered(3, 0, 1)
    assert shown_filter(evaluation)[0] == "names, Prefix 1"
    first, keywords = sentences(evaluation)
    assert first.startswith("Names, one letter typed: the expected text was first in 61.2% of 11 sessions (")
    assert keywords == "Keywords (counted separately): none of 7 was offered."


def test_the_columns_are_of_the_headlines_kinds() -> None:
    assert [figures.sessions for figures in find_length_figures(laddered(3, 0, 1)).values()] == [10, 11, 13]
    assert [figures.sessions for figures in find_length_figures(laddered(3, 0, 1, headline="ALL")).values()] == [
        20,
        21,
        23,
    ]
    assert find_length_filters("names", ["ALL", "names"]) == {}


def test_a_filter_says_which_sessions_it_is_about() -> None:
    names = [*laddered(0, 1, 3).filters]
    assert [label(name) for name in ("ALL", "Prefix 0", "names", "keywords, Prefix 1", "mine")] == [
        "all sessions",
        "nothing typed",
        "names",
        "keywords, one letter typed",
        "mine",
    ]
    assert pooled_label("ALL", names) == "all sessions (nothing, one letter, 3 letters typed, pooled)"
    assert pooled_label("names, Prefix 1", names) == "names, one letter typed"
    assert pooled_label("kind=FIELD prefix=1", names) == "kind=FIELD prefix=1"
    assert pooled_label("kind=FIELD text=noprefix=1", names).endswith("typed, pooled)")
    assert other_groups("names, Prefix 1", names) == {"keywords": "keywords, Prefix 1"}
    assert other_groups("ALL", names) == {}


def test_lengths_read_as_words() -> None:
    assert [letters(count) for count in (0, 1, 5)] == ["nothing", "one letter", "5 letters"]


def test_cpu_is_shown_by_whom_it_was_spent() -> None:
    assert cpu_text(CpuTimes(engine=8.2, checks=0.4, own=1.4)) == "10.0 s of CPU: engine 82%, checks 4%, ci-eval 14%"
    assert cpu_text(CpuTimes()) == "no CPU time was measured"


@pytest.mark.parametrize(("workers", "is_marked"), [("1", False), ("2", True), ("16", True)])
def test_times_of_several_workers_are_marked(workers: str, is_marked: bool) -> None:
    evaluation = replace(small().evaluation(), environment={"Workers": workers})
    assert (f"with {workers} workers" in indicative(evaluation)) is is_marked
