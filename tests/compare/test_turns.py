"""Times of different runs are shown and not judged."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from ci_eval.core.workspace import Workspace
from tests.comparing import compare


def test_on_another_machine_times_are_not_compared(nights: dict[str, Path], tmp_path: Path) -> None:
    workspace = Workspace(Path(shutil.copytree(nights["words"], tmp_path / "new")))
    workspace.write_manifest(msgspec.structs.replace(workspace.manifest(), cpu="another"))
    workspace.seal()
    rule = ("--gate", "LatencyPercentile95 <= +500%")
    code, report, said = compare(nights["words"], tmp_path / "new", tmp_path / "out", *rule)
    assert report["filters"]["ALL"]["metrics"]["LatencyPercentile95"]["verdict"] == "not-comparable"
    assert (code, report["gates"][0]["passed"]) == (1, False)
    assert "latencies are not comparable: CPU" in " ".join(said.split())


def test_times_have_figures_and_no_verdict(nights: dict[str, Path], tmp_path: Path) -> None:
    _, report, _ = compare(nights["words"], nights["again"], tmp_path / "out")
    for name in ("MeanLatency", "MaxLatency", "LatencyPercentile50", "LatencyPercentile95"):
        found = report["filters"]["ALL"]["metrics"][name]
        assert found["difference"] == pytest.approx(found["new"] - found["base"])
        assert {found["verdict"], found["elsewhere"]["verdict"]} == {"not-comparable"}
        assert "in turns" in found["why"]
