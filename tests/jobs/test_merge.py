"""Shards and how they are put together: exactly what one machine would have made."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ci_eval.core.base.shards import deal
from ci_eval.core.model import Session, SessionScore
from ci_eval.core.model.engine import UNKNOWN, Determinism
from ci_eval.core.workspace import Workspace, pack_sessions
from tests.command import command
from tests.projects import GREETER, write

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("file_in_one_process")]


def run(*arguments: object) -> tuple[int, str]:
    code, out, err = command(*arguments)
    return code, " ".join((out + err).split())


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i})\n" * (i + 1) for i in range(5)}
    return write(tmp_path_factory.mktemp("merge") / "p", **files)


@pytest.fixture(scope="module")
def whole(project: Path) -> Path:
    folder = project.parent / "whole"
    command = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", folder, "--jobs", 1)
    assert run(*command)[0] == 0
    return folder


def split(whole: Path, folder: Path, of: int) -> list[Path]:
    """The shards that would have made this very run, latencies included."""
    source = Workspace.open(whole)
    dealt = deal({each.path: each.sessions for each in source.actions()}, of)
    made = []
    rest = source.manifest().state
    for index in range(1, of + 1):
        shard = Workspace(Path(shutil.copytree(whole, folder / f"shard{index}")))
        statuses: Counter[str] = Counter()
        files = 0
        for path in (shard.folder / "sessions").iterdir():
            ((file, _),) = [each for each in shard.sessions(SessionScore) if shard.sessions_path(each[0].path) == path]
            if index not in dealt[file.path]:
                path.unlink()
                continue
            own = dealt[file.path][index]
            kept = list(islice(source.decode_sessions(file.path, Session), own.start, own.stop))
            shard.write_sessions(file.path, pack_sessions(file, kept))
            statuses.update(each.status.value for each in kept)
            files += 1
        manifest = shard.manifest()
        stages = manifest.stages | {"interpret": replace(manifest.stages["interpret"], files=files)}
        if index > 1:  # the first one took all of the time
            stages = {name: replace(record, cpu=None) for name, record in stages.items()}
        counts = {"planned": statuses.total(), "finished": statuses.total(), "statuses": dict(sorted(statuses.items()))}
        taken = manifest.footprint if index == 1 else UNKNOWN
        # The first shard that has sessions asked all second questions.
        state, rest = (rest, Determinism()) if files else (Determinism(), rest)
        values: dict[str, Any] = {"shard": f"{index}/{of}", "stages": stages, "footprint": taken, "state": state}
        values["cpu"] = manifest.cpu if index == 1 else None
        shard.write_manifest(replace(manifest, **values, **counts))
        shard.seal()
        made.append(lost_empty_folders(shard.folder))
    return made


def lost_empty_folders(workspace: Path) -> Path:
    """What a CI's artifact makes of a workspace: archives of files have no empty folders."""
    for folder in [path for path in workspace.iterdir() if path.is_dir() and not any(path.iterdir())]:
        folder.rmdir()
    return workspace


@pytest.mark.slow
def test_no_job_misses_the_empty_folders_that_artifacts_lose(whole: Path, tmp_path: Path) -> None:
    artifact = lost_empty_folders(Path(shutil.copytree(whole, tmp_path / "artifact")))
    assert not (artifact / "errors").exists()
    for arguments in (
        ("report", artifact),
        ("compare", artifact, whole, "--output", tmp_path / "comparison"),
        ("rerank", artifact, "--completion-type", "ALPHABETICAL", "--output", tmp_path / "reranked"),
        ("interpret", artifact, "--output", tmp_path / "again"),
        ("evaluate", "--resume", "--output", artifact),
    ):
        code, said = run(*arguments)
        assert code == 0, said


def test_merged_shards_have_the_share_of_unresolved_imports_of_one_run(tmp_path: Path) -> None:
    # The first file is cut into pieces for several shards.
    files = {
        "a__py": "import os, gone\n" + GREETER * 9,
        "b__py": "import sys\n" + GREETER,
        "c__py": "import no\nno.x\n",
    }
    asked = ("evaluate", "--project", f"path:{write(tmp_path / 'p', **files)}", "--engine", "words", "--all")
    shards = [tmp_path / str(index) for index in (1, 2, 3)]
    for number, folder in enumerate((tmp_path / "whole", *shards)):
        code, said = run(*asked, "--output", folder, *(("--shard", f"{number}/3") if number else ()))
        assert code == 0, said
    assert sum(Workspace(shard).has_sessions("a.py") for shard in shards) > 1
    code, said = run("merge", *shards, "--output", tmp_path / "merged")
    assert code == 0, said
    merged, whole = (Workspace(tmp_path / name).manifest() for name in ("merged", "whole"))
    assert merged.unresolved_imports == whole.unresolved_imports == 2 / 14
    assert merged.imports == whole.imports
    assert merged.unresolved_packages == whole.unresolved_packages == {"gone": 1, "no": 1}
    assert not merged.unresolved_in_pieces


@pytest.mark.parametrize("of", [2, 3, 30])
def test_merged_shards_report_what_the_whole_run_reports_to_the_byte(whole: Path, tmp_path: Path, of: int) -> None:
    shards = split(whole, tmp_path, of)
    if of == 30:
        # So few sessions leave shards empty.
        assert any(not list((shard / "sessions").glob("*")) for shard in shards)
    code, said = run("merge", *reversed(shards), "--output", tmp_path / "merged")
    assert code == 0, said
    name = "reports/metrics.json"
    assert (tmp_path / "merged" / name).read_bytes() == (whole / name).read_bytes()
    ours, theirs = (Workspace.open(folder).manifest() for folder in (tmp_path / "merged", whole))
    assert ours == theirs


def figures(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / "reports" / "metrics.json").read_text())
    metrics: dict[str, Any] = report["evaluations"][0]["filters"]["ALL"]["metrics"]
    of_time = ("Latency", "Within", "Cpu", "PeakMemory")
    return {name: value for name, value in metrics.items() if not any(each in name for each in of_time)}


@pytest.mark.slow
def test_shards_that_ran_by_themselves_make_the_same_figures(project: Path, whole: Path, tmp_path: Path) -> None:
    given = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--jobs", 1)
    for index in (1, 2, 3):
        code, said = run(*given, "--shard", f"{index}/3", "--output", tmp_path / str(index))
        assert code == 0, said
    code, said = run("merge", *(tmp_path / str(index) for index in (1, 2, 3)), "--output", tmp_path / "merged")
    assert code == 0, said
    assert figures(tmp_path / "merged") == figures(whole)


@pytest.mark.slow
def test_shards_of_actions_made_once_make_the_same_figures(project: Path, whole: Path, tmp_path: Path) -> None:
    assert run("actions", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "a")[0] == 0
    for index in (1, 2, 3):
        code, said = run("interpret", tmp_path / "a", "--shard", f"{index}/3", "--output", tmp_path / str(index))
        assert code == 0, said
    shards = [Workspace.open(tmp_path / str(index)) for index in (1, 2, 3)]
    paths = [source.path for shard in shards for source in shard.sources()]
    assert max(Counter(paths).values()) > 1  # a file is cut
    assert run("merge", *(shard.folder for shard in shards), "--output", tmp_path / "merged")[0] == 0
    assert figures(tmp_path / "merged") == figures(whole)
    merged = Workspace.open(tmp_path / "merged")
    for path in set(paths):
        orders = [[each.id for each in made.decode_sessions(path, Session)] for made in (merged, Workspace.open(whole))]
        assert orders[0] == orders[1]
    assert merged.manifest().stages["interpret"].files == len(set(paths))


def test_a_session_in_two_shards_is_refused(whole: Path, tmp_path: Path) -> None:
    one, two = map(Workspace, split(whole, tmp_path, 2))
    source = next(one.sources())
    two.write_sessions(source.path, one.sessions_path(source.path).read_bytes())
    two.seal()
    code, said = run("merge", one.folder, two.folder, "--output", tmp_path / "merged")
    assert (code, "is in two of the shards" in said) == (2, True)


@pytest.mark.slow
def test_a_limit_chooses_the_same_sessions_in_shards(project: Path, tmp_path: Path) -> None:
    given = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--set", "interpret.sessionsLimit=40")
    assert run(*given, "--output", tmp_path / "whole")[0] == 0
    for index in (1, 2):
        run(*given, "--shard", f"{index}/2", "--output", tmp_path / str(index))
    code, said = run("merge", tmp_path / "1", tmp_path / "2", "--output", tmp_path / "merged")
    assert code == 0, said
    assert figures(tmp_path / "merged") == figures(tmp_path / "whole")


@pytest.mark.parametrize("of", [1, 3])
def test_a_folder_of_shards_stands_for_them_however_many_they_are(whole: Path, tmp_path: Path, of: int) -> None:
    split(whole, tmp_path / "shards", of)
    code, said = run("merge", tmp_path / "shards", "--output", tmp_path / "merged")
    assert code == 0, said
    assert figures(tmp_path / "merged") == figures(whole)


def test_a_single_shard_stands_for_itself(whole: Path, tmp_path: Path) -> None:
    (shard,) = split(whole, tmp_path, 1)
    code, said = run("merge", shard, "--output", tmp_path / "merged")
    assert code == 0, said
    assert Workspace.open(tmp_path / "merged").manifest() == Workspace.open(whole).manifest()


def test_a_folder_without_workspaces_is_refused_with_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "shards" / "deeper" / "still").mkdir(parents=True)
    code, said = run("merge", tmp_path / "shards", "--output", tmp_path / "merged")
    assert code == 2
    assert "shards is not a workspace: it has no manifest.json; give the folder" in said


def test_a_missing_shard_is_named(whole: Path, tmp_path: Path) -> None:
    shards = split(whole, tmp_path, 3)
    code, said = run("merge", shards[0], shards[2], "--output", tmp_path / "merged")
    assert (code, "shards are missing: 2/3" in said) == (2, True)
    assert not (tmp_path / "merged").exists()


def test_the_newer_attempt_of_a_shard_counts(whole: Path, tmp_path: Path) -> None:
    one, two = split(whole, tmp_path, 2)
    old = Workspace(Path(shutil.copytree(two, tmp_path / "old")))
    old.write_manifest(replace(old.manifest(), start="2001-01-01T00:00:00+00:00"))
    for path in (old.folder / "sessions").iterdir():
        path.unlink()
    old.seal()
    code, said = run("merge", one, two, old.folder, "--output", tmp_path / "merged")
    assert code == 0, said
    assert "old is left out" in said
    assert figures(tmp_path / "merged") == figures(whole)


def test_a_copy_of_a_shard_is_called_the_same(whole: Path, tmp_path: Path) -> None:
    one, two = split(whole, tmp_path, 2)
    copy = shutil.copytree(two, tmp_path / "copy")
    code, said = run("merge", one, two, copy, "--output", tmp_path / "merged")
    assert code == 0, said
    assert "holds the same" in said
    assert "newer" not in said


@pytest.mark.parametrize(("key", "value", "what"), [("seed", 7, "seed"), ("strategy", "x", "strategy")])
def test_a_foreign_shard_is_refused(whole: Path, tmp_path: Path, key: str, value: object, what: str) -> None:
    one, two = split(whole, tmp_path, 2)
    workspace = Workspace(two)
    workspace.write_manifest(replace(workspace.manifest(), **{key: value}))
    workspace.seal()
    code, said = run("merge", one, two, "--output", tmp_path / "merged")
    assert (code, f"its {what} differs" in said) == (2, True)


def test_an_interrupted_shard_and_a_whole_run_are_refused(whole: Path, tmp_path: Path) -> None:
    one, two = split(whole, tmp_path, 2)
    workspace = Workspace(two)
    workspace.write_manifest(replace(workspace.manifest(), stages={}))
    code, said = run("merge", one, two, "--output", tmp_path / "merged")
    assert (code, "was interrupted" in said) == (2, True)
    code, said = run("merge", one, whole, "--output", tmp_path / "merged")
    assert (code, "is not a shard" in said) == (2, True)


# ---------------------------------------------------------------------------------------------------------- projects


@pytest.fixture(scope="module")
def two(project: Path) -> list[Path]:
    """Two projects with a file of the same name, by one engine."""
    other = write(project.parent / "q", file0__py=GREETER + "other = 3\nprint(other)\n")
    made = []
    for each in (project, other):
        made.append(project.parent / f"of-{each.name}")
        command = ("evaluate", "--project", f"path:{each}", "--engine", "words", "--output", made[-1], "--jobs", 1)
        assert run(*command)[0] == 0
    return made


def test_projects_are_merged_with_all_their_sessions(two: list[Path], tmp_path: Path) -> None:
    code, said = run("merge", *two, "--output", tmp_path / "both")
    assert code == 0, said
    both = Workspace.open(tmp_path / "both")
    parts = [Workspace.open(folder) for folder in two]
    assert [info.name for info in both.manifest().projects] == ["p", "q"]
    ids = [[each.id for _, sessions in part.sessions(SessionScore) for each in sessions] for part in (both, *parts)]
    assert sorted(ids[0]) == sorted(ids[1] + ids[2])
    assert {"p/file0.py", "q/file0.py"} <= {source.path for source, _ in both.sessions(SessionScore)}
    assert all(s.file == source.path for source, sessions in both.sessions(SessionScore) for s in sessions)
    assert {actions.path for actions in both.actions()} == {source.path for source, _ in both.sessions(SessionScore)}
    figures = json.loads((tmp_path / "both" / "reports" / "metrics.json").read_text())["evaluations"][0]
    assert figures["project"]["name"] == "2 projects"
    assert figures["filters"]["ALL"]["sessions"] == len(ids[0])
    assert run("compare", tmp_path / "both", tmp_path / "both", "--output", tmp_path / "out")[0] == 0


def test_a_merge_of_projects_cannot_be_asked_again(two: list[Path], tmp_path: Path) -> None:
    run("merge", *two, "--output", tmp_path / "both")
    code, said = run("interpret", tmp_path / "both", "--engine", "oracle", "--output", tmp_path / "o")
    assert (code, "use the workspace of one of them" in said) == (2, True)


def test_one_project_twice_or_another_engine_is_refused(two: list[Path], project: Path, tmp_path: Path) -> None:
    code, said = run("merge", two[0], two[0], "--output", tmp_path / "both")
    assert (code, "is given twice" in said) == (2, True)
    again = shutil.copytree(two[0], tmp_path / "again")
    code, said = run("merge", two[0], again, "--output", tmp_path / "both")
    assert (code, "another workspace has the same project" in said) == (2, True)
    run("interpret", two[1], "--engine", "oracle", "--output", tmp_path / "oracle")
    code, said = run("merge", two[0], tmp_path / "oracle", "--output", tmp_path / "both")
    assert (code, "its engine is" in said) == (2, True)


def test_projects_are_what_other_code_consists_of_if_there_are_two(two: list[Path]) -> None:
    one = Workspace.open(two[0]).manifest()
    both = replace(one, projects=(one.project, one.project))
    assert (one.cluster("p/a.py"), both.cluster("p/a.py")) == ("p/a.py", "p")
