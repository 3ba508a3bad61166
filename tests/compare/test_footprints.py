"""Memory and start-up of both sides, without a verdict."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.core.model import Footprint
from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.comparing import compare


def taking(night: Path, folder: Path, footprint: Footprint) -> Path:
    """The same night, of an engine that took that."""
    workspace = Workspace(Path(shutil.copytree(night, folder)))
    workspace.write_manifest(replace(workspace.manifest(), footprint=footprint))
    workspace.seal()
    return folder


def test_both_sides_are_shown_and_not_judged(nights: dict[str, Path], tmp_path: Path) -> None:
    base = taking(nights["words"], tmp_path / "base", Footprint(start_ups=(100.0, 300.0, 900.0), memory=50_000_000))
    new = taking(nights["again"], tmp_path / "new", Footprint(start_ups=(200.0,), memory=70_000_000, weighed=3))
    _, report, said = compare(base, new, tmp_path / "out")
    found = report["filters"]["ALL"]["metrics"]
    assert [found["StartUpLatency"][each] for each in ("base", "new", "difference")] == [300, 200, -100]
    assert [found["PeakMemory"][each] for each in ("base", "new", "difference")] == [50, 70, 20]
    assert {found[each]["verdict"] for each in ("StartUpLatency", "PeakMemory")} == {"not-comparable"}
    assert "+20.0 MB" in said
    assert "+20.0 MB" in (tmp_path / "out" / "report.md").read_text()
    assert "+20.0 MB" in (tmp_path / "out" / "html" / "index.html").read_text()


@pytest.mark.parametrize(("ours", "shown"), [(Footprint(), None), (Footprint(memory=1_000_000), 1.0)])
def test_what_is_not_known_is_not_shown(
    nights: dict[str, Path], tmp_path: Path, ours: Footprint, shown: float | None
) -> None:
    base = taking(nights["words"], tmp_path / "base", ours)
    new = taking(nights["again"], tmp_path / "new", Footprint())
    _, report, _ = compare(base, new, tmp_path / "out")
    found = report["filters"]["ALL"]["metrics"]
    assert "StartUpLatency" not in found
    assert found.get("PeakMemory", {}).get("base") == shown
    assert found.get("PeakMemory", {}).get("difference") is None


def test_the_memory_of_a_worker_is_not_put_beside_that_of_an_engine(nights: dict[str, Path], tmp_path: Path) -> None:
    own = taking(nights["words"], tmp_path / "own", Footprint(memory=1_000_000))
    within = taking(nights["again"], tmp_path / "within", Footprint(memory=2_000_000, of_worker=True))
    _, report, _ = compare(own, within, tmp_path / "out")
    assert report["filters"]["ALL"]["metrics"]["PeakMemory"]["new"] is None
    _, report, _ = compare(within, within, tmp_path / "same")
    assert report["filters"]["ALL"]["metrics"]["PeakMemory"]["new"] == 2


def test_several_evaluations_have_a_column_of_each(nights: dict[str, Path], tmp_path: Path) -> None:
    given = [
        taking(nights["words"], tmp_path / str(number), Footprint(memory=number * 1_000_000 or None))
        for number in range(3)
    ]
    code, out, err = command("compare", *given, "--output", tmp_path / "out")
    assert code == 0, err
    header = next(line for line in out.splitlines() if line.startswith("evaluation"))
    assert "PeakMemory" in header
    assert "StartUpLatency" not in header
    assert "2.0 MB" in out
    ranking = json.loads((tmp_path / "out" / "overview.json").read_text())["ranking"]
    assert sorted(each["PeakMemory"]["value"] or 0 for each in ranking["times"]) == [0, 1, 2]
