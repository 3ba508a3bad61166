"""The caveats that the table of a suite gives with its figures."""

from __future__ import annotations

from ci_eval.core.model import MetricInfo, ProjectInfo, Suite, SuiteProject
from ci_eval.core.rendering.suites import populations

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
    assert "busy during click: times" in populations(suite(RECALL, LATENCY, busy=(False, True)))[-1]
    assert "busy during all projects: times" in populations(suite(LATENCY, busy=(True, True)))[-1]


def test_without_times_or_without_work_beside_there_is_no_caveat() -> None:
    assert len(populations(suite(RECALL, busy=(True, True)))) == 2
    assert len(populations(suite(LATENCY, busy=(False, False)))) == 2
