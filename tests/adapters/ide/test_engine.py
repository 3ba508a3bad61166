"""Which IDE is meant, and what is wrong with it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ci_eval.core.base.errors import CiEvalError, ConfigError, EngineTimeout
from ci_eval.plugins.adapters.ide.engine import IdeOptions, Progress, WatchedProcess, find, parse_progress
from tests.adapters.ide.stand_in import BUILD, make


def test_an_ide_says_what_it_is(tmp_path: Path) -> None:
    folder = make(tmp_path / "ide")
    found = find(IdeOptions(ide=str(folder)), tmp_path / "cache")
    assert (found.build, found.launcher, found.variables) == (BUILD, folder / "bin/idea.sh", "IDEA")
    assert found.plugin is None


def test_what_is_no_ide_is_refused(tmp_path: Path) -> None:
    def refused(said: str, ide: str = "", plugin: str = "") -> None:
        with pytest.raises(CiEvalError, match=said):
            find(IdeOptions(ide=ide, plugin=plugin), tmp_path / "cache")

    refused("needs an IDE")
    refused("neither a folder nor an archive", ide=str(tmp_path / "none"))
    refused("has no product-info.json", ide=str(tmp_path))
    refused("add its SHA-256 as `engine.options.sha256`", ide="https://example.org/ide.tar.gz")
    folder = make(tmp_path / "ide")
    refused("add its SHA-256 as `engine.options.pluginSha256`", ide=str(folder), plugin="https://example.org/p.zip")
    (folder / "bin/idea.sh").unlink()
    refused("has no launcher for Linux", ide=str(folder))
    (folder / "product-info.json").write_text("{")
    refused("is damaged", ide=str(folder))


def test_options_are_checked() -> None:
    assert IdeOptions.read({"ide": "/x", "idle": 5}).idle == 5
    for wrong, said in (
        ({"ide": 1}, "Expected `str`"),
        ({"x": 1}, "known are ide"),
        ({"idle": 0}, "number of seconds"),
    ):
        with pytest.raises(ConfigError, match=said):
            IdeOptions.read(wrong)
    with pytest.raises(ConfigError, match="64"):
        IdeOptions.read({"sha256": "abc"})


@pytest.mark.parametrize(
    ("line", "progress"),
    [
        (
            "\rInterpreting actions: 45% [========>           ] File.java (9/20 sessions, 120 act/min)",
            Progress("Interpreting actions", 45, "File.java (9/20 sessions, 120 act/min)"),
        ),
        (
            "\rGenerating actions:100% [===================>]   12 sessions | File.java",
            Progress("Generating actions", 100, "  12 sessions | File.java"),
        ),
        ("Starting step: Interpreting actions (…)", None),
        ("", None),
    ],
)
def test_progress_is_told_from_other_lines(line: str, progress: Progress | None) -> None:
    assert parse_progress(line) == progress


def run(folder: Path, program: str) -> WatchedProcess:
    return WatchedProcess([sys.executable, "-I", "-S", "-c", program], cwd=folder, environment={})


def test_lines_come_as_they_are_written_and_the_code_at_the_end(tmp_path: Path) -> None:
    process = run(tmp_path, "import sys; print('a\\rb\\n\\nc', end=''); sys.exit(3)")
    try:
        assert list(process.lines(30)) == ["a", "b", "c"]
        assert process.ended() == 3
    finally:
        process.close()


def test_silence_ends_it(tmp_path: Path) -> None:
    process = run(tmp_path, "import time; print('begun', flush=True); time.sleep(60)")
    try:
        with pytest.raises(EngineTimeout, match=r"said nothing for 0\.5 seconds and was ended; its last words: begun"):
            list(process.lines(0.5))
    finally:
        process.close()


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("Java SDK not configured for the project: /p", "engine.options.java"),
        ("Evaluation failed: Project could not be loaded: x", "could not load the project"),
        ("java.lang.OutOfMemoryError: Java heap space", "raise interpret.memoryLimit"),
        ("No files for Java found", "actions.evaluationRoots"),
        ("nothing that is known", "exit code 1\nnothing that is known"),
    ],
)
def test_why_it_failed_is_read_from_what_it_said(tmp_path: Path, said: str, advice: str) -> None:
    process = run(tmp_path, f"print({said!r})")
    try:
        list(process.lines(30))
        assert advice in str(process.trouble(1))
    finally:
        process.close()
