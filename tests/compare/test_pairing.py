"""Which sessions of two evaluations are compared."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ci_eval.core.base.shards import deal
from ci_eval.core.compare.pairing import explain_classes, population
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import EngineInfo, FileActions, ProjectInfo, Session
from ci_eval.core.statistics.population import Strata
from ci_eval.core.workspace import Workspace, pack_actions, pack_sessions
from tests.command import command as run
from tests.comparing import compare
from tests.projects import GREETER, write


@pytest.mark.slow
def test_sessions_of_changed_files_are_counted_and_left_out(tmp_path: Path) -> None:
    made = []
    for name, more in (("base", ""), ("new", "x = 1\n")):
        project = write(tmp_path / name / "p", a__py=GREETER, b__py=GREETER + more)
        made.append(tmp_path / f"{name}-night")
        code, _, err = run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", made[-1])
        assert code == 0, err
    code, report, said = compare(*made, tmp_path / "out")
    assert code == 0, said
    assert report["files"] == 1
    assert report["changedText"] >= report["paired"] > 0
    assert "have no partner" in " ".join(said.split())


def test_other_projects_have_no_session_in_common(nights: dict[str, Path], tmp_path: Path) -> None:
    project = write(tmp_path / "other", a__py=GREETER)
    alike = ("--set", "actions.strategy.prefix.name=NoPrefix")
    run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "night", *alike)
    code, report, said = compare(nights["words"], tmp_path / "night", tmp_path / "out")
    assert (code, report) == (3, {})
    assert "evaluate both on the same project" in " ".join(said.split())


def test_sessions_of_a_file_that_one_side_lacks_are_that_sides_alone(nights: dict[str, Path], tmp_path: Path) -> None:
    lacking = Path(shutil.copytree(nights["words"], tmp_path / "lacking"))
    gone = sorted((lacking / "sessions").iterdir())[0]
    gone.unlink()
    Workspace.open(lacking).seal()
    for base, new, side in ((nights["words"], lacking, "onlyBase"), (lacking, nights["words"], "onlyNew")):
        _, report, _ = compare(base, new, tmp_path / side)
        counts = {name: report[name] for name in ("onlyBase", "onlyNew", "changedText")}
        assert counts.pop(side) > 0
        assert set(counts.values()) == {0}


def test_sessions_pair_by_their_ids_where_one_side_has_few_of_a_file(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER * 4)
    made = []
    for name, more in (("all", ()), ("few", ("--sessions", 20))):
        made.append(tmp_path / name)
        what = ("--project", f"path:{project}", "--engine", "words", "--output", made[-1], "--jobs", 1)
        code, _, err = run("evaluate", *what, *more)
        assert code == 0, err
    code, report, said = compare(*made, tmp_path / "out")
    assert code == 0, said
    assert (report["paired"], report["onlyNew"]) == (20, 0)
    # The same engine gave the same answers: any difference would be one between other sessions.
    metrics = report["filters"]["ALL"]["metrics"]
    assert [metrics[name]["difference"] for name in ("RecallAt1", "RecallAt5", "Recall")] == [0, 0, 0]


def test_equal_ids_in_several_files_are_several_changes(nights: dict[str, Path], tmp_path: Path) -> None:
    """Such as in a damaged workspace."""
    sides = [Path(shutil.copytree(nights[name], tmp_path / name)) for name in ("words", "alphabet")]
    for side in map(Workspace.open, sides):
        for source, sessions in [(source, [*sessions]) for source, sessions in side.sessions(Session)]:
            numbered = (replace(session, id=str(number)) for number, session in enumerate(sessions))
            side.write_sessions(source.path, pack_sessions(source, numbered))
        side.seal()
    code, report, said = compare(*sides, tmp_path / "out")
    assert code == 0, said
    listed = [*report["regressions"], *report["improvements"]]
    assert len({change["id"] for change in listed}) < len({(change["id"], change["file"]) for change in listed})


FILES = {"one/a.py": 40, "one/b.py": 60, "two/c.py": 300}
PROJECT = ProjectInfo(spec="path:p", name="p", revision="1", checksum="c")


def made(folder: Path, *, changed: str = "", **said: Any) -> Workspace:
    """A workspace whose actions have so many sessions."""
    workspace = Workspace.create(folder)
    for path, sessions in FILES.items():
        checksum = "other" if path == changed else "same"
        actions = FileActions(path=path, checksum=checksum, sessions=sessions, unparsable=0.0, actions=())
        workspace.write_actions(path, pack_actions(actions))
    workspace.write_manifest(
        Manifest(
            ci_eval="", title="", language="python", completion_type="BASIC", client="editor", strategy="", seed=0,
            engine=EngineInfo(name="words", version="1"), project=PROJECT, grammar="", python="", os="", jobs=1,
            start="2026-01-01T00:00:00+00:00", generated=sum(FILES.values()), **said,
        )
    )  # fmt: skip
    return workspace


@pytest.mark.parametrize("asked", [1, 4])
def test_a_sample_is_a_share_of_all_sessions(tmp_path: Path, asked: int) -> None:
    sides = made(tmp_path / "base"), made(tmp_path / "new")
    assert measured(population(*sides, same_text=True), 400 // asked) == (400, 1 / asked)


def test_files_that_changed_are_no_part_of_it(tmp_path: Path) -> None:
    sides = made(tmp_path / "base"), made(tmp_path / "new", changed="two/c.py")
    assert measured(population(*sides, same_text=False), 50) == (100, 0.5)


def test_a_shard_is_asked_of_its_own_files_only(tmp_path: Path) -> None:
    sides = made(tmp_path / "base", shard="1/2"), made(tmp_path / "new", shard="1/2")
    own = sum(len(shares[1]) for shares in deal(FILES, 2).values() if 1 in shares)
    assert measured(population(*sides, same_text=True), own) == (own, 1)


def test_of_several_projects_the_one_least_asked_counts(tmp_path: Path) -> None:
    projects = (PROJECT, PROJECT)
    sides = made(tmp_path / "base", projects=projects), made(tmp_path / "new", projects=projects)
    strata, asked = population(*sides, same_text=True), {("one", ""): 100, ("two", ""): 30}
    assert (strata.total(asked), strata.share(asked)) == (400, 0.1)


def test_classes_of_one_side_divide_the_sessions_of_both(tmp_path: Path) -> None:
    classes = {"": {"names, Prefix 1": 150, "names": 250}}
    sides = made(tmp_path / "base"), made(tmp_path / "new", strata=classes)
    assert population(*sides, same_text=True).sessions == {("", "names, Prefix 1"): 150, ("", "names"): 250}
    assert explain_classes(*sides) == ""


def test_other_classes_are_not_judged(tmp_path: Path) -> None:
    sides = made(tmp_path / "base", strata={"": {"imports": 400}}), made(tmp_path / "new", strata={"": {"names": 400}})
    assert "reports.headline differed" in explain_classes(*sides)


def measured(strata: Strata, asked: int) -> tuple[int, float]:
    return strata.total({("", ""): asked}), strata.share({("", ""): asked})
