"""metrics.json as scripts read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ci_eval.core.model import Estimate, FileFigures
from ci_eval.plugins.reports.json import REPORTER
from tests.comparing import compare
from tests.reports.samples import Sample, filter_figures, hostile, small


def written(sample: Sample, folder: Path) -> Any:
    return msgspec.json.decode(sample.write(REPORTER, folder).read_bytes())


def test_metrics_json_says_its_format_and_what_ran(tmp_path: Path) -> None:
    report = written(small(), tmp_path)
    evaluation = report["evaluations"][0]
    assert report["format"] == 1
    assert evaluation["engine"]["name"] == "jedi"
    assert evaluation["completionType"] == "BASIC"


def test_a_metric_has_its_value_interval_and_number_of_observations(tmp_path: Path) -> None:
    figures = written(small(), tmp_path)["evaluations"][0]["filters"]["ALL"]
    found = figures["metrics"]["RecallAt1"]
    assert list(found) == ["value", "population", "low", "high", "state", "n", "elsewhere"]
    assert list(found["elsewhere"]) == ["low", "high", "effective"]


def test_figures_of_a_filter_have_the_documented_keys_in_order(tmp_path: Path) -> None:
    figures = written(small(), tmp_path)["evaluations"][0]["filters"]["ALL"]
    expected = ["sessions", "planned", "undecided", "statuses", "metrics", "byFile", "kinds", "ranks", "files"]
    assert list(figures) == expected


def test_files_are_sorted_whatever_shard_finished_first(tmp_path: Path) -> None:
    files = written(hostile(), tmp_path)["evaluations"][0]["filters"]["ALL"]["files"]
    assert list(files) == sorted(files)


def test_a_file_has_plain_values(tmp_path: Path) -> None:
    files = written(small(), tmp_path)["evaluations"][0]["filters"]["ALL"]["files"]
    assert files["stack/easy.py"]["metrics"]["RecallAt1"] == 0.37


def test_what_is_no_number_is_null(tmp_path: Path) -> None:
    figures = filter_figures({"a.py": FileFigures(sessions=1, metrics={"Recall": float("nan")})}, 1)
    figures.metrics["Recall"] = Estimate(value=float("nan"), low=float("-inf"), high=None)
    evaluation = msgspec.structs.replace(small().evaluation(), filters={"ALL": figures})
    text = REPORTER.write(evaluation, small(), tmp_path).read_text()
    assert "NaN" not in text
    assert msgspec.json.decode(text)["evaluations"][0]["filters"]["ALL"]["metrics"]["Recall"]["value"] is None


def test_metrics_json_ends_with_a_line_end_and_is_the_only_file(tmp_path: Path) -> None:
    path = small().write(REPORTER, tmp_path / "new" / "folder")
    assert path.read_bytes().endswith(b"}\n")
    assert [each.name for each in path.parent.iterdir()] == ["metrics.json"]


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    first = small().write(REPORTER, tmp_path).read_bytes()
    assert small().write(REPORTER, tmp_path).read_bytes() == first


def test_comparison_json_has_the_documented_keys_and_differences_are_new_minus_base(
    nights: dict[str, Path], tmp_path: Path
) -> None:
    _, report, _ = compare(nights["words"], nights["oracle"], tmp_path / "c", "--gate", "Recall >= 1%")
    assert {"format", "base", "new", "paired", "population", "onlyBase", "onlyNew", "filters", "gates"} <= set(report)
    assert report["format"] == 1
    assert [set(gate) for gate in report["gates"]] == [{"rule", "passed", "reason", "result", "needed"}]
    for found in report["filters"]["ALL"]["metrics"].values():
        assert {"base", "new", "difference", "low", "high", "p", "verdict", "population", "elsewhere"} <= set(found)
        if found["difference"] is not None:
            assert found["difference"] == pytest.approx(found["new"] - found["base"])
