"""What a modelled user changes: when a session ends, what leads, and what is expected of the user without a draw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ci_eval.core.model import Session, Status
from ci_eval.core.workspace import Workspace, pack_sessions
from tests.command import command
from tests.projects import GREETER, write

pytestmark = pytest.mark.usefixtures("in_one_process")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {
        f"file{number}__py": GREETER + f"name_{number} = Greeter(name_{number})\n" * (1 + number % 4)
        for number in range(9)
    }
    return write(tmp_path_factory.mktemp("users") / "p", **files)


def evaluated(project: Path, output: Path, *settings: str, engine: str = "words") -> Path:
    given = [part for setting in settings for part in ("--set", setting)]
    common = ("--project", f"path:{project}", "--engine", engine, "--jobs", 1, "--output", output)
    code, _, err = command("evaluate", *common, *given)
    assert code == 0, err
    return output


def sessions_of(folder: Path) -> list[Session]:
    return [each for _, sessions in Workspace.open(folder).sessions(Session) for each in sessions]


def figures(folder: Path, part: str = "ALL") -> dict[str, Any]:
    (found,) = json.loads((folder / "reports" / "metrics.json").read_text())["evaluations"]
    chosen: dict[str, Any] = found["filters"][part]
    return chosen


TYPING = "actions.strategy.prefix={name: SimplePrefix, n: 3, emulateTyping: true}"


def test_emulated_typing_ends_where_the_text_is_in_the_list_and_takes_it(project: Path, tmp_path: Path) -> None:
    found = sessions_of(evaluated(project, tmp_path / "o", TYPING))
    for session in found:
        ranks = [lookup.rank for lookup in session.lookups]
        assert all(rank is None for rank in ranks[:-1])
        assert [lookup.selected for lookup in session.lookups] == [rank is not None for rank in ranks]
    assert {len(session.lookups) for session in found if session.lookups[-1].rank is None} == {4}


def test_who_emulates_typing_is_recorded_as_a_user(project: Path, tmp_path: Path) -> None:
    typed = Workspace.open(evaluated(project, tmp_path / "o", TYPING)).manifest()
    always = Workspace.open(evaluated(project, tmp_path / "a", "interpret.userModel=always")).manifest()
    assert typed.user == always.user != ""


def test_with_a_user_saved_effort_is_the_first_figure_and_decides(project: Path, tmp_path: Path) -> None:
    made = [
        evaluated(project, tmp_path / name, "interpret.userModel=thesis", engine=name) for name in ("oracle", "empty")
    ]
    code, out, err = command("report", made[0], "-v")
    assert code == 0, err
    assert out.index("TypingSaved") < out.index("KeystrokesSaved") < out.index("RecallAt1")
    assert "depends on where the modelled user stops" in " ".join(out.split())
    code, out, err = command("compare", *made, "--output", tmp_path / "out")
    assert code == 0, err
    report = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert report["declared"] == ["TypingSaved", "KeystrokesSaved"]


def test_silence_before_three_characters_saves_less_however_good_the_ranks_look(project: Path, tmp_path: Path) -> None:
    """The user goes on typing until something is shown, and short lists have good ranks."""
    full = figures(evaluated(project, tmp_path / "full", "interpret.userModel=always"))["metrics"]
    late = "interpret.userModel={profile: always, firstPrefix: [0, 0, 0, 1]}"
    silent = figures(evaluated(project, tmp_path / "silent", late))["metrics"]
    assert silent["RecallAt1"]["value"] > 2 * full["RecallAt1"]["value"]
    assert silent["TypingSaved"]["value"] < full["TypingSaved"]["value"] / 2


# ------------------------------------------------------------------------------------------- figures by configuration


def test_more_places_are_figures_and_can_be_gates(project: Path, tmp_path: Path) -> None:
    folder = evaluated(project, tmp_path / "o", "reports.recallAt=[10]", "comparison.gates=['RecallAt10 >= -1pp']")
    found = figures(folder)["metrics"]
    ranks = [session.lookups[-1].rank for session in sessions_of(folder)]
    assert found["RecallAt10"]["value"] == pytest.approx(sum(bool(rank and rank <= 10) for rank in ranks) / len(ranks))
    code, _, err = command("compare", folder, folder, "--output", tmp_path / "out", "--gate", "RecallAt7 >= 1%")
    assert (code, "unknown metric" in err) == (2, True)


def test_beside_the_figure_over_sessions_stands_the_mean_of_the_files(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER, b__py="import os\n" + "print(os)\n" * 30)
    found = figures(evaluated(project, tmp_path / "o"))
    each = [file["metrics"]["RecallAt1"] for file in found["files"].values()]
    assert found["byFile"]["RecallAt1"] == pytest.approx(sum(each) / 2)
    assert found["byFile"]["RecallAt1"] != pytest.approx(found["metrics"]["RecallAt1"]["value"])
    assert "MaxLatency" not in found["byFile"]


@pytest.mark.parametrize(
    ("settings", "leads"),
    [((), ["RecallAt1", "RecallAt5", "Recall"]), (("interpret.userModel=thesis",), ["TypingSaved", "KeystrokesSaved"])],
)
def test_a_gate_on_what_is_declared_follows_the_user(
    project: Path, tmp_path: Path, settings: tuple[str, ...], leads: list[str]
) -> None:
    folder = evaluated(project, tmp_path / "o", *settings)
    command("compare", folder, folder, "--output", tmp_path / "out", "--gate", "declared >= -2pp")
    report = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert [gate["rule"] for gate in report["gates"]] == [f"{name} >= -2pp" for name in leads]


@pytest.mark.parametrize("rule", ["MaxLatency <= +10%", "MaxLatency non-inferior 5ms"])
def test_a_difference_of_one_slowest_lookup_is_no_gate(project: Path, tmp_path: Path, rule: str) -> None:
    folder = evaluated(project, tmp_path / "o", "interpret.sessionsLimit=20")
    code, _, err = command("compare", folder, folder, "--output", tmp_path / "out", "--gate", rule)
    assert (code, "a single lookup decides MaxLatency" in " ".join(err.split())) == (2, True)


def test_the_slowest_lookup_has_no_interval_and_no_verdict(project: Path, tmp_path: Path) -> None:
    folder = evaluated(project, tmp_path / "o", "interpret.sessionsLimit=20")
    assert command("compare", folder, folder, "--output", tmp_path / "out", "--gate", "MaxLatency <= 9999ms")[0] == 0
    found = json.loads((tmp_path / "out" / "comparison.json").read_text())["filters"]["ALL"]["metrics"]["MaxLatency"]
    assert (found["low"], found["high"], found["p"], found["verdict"]) == (None, None, None, "not-comparable")
    assert found["difference"] == 0


# --------------------------------------------------------------------------------------------------- without a draw

EVERY = "actions.strategy.prefix={name: EveryPrefix}"
LATE = "interpret:\n  userModel:\n    profile: always\n    firstPrefix: [0, 0, 1]\n"


def expected(folder: Path, user: object) -> dict[str, str]:
    """Figure → its value, as the table shows it."""
    code, out, err = command("expect", folder, "--user-model", user)
    assert code == 0, err
    return {words[0]: words[1] for line in out.splitlines() if len(words := line.split()) > 1}


def test_a_user_may_be_a_file_of_tables(project: Path, tmp_path: Path) -> None:
    folder = evaluated(project, tmp_path / "o", EVERY, engine="oracle")
    (tmp_path / "late.yaml").write_text(LATE)
    assert expected(folder, "always")["TypingSaved"] == "100.0%"
    lengths = [len(session.expected_text) for session in sessions_of(folder)]
    saved = sum(1 - min(2, length - 1) / length for length in lengths) / len(lengths)
    assert expected(folder, tmp_path / "late.yaml")["TypingSaved"] == f"{saved:.1%}"


@pytest.mark.parametrize(
    ("text", "said"), [(None, "known are always, first"), ("language: python", "has no interpret")]
)
def test_what_is_no_user_is_refused(text: str | None, said: str, project: Path, tmp_path: Path) -> None:
    folder = evaluated(project, tmp_path / "o", EVERY, "interpret.sessionsLimit=20")
    path = tmp_path / "user.yaml"
    if text is not None:
        path.write_text(text)
    for arguments in (("expect", folder, "--user-model", path), ("compare", folder, folder, "--expect", path)):
        code, _, err = command(*arguments)
        assert (code, said in " ".join(err.split())) == (2, True)


def test_a_session_the_engine_failed_on_saves_its_user_nothing(project: Path, tmp_path: Path) -> None:
    folder = evaluated(project, tmp_path / "o", EVERY, engine="oracle")
    workspace = Workspace(folder)
    failed = 0
    for source, sessions in list(workspace.sessions(Session)):
        each = [replace(one, status=Status.TIMEOUT) if one.offset % 2 else one for one in sessions]
        failed += sum(one.offset % 2 for one in each)
        workspace.write_sessions(source.path, pack_sessions(source, each))
    workspace.seal()
    of = len(sessions_of(folder))
    found = expected(folder, "always")
    assert 0 < failed < of
    assert found["Selected"] == found["TypingSaved"] == f"{1 - failed / of:.1%}"


def test_two_engines_are_compared_by_what_a_user_would_save(project: Path, tmp_path: Path) -> None:
    made = [evaluated(project, tmp_path / name, EVERY, engine=name) for name in ("words", "oracle")]
    alone = [expected(folder, "thesis")["TypingSaved"] for folder in made]
    given = ("--expect", "thesis", "--gate", "TypingSaved >= -1pp", "--output", tmp_path / "out")
    code, out, err = command("compare", *made, *given)
    assert code == 0, err
    found = json.loads((tmp_path / "out" / "comparison.json").read_text())["filters"]["ALL"]["metrics"]["TypingSaved"]
    assert [f"{found[side]:.1%}" for side in ("base", "new")] == alone
    assert found["low"] <= found["difference"] <= found["high"]
    assert (found["verdict"], "TypingSaved" in out) == ("better", True)
    code, _, err = command("compare", *reversed(made), *given[:-1], tmp_path / "other")
    assert (code, "1 of 1 gates failed" in err) == (1, True)


def test_what_a_user_would_do_is_not_told_of_some_prefixes(project: Path, tmp_path: Path) -> None:
    plain = evaluated(project, tmp_path / "o", "interpret.sessionsLimit=20")
    code, _, err = command("compare", plain, plain, "--expect", "thesis", "--output", tmp_path / "out")
    assert (code, "was not asked at every prefix" in " ".join(err.split())) == (2, True)
