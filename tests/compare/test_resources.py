"""Times of different runs are shown and not judged."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Collection
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from ci_eval.core.catalogs import metrics
from ci_eval.core.compare.resources import compare_times
from ci_eval.core.filters import ReportFilter
from ci_eval.core.model import Footprint, Session, SessionScore, Verdict
from ci_eval.core.scoring import evaluated, rank_of
from ci_eval.core.workspace import Workspace, pack_sessions
from tests.command import command
from tests.comparing import compare


def test_on_another_machine_times_are_not_compared(nights: dict[str, Path], tmp_path: Path) -> None:
    workspace = Workspace(Path(shutil.copytree(nights["words"], tmp_path / "new")))
    workspace.write_manifest(msgspec.structs.replace(workspace.manifest(), processor="another"))
    workspace.seal()
    rule = ("--gate", "LatencyPercentile95 <= +500%")
    code, report, said = compare(nights["words"], tmp_path / "new", tmp_path / "out", *rule)
    assert report["filters"]["ALL"]["metrics"]["LatencyPercentile95"]["verdict"] == "not-comparable"
    assert (code, report["gates"][0]["passed"]) == (1, False)
    assert "latencies are not comparable: CPU" in " ".join(said.split())


def spend(night: Path, folder: Path, share: float, seed: int) -> Path:
    """A copy of the workspace in which each lookup took some CPU time: about 10 ms times this share."""
    workspace, noise = Workspace(Path(shutil.copytree(night, folder))), random.Random(seed)
    for source, sessions in list(workspace.sessions(Session)):
        spent = []
        for session in sessions:
            lookups = [replace(lookup, cpu=round(share * noise.uniform(8, 12), 3)) for lookup in session.lookups]
            spent.append(replace(session, lookups=tuple(lookups)))
        workspace.write_sessions(source.path, pack_sessions(source, spent))
    workspace.seal()
    return folder


@pytest.mark.parametrize(
    ("share", "verdict", "code"), [(1.0, "equivalent", 0), (1.05, "no-difference-shown", 0), (1.2, "worse", 1)]
)
def test_cpu_is_compared_between_runs_apart(
    nights: dict[str, Path], tmp_path: Path, share: float, verdict: str, code: int
) -> None:
    base, new = spend(nights["words"], tmp_path / "b", 1.0, 1), spend(nights["words"], tmp_path / "n", share, 2)
    ended, report, _ = compare(base, new, tmp_path / "out", "--gate", "CpuPerLookup[all] <= +5%")
    found = report["filters"]["ALL"]["metrics"]["CpuPerLookup"]
    assert (ended, found["verdict"]) == (code, verdict)
    assert found["low"] < 10 * (share - 1) + 0.3
    assert found["high"] > 10 * (share - 1) - 0.3


def test_of_an_engine_without_a_process_no_cpu_is_known(nights: dict[str, Path], tmp_path: Path) -> None:
    code, report, _ = compare(nights["words"], nights["again"], tmp_path / "out", "--gate", "CpuPerLookup <= +5%")
    assert report["filters"]["ALL"]["metrics"]["CpuPerLookup"]["base"] is None
    assert (code, report["gates"][0]["result"]) == (1, "broken")


@pytest.mark.parametrize(
    ("processor", "flips", "said"),
    [("another", False, "processors differ"), (None, True, "only one run had a busy machine")],
)
def test_cpu_times_of_other_conditions_are_not_compared(
    nights: dict[str, Path], tmp_path: Path, processor: str | None, flips: bool, said: str
) -> None:
    base, new = spend(nights["words"], tmp_path / "b", 1.0, 1), spend(nights["words"], tmp_path / "n", 2.0, 2)
    workspace = Workspace(new)
    manifest = workspace.manifest()
    machine = replace(manifest.machine, busy=manifest.machine.busy != flips)
    workspace.write_manifest(replace(manifest, processor=processor or manifest.processor, machine=machine))
    workspace.seal()
    _, report, _ = compare(base, new, tmp_path / "out")
    difference = report["filters"]["ALL"]["metrics"]["CpuPerLookup"]
    assert difference["verdict"] == "not-comparable"
    assert said in difference["why"]


def test_times_have_figures_and_no_verdict(nights: dict[str, Path], tmp_path: Path) -> None:
    _, report, _ = compare(nights["words"], nights["again"], tmp_path / "out")
    for name in ("MeanLatency", "MaxLatency", "LatencyPercentile50", "LatencyPercentile95"):
        found = report["filters"]["ALL"]["metrics"][name]
        assert found["difference"] == pytest.approx(found["new"] - found["base"])
        assert {found["verdict"], found["elsewhere"]["verdict"]} == {"not-comparable"}
        assert "in turns" in found["why"]


def in_rounds(
    night: Path, folder: Path, latency: float, count: int, *, slow: Collection[str] = (), differing: int = 0
) -> Workspace:
    """A copy of the workspace with `count` sessions, whose lookups took about `latency` ms in three rounds; those of
    `slow` took a second."""
    workspace, left = Workspace(Path(shutil.copytree(night, folder))), count
    workspace.write_manifest(replace(workspace.manifest(), rounds=3, generated=count))
    for source, sessions in list(workspace.sessions(Session)):
        kept = []
        for session in list(filter(evaluated, sessions))[:left]:
            took = 1000.0 if session.id in slow else latency
            lookup = replace(session.lookups[-1], latency=took, latencies=(took, 1.01 * took, 1.02 * took))
            kept.append(replace(session, lookups=(lookup,), differing=differing))
        left -= len(kept)
        workspace.write_sessions(source.path, pack_sessions(source, kept))
    return workspace


@pytest.mark.parametrize(("count", "shown"), [(19, Verdict.NOT_SHOWN), (20, Verdict.BETTER)])
def test_the_slowest_lookup_of_few_gives_no_verdict_on_a_quantile(
    nights: dict[str, Path], tmp_path: Path, count: int, shown: Verdict
) -> None:
    base = in_rounds(nights["words"], tmp_path / "base", 100.0, count)
    new = in_rounds(nights["words"], tmp_path / "new", 10.0, count)
    everything = ReportFilter(name="ALL")
    differences = compare_times(base, new, metrics.load(), [everything])["ALL"]
    highest, middle = differences["LatencyPercentile95"], differences["LatencyPercentile50"]
    assert (highest.n, middle.n) == (count, count)
    assert (highest.verdict, middle.verdict) == (shown, Verdict.BETTER)


@pytest.mark.parametrize(("differing", "shown"), [(0, Verdict.WORSE), (1, Verdict.NOT_SHOWN)])
def test_shares_of_wavering_engines_are_not_exact(
    nights: dict[str, Path], tmp_path: Path, differing: int, shown: Verdict
) -> None:
    base = in_rounds(nights["words"], tmp_path / "base", 10.0, 40, differing=differing)
    first = [one.id for _, sessions in base.sessions(SessionScore) for one in sessions if rank_of(one) == 1]
    new = in_rounds(nights["words"], tmp_path / "new", 10.0, 40, slow=first[:1], differing=differing)
    difference = compare_times(base, new, metrics.load(), [ReportFilter(name="ALL")])["ALL"]["RightWithin100ms"]
    assert difference.difference == pytest.approx(-1 / 40)
    assert difference.verdict is shown


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
    differences = report["filters"]["ALL"]["metrics"]
    assert [differences["StartUpLatency"][each] for each in ("base", "new", "difference")] == [300, 200, -100]
    assert [differences["PeakMemory"][each] for each in ("base", "new", "difference")] == [50, 70, 20]
    assert {differences[each]["verdict"] for each in ("StartUpLatency", "PeakMemory")} == {"not-comparable"}
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
    differences = report["filters"]["ALL"]["metrics"]
    assert "StartUpLatency" not in differences
    assert differences.get("PeakMemory", {}).get("base") == shown
    assert differences.get("PeakMemory", {}).get("difference") is None


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
