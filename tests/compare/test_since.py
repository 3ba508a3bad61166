"""Gates against a fixed evaluation of the history."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.compare import judge_since, read
from ci_eval.core.compare.gates import parse
from ci_eval.core.model import GateResult, MetricInfo
from tests.comparing import aged, compare
from tests.histories import night

INFOS = {
    "RecallAt1": MetricInfo(name="RecallAt1", summary="", unit="share", better="higher"),
    "Latency": MetricInfo(name="Latency", summary="", unit="ms", better="lower"),
}


def judged(rule: str, folder: Path, *, history: bool = True) -> GateResult:
    """The gate about the newest night of the folder."""
    *past, new = sorted(read(folder).evaluations, key=lambda each: each.started)
    return judge_since(parse(rule, INFOS), past if history else None, new, INFOS)


@pytest.fixture
def drift(tmp_path: Path) -> Path:
    """Thirty nights that lose 0.2 points each."""
    for day in range(1, 31):
        night(tmp_path, day, version=f"1.{day}", RecallAt1=0.9 - 0.002 * day)
    return tmp_path


@pytest.mark.parametrize(
    ("since", "result", "said"),
    [
        ("best", "broken", "since 2026-01-01 (jedi 1.1)"),
        ("2026-01-03", "broken", "since 2026-01-03 (jedi 1.3)"),
        ("1.2", "broken", "since 2026-01-02 (jedi 1.2)"),
        ("2026-01-28", "undecided", "since 2026-01-28 (jedi 1.28)"),
    ],
)
def test_a_slow_drift_breaks_a_gate_against_a_fixed_night(drift: Path, since: str, result: str, said: str) -> None:
    found = judged(f"RecallAt1 >= -2pp since:{since}", drift)
    assert (found.result, said in found.reason) == (result, True)


def test_a_night_whose_figure_has_no_interval_decides_nothing(drift: Path) -> None:
    path = next(drift.glob("03-*.json"))
    path.write_text(path.read_text().replace('"low": ', '"other": '))
    found = judged("RecallAt1 >= -2pp since:2026-01-03", drift)
    assert (found.result, "one of the two figures has no interval" in found.reason) == ("undecided", True)


@pytest.mark.parametrize(
    ("since", "said"), [("9.9", "name a date from the first on"), ("2025-12-31", "go from 2026-01-01")]
)
def test_a_reference_that_is_not_there_is_said_and_does_not_pass(drift: Path, since: str, said: str) -> None:
    found = judged(f"RecallAt1 >= -2pp since:{since}", drift)
    assert not found.passed
    assert said in found.reason
    assert "--history" in judged("RecallAt1 >= -2pp since:best", drift, history=False).reason


@pytest.mark.parametrize("rule", ["RecallAt1 >= 40% since:best", "Latency <= +5% since:best"])
def test_a_limit_or_a_time_cannot_be_since_another_night(rule: str) -> None:
    with pytest.raises(ConfigError, match="since: is for a difference"):
        parse(rule, INFOS)


def test_compare_judges_such_gates_and_fails_where_there_is_no_history(nights: dict[str, Path], tmp_path: Path) -> None:
    for day in (1, 2, 3):
        path = aged(nights["words"], tmp_path / "past", day)
        report = json.loads(path.read_text())
        (past,) = report["evaluations"]
        past["filters"][past["headline"]]["metrics"]["RecallAt1"] |= {"value": 0.99, "low": 0.98, "high": 1.0}
        path.write_text(json.dumps(report))
    rule = ("--gate", "RecallAt1 >= -2pp since:2020-01-02")
    sides = (nights["again"], nights["words"])
    code, report, said = compare(*sides, tmp_path / "out", *rule, "--history", tmp_path / "past")
    assert (code, report["gates"][0]["result"]) == (1, "broken")
    assert "since 2020-01-02" in " ".join(said.split())
    code, report, said = compare(*sides, tmp_path / "other", *rule)
    assert (code, report["gates"][0]["passed"]) == (1, False)
    assert "give --history FOLDER" in " ".join(said.split())
