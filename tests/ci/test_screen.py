"""What a CI is told, read by strict parsers; and that nothing a target project says can tell it anything."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.ci import Announcement, Check, Problem, Screen, host_named
from ci_eval.ci.github import MOST_SUMMARY, GitHub, data, shortened, value
from ci_eval.ci.host import Guarded
from ci_eval.ci.teamcity import TeamCity, escaped, message

PIECES = (
    *":#|'[]%\r\n\t ,=\\{}",
    "::error::", "##teamcity[", "##[command]", "::set-env name=x::", "é", "\U0001f600", "\u2028",
)  # fmt: skip
HOSTILE = st.lists(st.one_of(st.sampled_from(PIECES), st.characters(exclude_categories=["Cs"])), max_size=30).map(
    "".join
)


# ------------------------------------------------------------------------------------------------------------- parsers


def github_commands(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """As the runner reads them: at the beginning of a line, after blanks; and the older form anywhere."""
    for line in re.split(r"\r\n|\r|\n", text):
        if found := re.fullmatch(r"\s*::(?P<name>[^\s:]+)(?: (?P<properties>.*?))?::(?P<data>.*)", line, re.DOTALL):
            pairs = [pair.partition("=") for pair in (found["properties"] or "").split(",") if pair]
            yield found["name"], {key: undone(text) for key, _, text in pairs}, undone(found["data"])
        elif line.lstrip().startswith("::") or "##[" in line:
            yield "something", {}, line


def undone(text: str) -> str:
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, character)
    return text


NAMED = re.compile(r"([A-Za-z]\w*)='((?:[^|'\[\]\n\r]|\|[|'nr\[\]]|\|0x[0-9a-f]{4})*)'")


def service_messages(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Strict: one message a line, nothing before or behind it, every value escaped."""
    for line in re.split(r"\r\n|\r|\n", text):
        if "##teamcity[" not in line:
            continue
        found = re.fullmatch(r"##teamcity\[(\w+) (.*)\]", line)
        assert found, line
        name, rest = found.groups()
        if rest.startswith("'"):
            yield name, {"": decoded(rest[1:-1])}
            continue
        values = NAMED.findall(rest)
        assert " ".join(f"{key}='{text}'" for key, text in values) == rest
        yield name, {key: decoded(text) for key, text in values}


def decoded(text: str) -> str:
    assert re.fullmatch(r"(?:[^|'\[\]\n\r]|\|[|'nr\[\]]|\|0x[0-9a-f]{4})*", text), text
    plain = {"n": "\n", "r": "\r", "|": "|", "'": "'", "[": "[", "]": "]"}
    units = re.sub(
        r"\|(?:0x([0-9a-f]{4})|(.))",
        lambda code: chr(int(code[1], 16)) if code[1] else plain[code[2]],
        text,
    )
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


# -------------------------------------------------------------------------------------------------------------- escapes


@given(HOSTILE)
def test_a_service_message_comes_back_as_it_was(text: str) -> None:
    said = message("message", text=text, status=text)
    assert list(service_messages(said)) == [("message", {"text": text, "status": text})]
    assert list(service_messages(message("progressMessage", text))) == [("progressMessage", {"": text})]
    assert said.isascii()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("|", "||"),
        ("'", "|'"),
        ("\n", "|n"),
        ("\r", "|r"),
        ("[x]", "|[x|]"),
        ("é", "|0x00e9"),
        ("😀", "|0xd83d|0xde00"),
    ],
)
def test_the_escapes_are_teamcitys(text: str, code: str) -> None:
    assert escaped(text) == code


@given(HOSTILE, HOSTILE)
def test_a_workflow_command_comes_back_as_it_was(title: str, text: str) -> None:
    said = f"::error title={value(title)}::{data(text)}"
    ((name, properties, found),) = github_commands(said)
    assert (name, found) == ("error", text)
    assert properties.get("title", "") == title


# ---------------------------------------------------------------------------------------------------------- injections


@given(st.lists(HOSTILE, max_size=5))
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
@given(text=HOSTILE)
@settings(max_examples=50)
def test_whatever_is_shown_only_our_own_commands_come_out(host: str, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        out = io.StringIO()
        patch.setattr("sys.stdout", out)
        patch.setattr("sys.stderr", out)
        screen = Screen(host_named({"CI_EVAL_CI": host}))
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
    Screen(host_named({})).result("::error::x ##teamcity[x]")
    assert capsys.readouterr().out == "::error::x ##teamcity[x]\n"


# -------------------------------------------------------------------------------------------------------- announcements

FOUND = Announcement(
    status="RecallAt1 33.1% {odd}",
    summary="# Report\n",
    outputs={"workspace": "a\nb", "verdict": "worse"},
    statistics={"RecallAt1": 0.331},
    checks=[Check(name="RecallAt1 >= -1pp", passed=False, reason="lost 'two' points")],
    problems=[Problem(identity="gate_RecallAt1_1pp", text="x" * 5000)],
    artifacts=[Path("out")],
)


def test_github_gets_outputs_a_summary_and_an_annotation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    out = io.StringIO()
    GitHub(out).announce(FOUND)
    assert [name for name, *_ in github_commands(out.getvalue())] == ["error"]
    assert (tmp_path / "summary").read_text() == "# Report\n"
    text = (tmp_path / "output").read_text()
    values = re.findall(r"(\w+)<<(ci-eval-[-0-9a-f]+)\n(.*?)\n\2\n", text, re.DOTALL)
    assert {name: found for name, _, found in values} == {"workspace": "a\nb", "verdict": "worse"}


def test_teamcity_gets_statistics_tests_problems_and_a_status() -> None:
    out = io.StringIO()
    TeamCity(out).announce(FOUND)
    messages = list(service_messages(out.getvalue()))
    by_name = dict(messages)
    assert by_name["buildStatisticValue"] == {"key": "ci_eval.RecallAt1", "value": "0.331000"}
    assert by_name["testFailed"] == {"name": "RecallAt1 >= -1pp", "message": "lost 'two' points"}
    assert by_name["buildProblem"]["identity"] == "gate_RecallAt1_1pp"
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


@pytest.mark.parametrize("identity", ["x" * 100, "no Java: name", "ci_eval_é"])
def test_a_problem_has_an_identity_that_teamcity_takes(identity: str) -> None:
    out = io.StringIO()
    TeamCity(out).fail(Problem(identity=identity, text="why"))
    ((name, values),) = service_messages(out.getvalue())
    assert (name, values["description"]) == ("buildProblem", "why")
    assert re.fullmatch("[A-Za-z_][A-Za-z0-9_]{0,59}", values["identity"])


@pytest.mark.parametrize("folder", ["a,b", "a => b", "a*", "what?", "%a%", "a\nb"])
def test_a_folder_that_no_rule_of_artifacts_can_name_is_left_with_a_warning(folder: str) -> None:
    out = io.StringIO()
    TeamCity(out).announce(Announcement(status="", artifacts=[Path(folder)]))
    (name, values), _ = service_messages(out.getvalue())
    assert (name, values["status"]) == ("message", "WARNING")


@pytest.mark.parametrize(("number", "kept"), [(0.0, 1), (-9e12, 1), (1e13, 0), (float("nan"), 0), (float("inf"), 0)])
def test_only_a_number_that_teamcity_can_keep_is_a_statistic(number: float, kept: int) -> None:
    out = io.StringIO()
    TeamCity(out).announce(Announcement(status="", statistics={"RecallAt1": number}))
    assert [name for name, _ in service_messages(out.getvalue())].count("buildStatisticValue") == kept


def test_a_summary_keeps_below_githubs_limit_and_loses_its_end() -> None:
    text = "".join(f"line {number} é\n" for number in range(200_000))
    short = shortened(text, MOST_SUMMARY)
    assert len(short.encode()) <= MOST_SUMMARY
    assert short.startswith("line 0 é\n")
    assert short.endswith("The rest is in the report.\n")
    assert shortened("# x\n", MOST_SUMMARY) == "# x\n"


def test_at_most_ten_warnings_are_annotations_and_the_last_one_says_so() -> None:
    out = io.StringIO()
    host = GitHub(out)
    for number in range(30):
        host.annotate("warning", str(number))
    said = [text for _, _, text in github_commands(out.getvalue())]
    assert len(said) == 10
    assert "there are more" in said[-1]


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({}, "none"),
        ({"CI": "true"}, "none"),
        ({"GITHUB_ACTIONS": "true"}, "github"),
        ({"TEAMCITY_VERSION": "2025.11", "GITHUB_ACTIONS": "true"}, "teamcity"),
        ({"GITHUB_ACTIONS": "true", "CI_EVAL_CI": "none"}, "none"),
        ({"CI_EVAL_CI": "teamcity"}, "teamcity"),
    ],
    ids=str,
)
def test_the_ci_is_the_one_whose_variables_are_set(environment: dict[str, str], name: str) -> None:
    assert host_named(environment).name == name
