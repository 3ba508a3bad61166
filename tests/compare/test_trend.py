"""Figures over past nights, and where their level changed."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.command import command as run
from tests.comparing import aged


def test_a_night_is_added_to_its_history_and_only_once(nights: dict[str, Path], tmp_path: Path) -> None:
    for name in ("first", "second"):
        code, _, err = run("compare", nights["words"], "--history", tmp_path / "past", "--output", tmp_path / name)
        assert code == 0, err
    (kept,) = (tmp_path / "past").iterdir()
    stored = json.loads(kept.read_text())
    assert (stored["format"], len(stored["evaluations"])) == (1, 1)
    overview = json.loads((tmp_path / "second" / "overview.json").read_text())
    assert len(overview["trend"]["nights"]) == 1


def test_a_change_of_level_is_marked_on_its_night(nights: dict[str, Path], tmp_path: Path) -> None:
    for day in range(1, 25):
        aged(nights["words"], tmp_path / "past", day, RecallAt1=0.9 if day <= 14 else 0.8)
    code, out, err = run(
        "compare", nights["again"], nights["words"], "--history", tmp_path / "past", "--output", tmp_path / "out"
    )
    assert code == 0, err
    trend = json.loads((tmp_path / "out" / "comparison.json").read_text())["trend"]
    assert (len(trend["nights"]), trend["leftOut"]) == (25, 0)
    first = trend["changes"]["RecallAt1"][0]
    assert (first["night"], first["before"], first["good"]) == (14, pytest.approx(0.9), False)
    assert first["after"] < 0.85
    assert "▼ RecallAt1 90.0%" in " ".join(out.split())
    page = (tmp_path / "out" / "html" / "index.html").read_text()
    assert page.count("<svg") >= 5
    assert "from 2020-01-15 on" in page
    assert "▼ RecallAt1 90.0%" in (tmp_path / "out" / "report.md").read_text()


def test_other_engines_and_damaged_files_do_not_enter_a_trend(nights: dict[str, Path], tmp_path: Path) -> None:
    aged(nights["oracle"], tmp_path / "past", 1)
    aged(nights["alphabet"], tmp_path / "past", 2)
    code, _, err = run("compare", nights["words"], "--history", tmp_path / "past", "--output", tmp_path / "out")
    assert code == 0, err
    trend = json.loads((tmp_path / "out" / "overview.json").read_text())["trend"]
    assert (len(trend["nights"]), trend["leftOut"]) == (1, 2)
    (tmp_path / "past" / "x.json").write_text('{"format": 1}')
    code, _, err = run("compare", nights["words"], "--history", tmp_path / "past", "--output", tmp_path / "other")
    assert code == 0, err
    assert "1 file of" in err
    assert "x.json is not the metrics.json" in " ".join(err.split())
    assert json.loads((tmp_path / "other" / "overview.json").read_text())["trend"] == trend


def test_a_history_file_that_was_cut_off_ends_no_later_run(nights: dict[str, Path], tmp_path: Path) -> None:
    cut, _ = (aged(nights["words"], tmp_path / "past", day) for day in (1, 2))
    cut.write_bytes(cut.read_bytes()[:100])
    code, _, err = run("compare", nights["words"], "--history", tmp_path / "past", "--output", tmp_path / "out")
    assert code == 0, err
    assert cut.name in err
    assert len(json.loads((tmp_path / "out" / "overview.json").read_text())["trend"]["nights"]) == 2


def test_nights_are_in_the_order_of_their_times_whatever_the_zone(nights: dict[str, Path], tmp_path: Path) -> None:
    begun = json.loads((nights["words"] / "manifest.json").read_text())["start"]
    start = datetime.fromisoformat(begun)
    zones = {"+14:00": 3, "-12:00": 2, "Z": 1, "+00:00": -1}
    for zone, hours in zones.items():
        moment = start - timedelta(hours=hours)
        offset = timedelta(0) if zone == "Z" else timedelta(hours=int(zone[:3]))
        path = aged(nights["words"], tmp_path / "past", 20 + hours)
        report = json.loads(path.read_text())
        report["evaluations"][0]["started"] = (moment + offset).strftime("%Y-%m-%dT%H:%M:%S") + zone
        path.write_text(json.dumps(report))
    options = ("--history", tmp_path / "past", "--output", tmp_path / "out")
    assert run("compare", nights["again"], nights["words"], *options)[0] == 0
    trend = json.loads((tmp_path / "out" / "comparison.json").read_text())["trend"]
    # The night of an hour later is no past.
    written = [night["started"][19:].removeprefix(begun[19:23]) for night in trend["nights"]]
    assert written == ["+14:00", "-12:00", "Z", "+00:00"]
    assert trend["nights"][-1]["started"] == begun
