"""Verdicts as people read them."""

from __future__ import annotations

import msgspec
import pytest

from ci_eval.core.model import (
    Comparison,
    Difference,
    EngineInfo,
    Failures,
    FailureVerdict,
    MetricInfo,
    PairCounts,
    ProjectInfo,
    Side,
    Verdict,
)
from ci_eval.core.model.units import interval_text
from ci_eval.plugins.tasks import completion, golf
from ci_eval.rendering.verdicts import (
    explain_verdict,
    outcome_text,
    p_text,
    pairs_text,
    said,
    verdict_lines,
    verdict_row,
    verdict_table,
)


def found(low: float | None, high: float | None, p: float | None = None, **more: object) -> Difference:
    return Difference(base=0.5, new=0.6, difference=0.1, low=low, high=high, p=p, **more)  # type: ignore[arg-type]


def test_a_verdict_has_a_sign_beside_its_words() -> None:
    assert [said(each) for each in (Verdict.BETTER, Verdict.NOT_SHOWN)] == ["▲ better", "? no difference shown"]


def test_a_reason_is_as_long_as_what_is_uncertain() -> None:
    assert explain_verdict(found(0.05, 0.15, 0.0001, why="clear"), "share") == "+5.00 pp to +15.00 pp; p < 0.001; clear"
    assert explain_verdict(found(0.1, 0.1), "share") == ""
    assert [interval_text(each, "share") for each in (found(0.1, 0.1), found(None, None))] == ["exact", "no interval"]
    assert [p_text(found(0, 1, p)) for p in (None, 0.04)] == ["", "p = 0.040"]


def named(name: str, difference: Difference) -> object:
    return verdict_row(name, difference, difference, "rank")[0]


def test_a_metric_over_some_sessions_says_which() -> None:
    assert named("MeanRank", found(0, 1, n=1200, over="found by both")) == "MeanRank (1,200 found by both)"
    assert named("Recall", found(0, 1, n=1200)) == "Recall"


def test_no_share_is_said_to_need_a_difference_beyond_100_points() -> None:
    few, many = (found(-1.0, 1.0, 0.5, detectable=size) for size in (1.04, 0.04))
    assert [verdict_row("Recall", of, of, "share")[-1] for of in (few, many)] == ["", "4.00 pp"]
    assert verdict_row("MeanRank", few, few, "rank")[-1] == "1.04"


@pytest.mark.parametrize(
    ("rank", "status", "text"), [(1200, "ok", "1,200"), (None, "empty", "absent"), (None, "timeout", "timeout")]
)
def test_a_session_went_by_its_rank_or_failed(rank: int | None, status: str, text: str) -> None:
    assert outcome_text(completion.COMPLETION, rank, 0.0, status) == text
    assert outcome_text(golf.TASK, rank, 0.25, status) == ("25%" if status != "timeout" else text)


def side(engine: str, failures: Failures = Failures()) -> Side:  # noqa: B008
    project = ProjectInfo(spec="path:p", name="p", revision="1", checksum="")
    return Side(
        title=engine,
        workspace=engine,
        engine=EngineInfo(name=engine, version="1"),
        project=project,
        completion_type="BASIC",
        started="",
        sessions=300,
        failed=failures.sessions,
        failures=failures,
    )


def difference(base: float, new: float, verdict: Verdict = Verdict.NOT_SHOWN) -> Difference:
    return Difference(base=base, new=new, difference=new - base, verdict=verdict)


def compared(new: Side, failures: FailureVerdict | None, median: Verdict) -> Comparison:
    names = {
        "RecallAt1": msgspec.structs.replace(difference(0.5, 0.48), better=3, worse=5),
        "LatencyPercentile50": difference(28.0, 6.0, median),
        "LatencyPercentile95": difference(57.0, 12.0, median),
    }
    keywords = {"RecallAt1": difference(0.9, 0.0, Verdict.WORSE), "Recall": difference(1.0, 0.0, Verdict.WORSE)}
    return Comparison(
        base=side("jedi"),
        new=new,
        paired=300,
        population=1000,
        only_base=0,
        only_new=2,
        changed_text=0,
        files=3,
        declared=("RecallAt1",),
        filters={"names, Prefix 1": names, "keywords, Prefix 1": keywords},
        headline="names, Prefix 1",
        counts={
            "names, Prefix 1": PairCounts(sessions=75, wins=3, losses=5),
            "keywords, Prefix 1": PairCounts(sessions=30, wins=0, losses=28),
        },
        wins=3,
        losses=5,
        parts=(),
        transitions={},
        latencies={},
        regressions=(),
        improvements=(),
        warnings=(),
        gates=(),
        metrics=(MetricInfo(name="RecallAt1", summary="", unit="share", better="higher"),),
        failures=failures,
    )


def test_a_line_each_says_what_differs_on_keywords_in_time_and_in_failures() -> None:
    hung = Failures(sessions=4, rounds=3, always=4, alone=4, statuses={"timeout": 4}, example="ab12")
    pair = compared(side("zuban", hung), FailureVerdict(verdict=Verdict.NOT_SHOWN, p=0.125), Verdict.BETTER)
    keywords, time, failures = verdict_lines(pair, folders=("o/base", "o/new"))
    assert keywords == "Keywords (counted separately): zuban offers none; better in 0, worse in 28 of 30."
    assert time == (
        "Time: zuban is faster at the median. Median 28.0 ms → 6.0 ms, 95 % of the lookups within 57.0 ms → 12.0 ms."
    )
    assert failures == (
        "Failures: ? no difference shown (base failed in 0, new failed in 4 of 300 sessions, sign test p = 0.125); "
        "zuban hung at 4 of 300 sessions, in 3 of 3 rounds (ci-eval show o/new ab12). They count as misses."
    )


def test_without_failures_or_times_there_is_no_line_about_them() -> None:
    lines = verdict_lines(compared(side("zuban"), None, Verdict.NOT_COMPARABLE))
    assert [line.split()[0] for line in lines] == ["Keywords"]
    assert verdict_lines(compared(side("zuban"), None, Verdict.NOT_SHOWN))[-1].startswith("Time: ? no difference shown")


def test_failures_of_single_runs_say_where_to_look() -> None:
    crashed = Failures(sessions=2, statuses={"engine-crash": 2}, example="cd34")
    lines = verdict_lines(
        compared(
            side("own", crashed), FailureVerdict(verdict=Verdict.WORSE, p=0.01, marked=True), Verdict.NOT_COMPARABLE
        )
    )
    assert lines[-1].startswith("Failures: ▼ worse")
    assert "own crashed at 2 of 300 sessions (ci-eval show own cd34). They count as misses." in lines[-1]


def test_two_builds_of_one_engine_are_called_base_and_new() -> None:
    hung = Failures(sessions=1, statuses={"timeout": 1}, example="ab12")
    builds = compared(side("jedi", hung), FailureVerdict(verdict=Verdict.NOT_SHOWN, p=1.0), Verdict.WORSE)
    keywords, time, failures = verdict_lines(builds)
    assert keywords.startswith("Keywords (counted separately): new offers none; ")
    assert time.startswith("Time: base is faster at the median.")
    assert "new hung at 1 of 300 sessions (ci-eval show jedi ab12)" in failures


def test_pairs_without_a_partner_are_counted() -> None:
    pair = compared(side("zuban"), None, Verdict.NOT_COMPARABLE)
    assert pairs_text(pair) == "Compared 300 of the project's 1,000 sessions, in 3 files; 2 only in new"


def test_a_reason_of_several_metrics_is_said_once() -> None:
    result = compared(side("zuban"), None, Verdict.NOT_SHOWN)
    differences = {name: found(-0.1, 0.3, why="it may be 0") for name in ("RecallAt1", "RecallAt5")}
    infos = tuple(MetricInfo(name=name, summary="", unit="share", better="higher") for name in differences)
    result = msgspec.structs.replace(
        result, filters=dict.fromkeys(("ALL", result.headline), differences), metrics=infos
    )
    table = verdict_table(result, differences)
    for text in (table.html(), table.markdown()):
        assert text.count("RecallAt1, RecallAt5: it may be 0.") == text.count("it may be 0") == 1
