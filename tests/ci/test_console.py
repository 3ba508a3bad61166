"""What a CI is told, read by strict parsers; and that nothing a target project says can tell it anything."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.ci import Announcement, Screen, detect_host
from ci_eval.ci.host import GitHub, Guarded, TeamCity
from tests.ci.parsers import ANY_TEXT, FOUND, github_commands, service_messages


@given(st.lists(ANY_TEXT, max_size=5))
@settings(max_examples=300)
def test_no_text_becomes_a_command_however_it_is_cut_into_pieces(pieces: list[str]) -> None:
    for host in (GitHub(io.StringIO()), TeamCity(io.StringIO())):
        stream = io.StringIO()
        guarded = Guarded(stream, host.harmless)
        for piece in pieces:
            guarded.write(piece)
        guarded.close()
        read = github_commands if host.name == "github" else service_messages
        assert list(read(stream.getvalue())) == []


@pytest.mark.parametrize("host", ["github", "teamcity"])
@given(text=ANY_TEXT)
@settings(max_examples=50)
def test_whatever_is_shown_only_our_own_commands_come_out(host: str, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        out = io.StringIO()
        patch.setattr("sys.stdout", out)
        patch.setattr("sys.stderr", out)
        screen = Screen(detect_host({"CI_EVAL_CI": host}))
        screen.say(text)
        screen.result(text)
        screen.warn(text)
        screen.table(["a", text], [(text, text)])
        with screen.steps(text, "files"):
            pass
    if host == "github":
        commands = [name for name, *_ in github_commands(out.getvalue())]
        assert commands == ["warning", "group", "endgroup"]
    else:
        names = [name for name, _ in service_messages(out.getvalue())]
        assert names == ["message", "blockOpened", "blockClosed"]


def test_without_a_ci_nothing_is_changed(capsys: pytest.CaptureFixture[str]) -> None:
    Screen(detect_host({})).result("::error::x ##teamcity[x]")
    assert capsys.readouterr().out == "::error::x ##teamcity[x]\n"


def test_what_is_no_terminal_gets_each_row_of_a_table_whole_on_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    cells = ["kotlin-ide-services", "a-version-" * 9, "word " * 40]
    Screen(detect_host({})).table(["name", "version", "summary"], [cells])
    _, row = capsys.readouterr().out.splitlines()
    assert row.split("   ") == [cell.strip() for cell in cells]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(width: int, monkeypatch: pytest.MonkeyPatch, styles: dict[str, str]) -> str:
    """A table of verdicts on a terminal of that width."""
    for name, value in {"COLUMNS": str(width), "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", Terminal())
    screen = Screen(detect_host({}))
    row = ["LatencyPercentile95", "1,234.5 ms", "better", "nine words that a terminal may well set in lines"]
    screen.table(["metric", "base", "verdict", ""], [row], styles=styles)
    stream = sys.stdout
    assert isinstance(stream, Terminal)
    return stream.getvalue()


@pytest.mark.parametrize("width", [20, 40, 60, 120])
def test_no_terminal_is_too_narrow_for_a_cell(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown(width, monkeypatch, {}))
    assert {"LatencyPercentile95", "1,234.5", "better", "terminal"} <= set(text.split())
    assert max(map(len, text.splitlines())) <= width


def test_a_verdict_has_its_colour_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[32mbetter" in shown(120, monkeypatch, {"better": "green"})
    assert "\x1b[32m" not in shown(120, monkeypatch, {})


def test_teamcity_gets_statistics_tests_problems_and_a_status() -> None:
    out = io.StringIO()
    TeamCity(out).announce(FOUND)
    messages = list(service_messages(out.getvalue()))
    by_name = dict(messages)
    assert by_name["buildStatisticValue"] == {"key": "ci_eval.RecallAt1", "value": "0.331000"}
    assert by_name["testFailed"] == {"name": "RecallAt1 >= -1pp", "message": FOUND.checks[0].reason}
    assert by_name["buildProblem"]["identity"] == "gate_RecallAt1_1pp_10477b67"
    assert len(by_name["buildProblem"]["description"]) == 4000
    assert by_name["publishArtifacts"] == {"": f"{Path.cwd() / 'out'} => out.zip"}
    assert by_name["buildStatus"]["text"].startswith("{build.status.text}; RecallAt1")
    order = [name for name, _ in messages if name.startswith("test")]
    assert order == [
        "testSuiteStarted",
        "testStarted",
        "testMetadata",
        "testFailed",
        "testFinished",
        "testSuiteFinished",
    ]


@pytest.mark.parametrize("folder", ["a,b", "a => b", "a*", "what?", "%a%", "a\nb"])
def test_a_folder_that_no_rule_of_artifacts_can_name_is_left_with_a_warning(folder: str) -> None:
    out = io.StringIO()
    TeamCity(out).announce(Announcement(status="", artifacts=[Path(folder)]))
    (name, values), _ = service_messages(out.getvalue())
    assert (name, values["status"]) == ("message", "WARNING")


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({}, "none"),
        ({"CI": "true"}, "none"),
        ({"GITHUB_ACTIONS": "", "TEAMCITY_VERSION": ""}, "none"),
        ({"GITHUB_ACTIONS": "false"}, "none"),
        ({"GITHUB_ACTIONS": "true"}, "github"),
        ({"TEAMCITY_VERSION": "2025.11", "GITHUB_ACTIONS": "true"}, "teamcity"),
        ({"GITHUB_ACTIONS": "true", "CI_EVAL_CI": "none"}, "none"),
        ({"CI_EVAL_CI": "teamcity"}, "teamcity"),
    ],
    ids=str,
)
def test_the_ci_is_the_one_whose_variables_are_set(environment: dict[str, str], name: str) -> None:
    assert detect_host(environment).name == name


def columns_at(
    width: int, monkeypatch: pytest.MonkeyPatch, *, output: str = "", tables: int = 1, stream: io.StringIO
) -> str:
    """Return the first line of a table with two columns to spare on a terminal of that width."""
    monkeypatch.setenv("CI_EVAL_OUTPUT", output)
    for name, value in {"COLUMNS": str(width), "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", stream)
    row = ["RecallAt1", "43.0%", "33.7%", "(-15.00 pp to -3.55 pp)", "p < 0.001", "? no difference shown"]
    columns = ["metric", "base", "new", "95 % interval", "p", "verdict"]
    screen = Screen(detect_host({}))
    for _ in range(tables):
        screen.table(columns, [row], numbers=3, spare=("p", "95 % interval"))
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).splitlines()[0]


@pytest.mark.parametrize(
    ("width", "absent"), [(120, set()), (80, {"p"}), (60, {"p", "95 % interval"})], ids=["120", "80", "60"]
)
def test_a_narrow_terminal_leaves_out_the_columns_that_matter_least(
    width: int, absent: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"metric", "base", "new", "95 % interval", "p", "verdict"}
    header = columns_at(width, monkeypatch, tables=2, stream=Terminal())
    assert set(re.split(r"\s{3,}", header.strip())) == names - absent
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("Left out") == bool(absent)
    assert all(name in said for name in absent)


def test_with_v_every_column_is_there_in_parts_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    columns_at(60, monkeypatch, output="verbose", stream=terminal)
    assert "95 % interval" in terminal.getvalue()
    lines = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).splitlines()
    assert max(map(len, lines)) <= 60
    # The first column is repeated, so that a part can be read alone.
    assert sum("RecallAt1" in line for line in lines) == 2


def test_a_log_heeds_the_variable_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "95 % interval" not in columns_at(60, monkeypatch, stream=io.StringIO())


def test_a_line_is_wrapped_between_words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    stream = io.StringIO()
    monkeypatch.setattr("sys.stdout", stream)
    path = "a/path/that/is/longer/than/a/line/of/the/terminal.py"
    Screen(detect_host({})).result(f"Twelve words of which none is broken, and one of them is {path} here.")
    assert path in stream.getvalue().splitlines()


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_a_width_of_0_is_not_known(stream: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    monkeypatch.setattr("sys.stdout", out := stream())
    Screen(detect_host({})).result("Words in a line.")
    assert "Words in a line." in out.getvalue()
