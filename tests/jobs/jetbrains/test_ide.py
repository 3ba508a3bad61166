"""`--engine jetbrains`, through a stand-in for the IDE."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tarfile
from pathlib import Path

import pytest

from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.jetbrains.fields import plain
from tests.adapters.ide.stand_in import BUILD, make
from tests.command import command
from tests.projects import GREETER, sessions, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the launcher is that of Linux")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "p", a__py=GREETER, b__py="def f(): pass\n\n\nf()\nf()\n")


def evaluated(project: Path, ide: Path, output: Path, *more: object) -> tuple[int, str, str]:
    code, out, err = command(
        "evaluate", "--engine", "jetbrains", "--project", f"path:{project}", "--output", output,
        "--set", f"engine.options.ide={ide}", *more,
    )  # fmt: skip
    return code, out, " ".join(err.split())


def test_what_the_ide_evaluated_is_a_workspace_as_any_other(tmp_path: Path, project: Path) -> None:
    ide = make(tmp_path / "ide")
    code, _, err = evaluated(project, ide, tmp_path / "basic")
    assert code == 0, err
    code, _, err = evaluated(project, ide, tmp_path / "ml", "--completion-type", "ML")
    assert code == 0, err
    workspace = Workspace.open(tmp_path / "ml")
    manifest = workspace.manifest()
    assert (manifest.engine.name, manifest.engine.version) == ("jetbrains", BUILD)
    assert (manifest.project.name, manifest.completion_type, manifest.language) == ("p", "ML", "python")
    assert {each.lookups[0].rank for each in sessions(workspace)} == {1}
    assert {each.lookups[0].rank for each in sessions(Workspace.open(tmp_path / "basic"))} == {2}
    assert manifest.confined
    code, out, err = command("compare", tmp_path / "basic", tmp_path / "ml", "--output", tmp_path / "compared")
    assert code == 0, err
    count = len(sessions(workspace))
    assert count > 4
    assert f"{count} better · 0 worse of" in " ".join(out.split())
    assert command("rerank", tmp_path / "ml", "--completion-type", "ALPHABETICAL", "--output", tmp_path / "r")[0] == 0
    assert not (project / ".idea").exists(), "the project itself is not touched"


def test_the_plugin_is_put_in_place_and_the_build_is_checked(tmp_path: Path, project: Path) -> None:
    ide = make(tmp_path / "ide", "needs the plugin")
    code, _, err = evaluated(project, ide, tmp_path / "o")
    assert code == 5
    assert "give the evaluation plugin of its build as engine.options.plugin" in err
    plugin = tmp_path / "evaluation-plugin"
    (plugin / "lib").mkdir(parents=True)
    given = ("--set", f"engine.options.plugin={plugin}")
    code, _, err = evaluated(project, ide, tmp_path / "o", *given, "--set", f"engine.version={BUILD}")
    assert code == 0, err
    code, _, err = evaluated(project, ide, tmp_path / "other", *given, "--set", "engine.version=IC-1.2")
    assert code == 2
    assert f"is {BUILD}" in err


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("sdk", "name a JDK's folder as engine.options.java"),
        ("licence", "activate it on this machine"),
        ("config", "engine.options.generation must be that of the plugin"),
        ("cancelled", "without an error, and without sessions"),
        ("dies", "the IDE ended with exit code"),
    ],
)
def test_a_failure_says_what_happened_and_what_to_do(tmp_path: Path, project: Path, fault: str, said: str) -> None:
    code, _, err = evaluated(project, make(tmp_path / "ide", fault), tmp_path / "o")
    assert code == 5, err
    assert said in err
    assert not (tmp_path / "o").exists()


@pytest.mark.slow
def test_one_that_says_nothing_is_ended(tmp_path: Path, project: Path) -> None:
    ide = make(tmp_path / "ide", "hangs")
    code, _, err = evaluated(project, ide, tmp_path / "o", "--set", "engine.options.idle=2")
    assert code == 5
    assert "the IDE said nothing for 2 seconds and was ended; its last words: " in err
    assert "raise engine.options.idle" in err


def test_an_archive_needs_its_digest(tmp_path: Path, project: Path) -> None:
    make(tmp_path / "made" / "idea-IC")
    archive = tmp_path / "ide.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "made" / "idea-IC", "idea-IC")
    code, _, err = evaluated(project, archive, tmp_path / "o")
    assert code == 2
    assert "add its SHA-256 as `engine.options.sha256`" in err
    code, _, err = evaluated(project, archive, tmp_path / "o", "--set", f"engine.options.sha256={'a' * 64}")
    assert code == 4, err
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    code, _, err = evaluated(project, archive, tmp_path / "o", "--set", f"engine.options.sha256={digest}")
    assert code == 0, err


def test_what_an_interrupted_import_left_is_taken_up(tmp_path: Path, project: Path) -> None:
    ide = make(tmp_path / "ide")
    code, _, err = evaluated(project, ide, tmp_path / "o")
    assert code == 0, err
    shutil.move(tmp_path / "o" / "imported" / "plugin", tmp_path / "o.plugin")
    shutil.rmtree(tmp_path / "o")
    (ide / "bin/fault").write_text("sdk")
    code, _, err = evaluated(project, ide, tmp_path / "o", "--resume")
    assert code == 0, err
    assert sessions(Workspace.open(tmp_path / "o"))


def without_times(folder: Path) -> list[Session]:
    return sorted(sessions(Workspace.open(folder)), key=lambda each: (each.file, each.offset))


def test_shards_merged_are_the_run_of_one_machine(tmp_path: Path, project: Path) -> None:
    write(project, c__py="x = 1\n", d__py="def g(): pass\n\n\ng()\n")
    ide = make(tmp_path / "ide")
    code, _, err = evaluated(project, ide, tmp_path / "whole")
    assert code == 0, err
    shards = [tmp_path / f"s{number}" for number in (1, 2, 3, 4)]
    for number, shard in enumerate(shards, 1):
        code, _, err = evaluated(project, ide, shard, "--shard", f"{number}/4")
        assert code == 0, err
    code, _, err = command("merge", *shards[:3], "--output", tmp_path / "m")
    assert (code, "shards are missing: 4/4" in " ".join(err.split())) == (2, True)
    code, _, err = command("merge", *shards, "--output", tmp_path / "merged")
    assert code == 0, err
    assert without_times(tmp_path / "merged") == without_times(tmp_path / "whole")
    merged, whole = (Workspace.open(tmp_path / each).manifest() for each in ("merged", "whole"))
    for what in ("planned", "generated", "finished", "statuses", "files", "strategy", "shard", "own_actions"):
        assert getattr(merged, what) == getattr(whole, what), what
    assert len(list((tmp_path / "merged/actions").iterdir())) == len(list((tmp_path / "whole/actions").iterdir()))
    code, out, err = command("compare", tmp_path / "whole", tmp_path / "merged", "--output", tmp_path / "compared")
    assert code == 0, err
    assert "0 better · 0 worse of" in " ".join(out.split())
    assert command("rerank", tmp_path / "merged", "--completion-type", "FREQUENCY", "--output", tmp_path / "r")[0] == 0


def test_more_shards_than_files_are_too_many(tmp_path: Path, project: Path) -> None:
    code, _, err = evaluated(project, make(tmp_path / "ide"), tmp_path / "o", "--shard", "3/3")
    assert (code, "take fewer shards" in err) == (3, True), err


@pytest.mark.parametrize("fault", ["dies", "hangs", "half written"])
@pytest.mark.parametrize("shard", [(), ("--shard", "1/1")])
def test_a_resumed_run_asks_about_the_files_that_are_left(
    tmp_path: Path, project: Path, fault: str, shard: tuple[str, ...]
) -> None:
    ide = make(tmp_path / "ide", fault)
    idle = ("--set", "engine.options.idle=1", *shard)
    code, _, err = evaluated(project, ide, tmp_path / "o", *idle)
    assert (code, "evaluated so far: 1 file; add --resume" in err) == (5, True), err
    (ide / "bin/fault").write_text("")
    other = ("--set", "interpret.seed=5")
    code, _, err = evaluated(project, ide, tmp_path / "o", *idle, "--resume", *other)
    assert (code, "give the command as it was" in err) == (2, True), err
    code, _, err = evaluated(project, ide, tmp_path / "o", *idle, "--resume")
    assert code == 0, err
    theirs = plain(tmp_path / "o/imported/plugin/config.json")
    assert isinstance(theirs, dict)
    assert theirs["actions"]["evaluationRoots"] == ["b.py"]
    code, _, err = evaluated(project, ide, tmp_path / "whole")
    assert code == 0, err
    assert without_times(tmp_path / "o") == without_times(tmp_path / "whole")
    assert not list(tmp_path.glob("o.*"))


def test_what_it_cannot_do_is_refused_before_anything_is_started(tmp_path: Path, project: Path) -> None:
    ide = tmp_path / "none"
    code, _, err = evaluated(project, ide, tmp_path / "o")
    assert (code, "neither a folder nor an archive" in err) == (2, True)
    make(ide)
    for more, said in (
        (("--completion-type", "FREQUENCY"), "BASIC, SMART, ML"),
        (("--task", "golf"), "in the task completion, not golf"),
        (("--repeat", "2"), "leave out --repeat"),
        (("--shard", "1/2", "--set", "interpret.sessionsLimit=9"), "leave it out, or --shard"),
        (("--shard", "1/2", "--language", "klingon"), "klingon"),
        (("--set", "engine.options.generation=x"), "it is one of k19, ij21, ij23"),
        (("--set", "engine.options.idee=x"), "known are ide, sha256"),
    ):
        code, _, err = evaluated(project, ide, tmp_path / "o", *more)
        assert (code, said in err) == (2, True), err
    code, _, err = command(
        "actions", "--engine", "jetbrains", "--project", f"path:{project}", "--output", tmp_path / "a"
    )
    assert (code, "only `ci-eval evaluate` can use it" in " ".join(err.split())) == (2, True)


def test_it_is_listed_as_not_verified() -> None:
    code, out, _ = command("list", "engines", "--format", "json")
    assert code == 0
    entry = out[out.index('"jetbrains"') :]
    assert '"verified": "no"' in entry[: entry.index("}")]
    assert "never tried with a real IDE" in entry[: entry.index("}")]
