"""What the command line says, and the code it ends with."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ci_eval.cli import DEMO, main
from ci_eval.config import load
from ci_eval.model import SessionScore
from ci_eval.workspace import Workspace
from tests.ci.test_screen import github_commands, service_messages
from tests.loopback import sends, serve
from tests.projects import GREETER, write

Run = Callable[..., tuple[object, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(*arguments: object) -> tuple[object, str, str]:
        monkeypatch.setattr("sys.argv", ["ci-eval", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    return run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "p", a__py=GREETER)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--engine", "jedy"], "did you mean 'jedi'?"),
        (["--engine", "words@9"], "has no version '9'"),
        (["--language", "cobol"], "unknown language 'cobol'"),
        (["--completion-type", "alphabetic"], "did you mean 'ALPHABETICAL'?"),
        (["--set", "interpret.timeot=3"], "did you mean timeout?"),
        (["--set", "interpret.timeout=soon"], "interpret.timeout"),
        (["--project", "pipy:six==1.16.0"], "pypi"),
        (["--project", "path:/no/such/folder"], "no folder"),
        (["--project", "git:ext::sh -c id@main"], "git"),
        (["--project", "git:--upload-pack=id@main"], "git"),
        (["--set", "reports.defaultMetrics=[Recal]"], "unknown metric 'Recal'"),
        (["--resume"], "--output"),
        (["no-such-file.yaml"], "no-such-file.yaml"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_bad_choice_exits_with_2_and_says_what_to_do(
    run: Run, project: Path, arguments: list[str], said: str
) -> None:
    given = arguments if "--project" in arguments else ["--project", f"path:{project}", *arguments]
    code, _, err = run("evaluate", *given)
    assert code == 2
    assert said in " ".join(err.split())


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


def test_an_empty_project_exits_with_3(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "p", readme__txt="")
    code, _, err = run("evaluate", "--project", f"path:{tmp_path / 'p'}", "--output", tmp_path / "o")
    assert code == 3
    assert "no Python files" in err


def test_a_project_of_unreadable_files_exits_with_3_and_says_why(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "p", a__py=b"\xff\xfe")
    code, _, err = run("evaluate", "--project", f"path:{tmp_path / 'p'}", "--output", tmp_path / "o")
    assert code == 3
    assert "not UTF-8" in err
    assert Workspace.open(tmp_path / "o").errors()


def test_a_folder_that_is_not_empty_is_never_written_over(run: Run, project: Path, tmp_path: Path) -> None:
    write(tmp_path / "o", precious__txt="")
    code, _, err = run("evaluate", "--project", f"path:{project}", "--output", tmp_path / "o")
    assert code == 2
    assert "--resume" in err


@pytest.mark.slow
def test_too_many_failures_exit_with_5_after_the_reports(run: Run, project: Path, tmp_path: Path) -> None:
    limits = ["--set", "interpret.timeout=0.0001", "--set", "interpret.memoryLimit=0"]
    code, _, err = run("evaluate", "--project", f"path:{project}", "--output", tmp_path / "o", *limits)
    assert code == 5
    assert "allowedFailures" in err
    assert (tmp_path / "o" / "reports" / "html" / "index.html").exists()


def test_resuming_with_another_configuration_is_refused(run: Run, project: Path, tmp_path: Path) -> None:
    common = ["evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o"]
    assert run(*common)[0] == 0
    code, _, err = run(*common, "--resume", "--set", "interpret.seed=1")
    assert code == 2
    assert "another configuration" in err


def test_show_describes_a_session_and_asks_again(run: Run, project: Path, tmp_path: Path) -> None:
    run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    found, sessions = next(Workspace.open(tmp_path / "o").sessions(SessionScore))
    identity = next(sessions).id
    code, out, _ = run("show", tmp_path / "o", identity[:8], "--replay")
    assert code == 0
    assert f"place     {found.path}:3:1" in out
    assert "now       ok" in out


def test_show_of_an_unknown_session_exits_with_2(run: Run, project: Path, tmp_path: Path) -> None:
    run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    code, _, err = run("show", tmp_path / "o", "zzz")
    assert code == 2
    assert "0 sessions" in err


@pytest.mark.parametrize(
    ("what", "name"),
    [("languages", "python"), ("engines", "jedi"), ("completion-types", "ALPHABETICAL"), ("metrics", "RecallAt1")],
)
def test_list_prints_a_table_or_json(run: Run, what: str, name: str) -> None:
    assert name in run("list", what)[1]
    assert name in [row["name"] for row in json.loads(run("list", what, "--format", "json")[1])]


def test_doctor_finds_what_every_evaluation_needs(run: Run) -> None:
    code, out, err = run("doctor")
    assert code == 0, err
    assert "suggestions after `os.`" in out


def test_a_damaged_workspace_is_an_error_and_no_traceback(run: Run, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"format": 99}')
    code, _, err = run("report", tmp_path)
    assert code == 2
    assert "newer than 1" in err


def test_a_plugin_configuration_loads_with_its_warnings(run: Run, project: Path, tmp_path: Path) -> None:
    plugin = Path(__file__).parent / "config" / "jetbrains" / "2021-full.json"
    choices = ["--language", "python", "--completion-type", "BASIC", "--set", "actions.evaluationRoots=[]"]
    where = ["--project", f"path:{project}", "--output", tmp_path / "o"]
    code, _, err = run("actions", plugin, *choices, *where)
    assert code == 0, err
    assert "warning: " in err


def test_the_demo_is_pinned_and_checksummed() -> None:
    assert "#sha256=" in load(DEMO).config.project.spec


def test_help_teaches_by_example(run: Run) -> None:
    code, out, _ = run("evaluate", "--help")
    assert code == 0
    assert "ci-eval evaluate --project pypi:flask==3.0.3" in out


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


def test_a_report_is_not_made_of_what_changed_since(run: Run, project: Path, tmp_path: Path) -> None:
    run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    next((tmp_path / "o" / "sessions").iterdir()).unlink()
    code, _, err = run("report", tmp_path / "o")
    assert (code, "sessions changed since" in " ".join(err.split())) == (2, True)


def test_the_cache_is_read_where_that_is_asked_for(
    run: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "cache"))
    asked = ["evaluate", "--project", f"path:{project}", "--engine", "words", "--set", "interpret.sessionsLimit=1"]
    assert run(*asked, "--output", tmp_path / "a")[0] == 0
    (damaged,) = (tmp_path / "cache").glob("environments/*/pyvenv.cfg")
    was = damaged.stat()
    damaged.write_text(damaged.read_text().upper())
    os.utime(damaged, ns=(was.st_atime_ns, was.st_mtime_ns))
    for option, told in (("--jobs=1", False), ("--verify-cache", True)):
        code, _, err = run(*asked, option, "--output", tmp_path / option)
        assert (code, "pyvenv.cfg has other contents" in " ".join(err.split())) == (0, told)


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


def test_a_broken_gate_is_one_problem_of_the_build_and_not_two(run: Run, project: Path, tmp_path: Path) -> None:
    run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "a")
    gate = ["--gate", "RecallAt1 >= 99%", "--output", tmp_path / "c"]
    ended, out, _ = run("--ci", "teamcity", "compare", tmp_path / "a", tmp_path / "a", *gate)
    told = [values["identity"] for name, values in service_messages(out) if name == "buildProblem"]
    assert (ended, len(told), told[0][:5]) == (1, 1, "gate_")


@pytest.mark.slow
def test_too_many_failures_are_one_problem_beside_the_figures(run: Run, project: Path, tmp_path: Path) -> None:
    limits = ["--set", "interpret.timeout=0.0001", "--set", "interpret.memoryLimit=0"]
    ended, out, _ = run(
        "--ci", "teamcity", "evaluate", "--project", f"path:{project}", *limits, "--output", tmp_path / "o"
    )
    told = list(service_messages(out))
    assert (ended, "buildStatus" in dict(told)) == (5, True)
    assert [each["identity"] for name, each in told if name == "buildProblem"] == ["ci_eval_TooManyFailures"]


def test_a_bug_is_a_problem_under_the_name_of_what_was_raised(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci_eval.cli.cli.main", lambda **_: 1 / 0)
    monkeypatch.setenv("CI_EVAL_CI", "teamcity")
    ended, out, _ = run()
    (found,) = [values for name, values in service_messages(out) if name == "buildProblem"]
    assert (ended, found["identity"]) == (70, "ci_eval_ZeroDivisionError")


def test_what_was_typed_wrongly_is_no_command_to_the_ci(run: Run) -> None:
    said = ["evaluate", "a.yaml", "\n::set-env name=x::y\n", "\n##teamcity[evil 'x']\n"]
    _, out, err = run("--ci", "teamcity", *said)
    assert [name for name, _ in service_messages(out + err)] == ["buildProblem"]
    _, out, err = run("--ci", "github", *said)
    assert [name for name, *_ in github_commands(out + err)] == ["error"]
