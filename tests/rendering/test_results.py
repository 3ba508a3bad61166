"""The documents of suites, rankings and trends."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.model import ChangePoint, MetricInfo, ProjectInfo, Suite, SuiteProject, Trend
from ci_eval.core.model.units import TO
from ci_eval.rendering.blocks import Column, Table, Warned
from ci_eval.rendering.results import change_lines, describe_populations, places, trend_lines
from tests.command import command
from tests.rendering.trends import INFO, trend_of

RECALL = MetricInfo(name="Recall", summary="", unit="share", better="higher")
LATENCY = MetricInfo(name="MeanLatency", summary="", unit="ms", better="lower")


def suite(*metrics: MetricInfo, busy: tuple[bool, ...]) -> Suite:
    projects = tuple(
        SuiteProject(
            project=ProjectInfo(spec=name, name=name, revision="1", checksum="0" * 64),
            folder=name,
            sessions=1,
            busy=is_busy,
        )
        for name, is_busy in zip(("flask", "click"), busy, strict=True)
    )
    return Suite(title="jedi", projects=projects, overall={}, metrics=metrics, compared=False)


def test_times_of_a_busy_machine_have_a_caveat() -> None:
    assert "busy during click: times" in describe_populations(suite(RECALL, LATENCY, busy=(False, True)))[-1]
    assert "busy during all projects: times" in describe_populations(suite(LATENCY, busy=(True, True)))[-1]


def test_without_times_or_without_work_beside_there_is_no_caveat() -> None:
    assert len(describe_populations(suite(RECALL, busy=(True, True)))) == 2
    assert len(describe_populations(suite(LATENCY, busy=(False, False)))) == 2


def changed(good: bool | None) -> Trend:
    return trend_of([0.5, 0.5, 0.8], changes=(ChangePoint(night=2, before=0.5, after=0.8, p=0.01, good=good),))


def test_a_change_of_level_has_a_sign_both_levels_and_its_day() -> None:
    assert list(change_lines(changed(True))) == ["▲ Recall 50.0% → 80.0% (+30.00 pp) from 2026-01-03 on"]
    assert [next(change_lines(changed(good)))[:2] for good in (False, None)] == ["▼ ", "Re"]


def test_one_night_is_no_trend_and_a_level_that_stays_is_said_to() -> None:
    assert list(trend_lines(trend_of([0.5]))) == ["The first evaluation of its kind: a trend needs two."]
    said = list(trend_lines(trend_of([0.5, 0.5])))
    assert said == [
        "Trend of all sessions over 2 evaluations, 2026-01-01 to 2026-01-02:",
        "No figure changed its level.",
    ]
    assert INFO.name not in "".join(said)


def test_a_tie_has_a_range_of_places() -> None:
    assert places((2, 0, 0), (0, 1, 1)) == ("1", f"2{TO}3", f"2{TO}3")
    assert places((0, 1, 0), (0, 0, 1)) == (f"1{TO}3", f"1{TO}2", f"2{TO}3")


def test_the_ranking_names_each_evaluation_and_links_its_comparison(nights: dict[str, Path], tmp_path: Path) -> None:
    names = ("words", "alphabet", "oracle")
    code, out, err = command("compare", *(nights[name] for name in names), "--output", tmp_path / "out")
    assert code == 0, err
    text = (tmp_path / "out" / "report.md").read_text()
    rows = [line.split(" | ") for line in text.partition("better than")[2].partition("<details>")[0].splitlines()]
    ranked = [row for row in rows if row[0].strip("| ").isdigit()]
    assert [row[0].strip("| ") for row in ranked] == ["1", "2", "3"]
    assert "oracle" in ranked[0][1]
    assert "100.0%" in ranked[0][2]
    assert ranked[0][-4].endswith(" ms")
    assert ranked[0][-3].endswith(" MB")
    page = (tmp_path / "out" / "html" / "index.html").read_text()
    assert "LatencyPercentile95" in page
    assert "LatencyPercentile95" in out
    assert [each in text for each in ("01-alphabet/report.md", "02-oracle/report.md")] == [True, True]


def test_a_long_sentence_is_whole_in_markdown() -> None:
    text = f"{'word ' * 60}end"
    assert Warned(text).markdown() == f"> {text}"
    assert Table([Column("Name")], [["a"]], note=text).markdown().endswith(f"\n\n{text}")
