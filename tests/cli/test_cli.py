"""What the command line says, and the code it ends with."""

from __future__ import annotations

import hashlib
import io
import os
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from ci_eval.cli import again
from tests.ci.parsers import github_commands, service_messages
from tests.cli.conftest import Run
from tests.command import command
from tests.loopback import sends, serve
from tests.projects import GREETER, write
from tests.waiting import HANGS


def test_broken_yaml_exits_with_2_and_names_the_place(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("language: [python\n")
    code, _, err = run("evaluate", tmp_path / "c.yaml")
    assert code == 2
    assert "line 2" in err


def test_an_unknown_key_exits_with_2_and_guesses(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("interpret:\n  sessionProbabilty: 0.5\n")
    code, _, err = run("evaluate", tmp_path / "c.yaml")
    assert code == 2
    assert "sessionProbability" in err


def test_a_damaged_workspace_is_an_error_and_no_traceback(run: Run, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"format": 99}')
    code, _, err = run("report", tmp_path)
    assert code == 2
    assert "newer than format 2" in " ".join(err.split())


@pytest.mark.registry
def test_another_wheel_than_the_pinned_one_exits_with_4(run: Run) -> None:
    code, _, err = run("evaluate", "--project", f"pypi:six==1.16.0#sha256={'0' * 64}")
    assert code == 4
    assert "0" * 64 in err


@pytest.mark.parametrize("member", ["../escaped.py", "/absolute.py"])
def test_a_hostile_archive_exits_with_4(run: Run, member: str) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo(member))
    digest = hashlib.sha256(packed.getvalue()).hexdigest()
    with serve(sends(packed.getvalue())) as server:
        code, _, err = run("evaluate", "--project", f"{server.url('/a.tar.gz')}#sha256={digest}")
    assert code == 4
    assert member in err


@pytest.mark.slow
def test_a_truncated_download_exits_with_4(run: Run) -> None:
    with serve(sends(b"half", length=8)) as server:
        code, _, err = run("evaluate", "--project", f"{server.url()}#sha256={'0' * 64}")
    assert code == 4
    assert "4 attempts" in err


@pytest.mark.parametrize(
    ("variable", "value", "code", "said"),
    [
        ("CI_EVAL_CI", "foo", 2, "'foo' is not one of 'auto', 'github', 'teamcity', 'none'"),
        ("CI_EVAL_CACHE", "{file}/cache", 4, "set CI_EVAL_CACHE"),
    ],
)
def test_a_variable_that_cannot_be_followed_is_named(
    variable: str, value: str, code: int, said: str,
    run: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(variable, value.format(file=tmp_path / "file"))
    ended, _, err = run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    assert (ended, said in " ".join(err.split())) == (code, True), err


@pytest.mark.parametrize(
    ("arguments", "code", "identity"),
    [
        (["evaluate", "--nights"], 2, "ci_eval_NoSuchOption"),
        (["evaluate", "--resume"], 2, "ci_eval_UsageError"),
        (["evaluate", "--engine", "jedy"], 2, "ci_eval_ConfigError"),
        (["evaluate", "--project", "path:{empty}", "--output", "{empty}/o"], 3, "ci_eval_NothingToEvaluate"),
        (["report", "{empty}"], 2, "ci_eval_WorkspaceError"),
    ],
    ids=str,
)
def test_an_error_that_ends_a_build_of_teamcity_is_a_problem_of_it(
    arguments: list[str], code: int, identity: str, run: Run, tmp_path: Path
) -> None:
    ended, out, _ = run("--ci", "teamcity", *(each.format(empty=tmp_path) for each in arguments))
    found = [values for name, values in service_messages(out) if name == "buildProblem"]
    assert (ended, [each["identity"] for each in found]) == (code, [identity])
    assert found[0]["description"]


@pytest.mark.parametrize(
    "limits",
    [
        "ulimit -n 12",
        pytest.param(
            "export OPENBLAS_NUM_THREADS=1; ulimit -s 8000000; ulimit -v 6000000", id="no thread's stack has room"
        ),
    ],
)
def test_a_machine_without_room_for_a_process_is_no_bug_of_ours(limits: str, project: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ci_eval", "evaluate", "--project", f"path:{project}", "--engine", "words"]
    limited = ["sh", "-c", f'{limits}; exec "$@"', "sh", *command, "--output", str(tmp_path / "o")]
    ended = subprocess.run(limited, capture_output=True, text=True, timeout=HANGS, check=False)
    assert (ended.returncode, "raise its limits" in " ".join(ended.stderr.split())) == (4, True), ended.stderr


@pytest.mark.slow
def test_too_many_failures_are_one_problem_beside_the_figures(run: Run, project: Path, tmp_path: Path) -> None:
    limits = ["--set", "interpret.timeout=0.0001", "--set", "interpret.memoryLimit=0", "--sessions", "1"]
    ended, out, _ = run(
        "--ci", "teamcity", "evaluate", "--project", f"path:{project}", *limits, "--output", tmp_path / "o"
    )
    told = list(service_messages(out))
    assert (ended, "buildStatus" in dict(told)) == (5, True)
    assert [each["identity"] for name, each in told if name == "buildProblem"] == ["ci_eval_TooManyFailures"]


def test_a_bug_is_a_problem_under_the_name_of_what_was_raised(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci_eval.cli.cli.main", lambda **_: 1 / 0)
    monkeypatch.setenv("CI_EVAL_CI", "teamcity")
    ended, out, _ = run(bug=True)
    (found,) = [values for name, values in service_messages(out) if name == "buildProblem"]
    assert (ended, found["identity"]) == (70, "ci_eval_ZeroDivisionError")


@pytest.mark.parametrize("arguments", [["list", "engines"], ["--help"]], ids=str)
def test_output_that_nobody_reads_is_no_broken_gate(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "ci_eval", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, b"")


def test_ctrl_c_prints_the_whole_command_that_goes_on(
    run: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    common = ["evaluate", "--project", f"path:{project}", "--engine", "words"]
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("ci_eval.jobs.pipeline.make_reports", interrupted)
        code, _, err = run(*common)
    command = err.splitlines()[-1].strip().removeprefix("ci-eval ")
    assert code == 130
    assert command.startswith(shlex.join([*common, "--resume", "--output"])), err
    assert run(*shlex.split(command))[0] == 0


def test_ctrl_c_while_modules_are_imported_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "rich.py").write_text("raise KeyboardInterrupt")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-m", "ci_eval", "evaluate"], env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (
        130,
        "error: interrupted; the command cannot be resumed: start it again\n",
    )


def test_what_is_said_after_ctrl_c_fits_the_command() -> None:
    assert again(["interpret", "a b", "--output", "c"], Path("c")) == "ci-eval interpret c"
    assert again(["evaluate", "--output=o", "--resume"], Path("o")) == "ci-eval evaluate --output=o --resume"
    assert again(["compare", "a", "b"], Path("o")) is None


def test_what_was_typed_wrongly_is_no_command_to_the_ci(run: Run) -> None:
    said = ["evaluate", "a.yaml", "\n::set-env name=x::y\n", "\n##teamcity[evil 'x']\n"]
    _, out, err = run("--ci", "teamcity", *said)
    assert [name for name, _ in service_messages(out + err)] == ["buildProblem"]
    _, out, err = run("--ci", "github", *said)
    assert [name for name, *_ in github_commands(out + err)] == ["error"]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_encoding_that_lacks_characters_costs_no_run(encoding: str, tmp_path: Path) -> None:
    write(tmp_path / "p", a__py=GREETER, ünder__py="x = 1\nprint(x)\n")
    argv = ["evaluate", "--project", f"path:{tmp_path / 'p'}", "--engine", "words", "--output", str(tmp_path / "w")]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "ci_eval", *argv, "--gate", "RecallAt1 >= 99%", "--jobs", "1"]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    assert b"RED" in done.stdout


def test_an_argument_that_is_not_utf_8_is_refused_and_shown(tmp_path: Path) -> None:
    folder = os.fsdecode(b"alt_m\xfcll")
    code, _, err = command("evaluate", "--project", f"path:{folder}", "--engine", "words", "--output", tmp_path / "out")
    assert (code, "alt_m\\xfcll has bytes that are not UTF-8" in " ".join(err.split())) == (2, True)
    assert not (tmp_path / "out").exists()


def test_a_folder_in_place_of_a_configuration_names_the_option(tmp_path: Path) -> None:
    code, _, err = command("evaluate", tmp_path, "--engine", "words")
    assert (code, f"didyoumean--projectpath:{tmp_path}?" in "".join(err.split())) == (2, True)
