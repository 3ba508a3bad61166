"""The settings that `ci-eval init --ci teamcity` writes are compiled and executed."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ci_eval.cli.group import find_command
from ci_eval.jobs.workflows.teamcity_files import LIBRARY, SETTINGS, _text
from tests.ci.teamcity_stage import ROOT, builds, executed
from tests.ci.tools import LIBRARY as SOURCE
from tests.command import command

COMMIT = "0123456789" * 4
ALL = "night,pull-request,logs,site,notice"
BUILD = ("--build", "make server  # $HOME 100%", "--engine-command", "./build/server --stdio")


def written(folder: Path, *options: str) -> list[str]:
    """Return the lines of the settings that `init` wrote."""
    shared = ("--ci", "teamcity", "--output", folder, "--language", "python", "--project", "path:.")
    code, _, err = command("init", *shared, "--action", f"o/r@{COMMIT}", *options)
    assert code == 0, err
    assert (folder / LIBRARY).read_text() == SOURCE.read_text()
    return (folder / SETTINGS).read_text().splitlines()


def modelled(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the builds of the settings, by id."""
    code, out, err = executed(folder / SETTINGS)
    assert code == 0, err
    return {build["id"]: build for build in builds(json.loads(out))}


def arguments(build: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what the command of that name is called with."""
    (line,) = (line for line in build["scripts"][0].splitlines() if f'run.py" {name} ' in line)
    _, _, _, *argv = shlex.split(line)
    return dict(find_command(name).make_context(name, argv).params)


@pytest.mark.needs("npm", "java")
@pytest.mark.engine
@pytest.mark.registry
def test_all_purposes_make_settings_that_teamcity_reads(tmp_path: Path) -> None:
    lines = written(tmp_path, "--for", ALL, "--mail", "team@example.org", *BUILD, "--like", "zuban")
    assert len(lines) == 20
    assert max(map(len, lines)) <= 120
    models = modelled(tmp_path)
    assert set(models) == {
        "Engine_Completion", "GenerateLogs_Completion", "PullRequest_Completion", "Night_Completion",
        "Trends_Completion",
        *(f"{kind}_Completion_{ranking}" for kind in ("Evaluate", "Compare") for ranking in ("BASIC", "ML")),
    }  # fmt: skip
    # A percent sign would begin a parameter.
    assert models["Engine_Completion"]["scripts"] == ["make server  # $HOME 100%%"]
    for build in ("Evaluate_Completion_BASIC", "GenerateLogs_Completion"):
        taken = [rule["rules"] for edge in models[build]["dependencies"] for rule in edge["artifacts"]]
        assert "engine.zip!** => engine" in taken
    given = arguments(models["Evaluate_Completion_BASIC"], "evaluate")
    assert (given["engine_command"], given["engine_like"]) == ("engine/server --stdio", "zuban")
    assert models["PullRequest_Completion"]["params"]["env.INPUT_NEW"] == "new/server --stdio"


@pytest.mark.needs("npm", "java")
@pytest.mark.engine
@pytest.mark.registry
def test_a_night_of_an_engine_with_a_name_takes_eight_lines(tmp_path: Path) -> None:
    assert len(written(tmp_path, "--engine", "jedi")) == 8
    assert set(modelled(tmp_path)) == {"Evaluate_Completion_BASIC", "Compare_Completion_BASIC"}


@pytest.mark.parametrize(
    ("options", "count"),
    [(("--for", "night,pull-request", *BUILD), 10), (("--for", "night", *BUILD), 9), (("--for", "night,logs"), 11)],
    ids=["pull request", "upstream engine", "rankers"],
)
def test_a_story_takes_fewer_than_fifteen_lines(options: tuple[str, ...], count: int, tmp_path: Path) -> None:
    engine = () if BUILD[0] in options else ("--engine", "jedi")
    assert len(written(tmp_path, *options, *engine)) == count


def test_settings_that_are_there_are_not_written_over(tmp_path: Path) -> None:
    lines = written(tmp_path, "--engine", "jedi")
    (tmp_path / LIBRARY).write_text("another\n")
    code, _, err = command("init", "--ci", "teamcity", "--output", tmp_path, "--for", "logs")
    assert code == 2
    assert f"{SETTINGS} and {tmp_path / LIBRARY} would be overwritten: move them away" in " ".join(err.split())
    assert (tmp_path / SETTINGS).read_text().splitlines() == lines
    assert (tmp_path / LIBRARY).read_text() == "another\n"


@pytest.mark.parametrize(
    ("engine", "reuse"),
    [
        (("--engine", "jedi"), False),
        (("--engine-command", "server"), True),
        (("--endpoint", "https://m/v1", "--model", "m"), True),
    ],
)
def test_what_cannot_be_taken_over_is_always_asked(engine: tuple[str, ...], reuse: bool, tmp_path: Path) -> None:
    assert ("reuse = false" in "\n".join(written(tmp_path, *engine))) == reuse


@pytest.mark.parametrize(
    ("output", "typed", "unpacked"),
    [
        ("build", "build/server --stdio", "server --stdio"),
        ("out/bin/", "./out/bin/x/server", "x/server"),
        ("build/server", "build/server -v", "server -v"),
    ],
)
def test_a_command_is_that_of_the_unpacked_archive(output: str, typed: str, unpacked: str, tmp_path: Path) -> None:
    lines = written(tmp_path, "--build", "make", "--build-output", output, "--engine-command", typed)
    assert f'command = "{unpacked}"' in "\n".join(lines)


def test_a_text_has_only_escapes_of_kotlin() -> None:
    assert _text('\f \\f "é" $x 9%\n') == r'"\u000c \\f \"é\" \$x 9%\n"'


@pytest.mark.registry
def test_a_wheel_has_the_library(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), "."]
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("ci_eval/jobs/workflows/CiEval.kt") == SOURCE.read_bytes()
