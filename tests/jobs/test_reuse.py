"""`evaluate --reuse`: what is taken over, what is asked anew, and what is noticed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ci_eval.core.interpret import observable_content
from ci_eval.core.model import Session, Suggestion
from ci_eval.core.workspace import Workspace, pack_sessions
from ci_eval.jobs import reuse
from ci_eval.jobs import reuse as closures
from ci_eval.plugins.adapters.engine import Closure
from tests.command import command
from tests.projects import GREETER, write

FILES = 12
FEW = ("--set", "actions.strategy.prefix.name=NoPrefix")


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A project, and the workspace of its first night."""
    folder = tmp_path_factory.mktemp("before")
    files = {f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i})\n" for i in range(FILES)}
    night(write(folder / "p", **files), folder / "one")
    return folder / "p", folder / "one"


@pytest.fixture
def project(before: tuple[Path, Path], tmp_path: Path) -> Path:
    """Of its own, with the first night beside it."""
    shutil.copytree(before[1], tmp_path / "one")
    return Path(shutil.copytree(before[0], tmp_path / "p"))


def night(project: Path, output: Path, *more: str, engine: str = "words") -> str:
    """What the run says."""
    code, _, said = run(project, output, "--engine", engine, *more)
    assert code == 0, said
    return said


def run(project: Path, output: Path, *more: str) -> tuple[int, str, str]:
    code, out, err = command("evaluate", "--project", f"path:{project}", *FEW, "--output", output, *more)
    return code, out, " ".join(err.split())


def figures(workspace: Path) -> dict[str, Any]:
    everything: dict[str, Any] = json.loads((workspace / "reports" / "metrics.json").read_text())
    found: dict[str, Any] = everything["evaluations"][0]["filters"]["ALL"]["metrics"]
    return found


def reused(workspace: Path) -> dict[str, set[bool]]:
    """File → whether its sessions are reused."""
    found = Workspace.open(workspace).sessions(Session)
    return {source.path: {session.reused for session in sessions} for source, sessions in found}


def alter(workspace: Path) -> None:
    """Change every answer of a workspace, and seal it as if nothing had happened."""
    stored = Workspace.open(workspace)
    for source, sessions in list(stored.sessions(Session)):
        wrong = (Suggestion(text="planted"),)
        altered = [
            replace(each, lookups=tuple(replace(lookup, suggestions=wrong) for lookup in each.lookups))
            for each in sessions
        ]
        stored.write_sessions(source.path, pack_sessions(source, altered))
    stored.seal()


def test_an_unchanged_night_asks_a_sample_and_has_the_same_figures(project: Path, tmp_path: Path) -> None:
    said = night(project, tmp_path / "two", "--reuse", str(tmp_path / "one"))
    manifest = Workspace.open(tmp_path / "two").manifest()
    assert 0 < manifest.finished - manifest.reused < 0.08 * manifest.finished
    assert order_of(tmp_path / "one") == order_of(tmp_path / "two")
    assert f"Reused: {manifest.reused} sessions" in said
    assert "asked again were answered the same" in said
    one, two = figures(tmp_path / "one"), figures(tmp_path / "two")
    of_machine = ("atency", "Within", "Cpu", "PeakMemory")
    untimed = [name for name in one if not any(each in name for each in of_machine)]
    assert {name: one[name]["value"] for name in untimed} == {name: two[name]["value"] for name in untimed}
    Workspace.open(tmp_path / "two").verify()


def test_times_are_those_of_what_was_asked(project: Path, tmp_path: Path) -> None:
    night(project, tmp_path / "two", "--reuse", str(tmp_path / "one"))
    asked = [
        lookup.latency
        for _, sessions in Workspace.open(tmp_path / "two").sessions(Session)
        for session in sessions
        if not session.reused
        for lookup in session.lookups
    ]
    assert figures(tmp_path / "two")["MeanLatency"]["value"] == pytest.approx(sum(asked) / len(asked), rel=1e-6)


def order_of(workspace: Path) -> dict[str, list[str]]:
    """File → the ids of its sessions in the order in which they are stored."""
    return {
        source.path: [session.id for session in sessions]
        for source, sessions in Workspace.open(workspace).sessions(Session)
    }


def test_nights_ask_about_a_fiftieth_of_the_sessions_and_every_one_some_day() -> None:
    # The sizes of the files of a package: few are large.
    sessions = {f"{number}.py": [f"{number} {rank}" for rank in range(1 + number**2)] for number in range(8)}
    samples = [reuse.choose_sample(sessions, f"night {number}") for number in range(700)]
    asked = [sum(map(len, sample.values())) / sum(map(len, sessions.values())) for sample in samples]
    assert 0.018 < sum(asked) / len(asked) < 0.025
    assert all(len(sample) > 0 for sample in samples)
    assert set().union(*(ids for sample in samples for ids in sample.values())) == set().union(*sessions.values())
    few = [reuse.choose_sample({"a.py": ["one", "two"], "b.py": []}, f"night {number}") for number in range(100)]
    assert {tuple(sample) for sample in few} == {("a.py",)}


@pytest.mark.slow
def test_another_night_asks_another_sample(project: Path, tmp_path: Path) -> None:
    asked = set[str]()
    number = 0
    # It is drawn by the time at which a night began: one of a few files, which may be the same one a few times.
    while len(asked) < 2 and number < 20:
        night(project, tmp_path / f"after {number}", "--reuse", str(tmp_path / "one"))
        asked |= {path for path, flags in reused(tmp_path / f"after {number}").items() if False in flags}
        number += 1
    assert len(asked) > 1


def test_a_planted_wrong_answer_is_noticed_and_nothing_is_reused(project: Path, tmp_path: Path) -> None:
    alter(tmp_path / "one")
    said = night(project, tmp_path / "two", "--reuse", str(tmp_path / "one"))
    assert "were answered differently, so all sessions are asked" in said
    assert set().union(*reused(tmp_path / "two").values()) == {False}
    assert Workspace.open(tmp_path / "two").manifest().reused == 0
    # As it was before it was altered; ranks are the same.
    assert figures(tmp_path / "two")["Recall"] == figures(tmp_path / "one")["Recall"]


def test_where_nothing_can_be_compared_nothing_is_reused(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Which files are asked anew depends on the time: what of them can be compared is told instead.
    monkeypatch.setattr(reuse, "count_differing", lambda *_: (0, 0))
    said = night(project, tmp_path / "two", "--reuse", str(tmp_path / "one"))
    assert "none of the sessions asked again has an answer in that run" in said
    assert "Reused" not in said
    assert set().union(*reused(tmp_path / "two").values()) == {False}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (
            ("--set", "interpret.maxSuggestions=7"),
            "the configuration sent to the engine differs: `limits.suggestions` was 1000.0, and is 7.0 now",
        ),
        (("--set", "interpret.completionType=ALPHABETICAL"), "the completion type was BASIC, and is ALPHABETICAL now"),
        (("--set", "actions.strategy.context=PREVIOUS"), "the strategy was"),
    ],
)
def test_other_settings_reuse_nothing(project: Path, tmp_path: Path, more: tuple[str, ...], why: str) -> None:
    said = night(project, tmp_path / "two", "--reuse", str(tmp_path / "one"), *more)
    assert f"Nothing of {tmp_path / 'one'} is reused: {why}" in said
    assert set().union(*reused(tmp_path / "two").values()) == {False}


def test_another_engine_reuses_nothing(project: Path, tmp_path: Path) -> None:
    said = night(project, tmp_path / "other", "--reuse", str(tmp_path / "one"), engine="frequency")
    assert "the engine was words" in said


@pytest.mark.slow
def test_of_a_changed_project_what_answers_depend_on_is_looked_at(project: Path, tmp_path: Path) -> None:
    (project / "file3.py").write_text(GREETER)
    said = night(project, tmp_path / "two", "--reuse", str(tmp_path / "one"))
    flags = reused(tmp_path / "two")
    assert "asked again were answered the same" in said
    assert flags["file3.py"] == {False}
    assert all(True in each for path, each in flags.items() if path != "file3.py")
    night(project, tmp_path / "whole")
    told = ("RecallAt1", "Recall", "MeanRank")
    one, two = figures(tmp_path / "whole"), figures(tmp_path / "two")
    assert [one[name] for name in told] == [two[name] for name in told]


@pytest.mark.slow
def test_where_other_sessions_of_a_file_are_drawn_it_is_asked(project: Path, tmp_path: Path) -> None:
    few = ("--set", "interpret.sessionsLimit=100")
    night(project, tmp_path / "few", *few)
    (project / "file3.py").write_text((GREETER + "y = 1\n") * 9)
    night(project, tmp_path / "two", *few, "--reuse", str(tmp_path / "few"))
    night(project, tmp_path / "whole", *few)
    assert ids(tmp_path / "two") == ids(tmp_path / "whole")


def ids(workspace: Path) -> set[str]:
    return {each.id for _, sessions in Workspace.open(workspace).sessions(Session) for each in sessions}


@pytest.mark.slow
def test_an_engine_that_declares_nothing_reuses_no_changed_project(project: Path, tmp_path: Path) -> None:
    night(project, tmp_path / "first", engine="frequency")
    (project / "file3.py").write_text(GREETER)
    said = night(project, tmp_path / "two", "--reuse", str(tmp_path / "first"), engine="frequency")
    assert "the project was" in said
    assert Workspace.open(tmp_path / "two").manifest().reused == 0


@pytest.mark.slow
def test_a_wrong_declaration_is_noticed_and_nothing_is_reused(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So many suggestions are what is frequent in all files.
    far = ("--set", "engine.options={limit: 500}")
    monkeypatch.setattr(closures, "find_closure", lambda _: Closure.FILE)
    night(project, tmp_path / "first", *far, engine="frequency")
    (project / "file3.py").write_text("".join(f"other{i} = other{i} + other{i}\n" * 9 for i in range(30)))
    said = night(project, tmp_path / "two", *far, "--reuse", str(tmp_path / "first"), engine="frequency")
    first, two = answers(tmp_path / "first"), answers(tmp_path / "two")
    assert any(first[each] != two[each] for each in first if each in two), "nothing wrong was planted"
    assert "were answered differently, so all sessions are asked" in said
    assert set().union(*reused(tmp_path / "two").values()) == {False}


def answers(workspace: Path) -> dict[str, object]:
    """Session → what it was answered."""
    found = Workspace.open(workspace).sessions(Session)
    return {each.id: observable_content(each) for _, sessions in found for each in sessions}


@pytest.mark.parametrize("what", ["engine", "dependencies"])
def test_another_release_of_an_engine_or_a_dependency_reuses_nothing(what: str, project: Path, tmp_path: Path) -> None:
    earlier = Workspace.open(tmp_path / "one")
    was = earlier.manifest()
    bumped = {"engine": replace(was.engine, version="0.1"), "dependencies": {"markupsafe": "2.1.4"}}
    earlier.write_manifest(replace(was, **{what: bumped[what]}))
    earlier.seal()
    (project / "file3.py").write_text(GREETER)
    said = night(project, tmp_path / "two", "--reuse", str(tmp_path / "one"))
    assert f"Nothing of {tmp_path / 'one'} is reused: the {what}" in said
    assert Workspace.open(tmp_path / "two").manifest().reused == 0


def test_the_first_night_has_nothing_to_reuse(project: Path, tmp_path: Path) -> None:
    said = night(project, tmp_path / "two", "--reuse", str(tmp_path / "none"))
    assert "there is no workspace in" in said
    assert Workspace.open(tmp_path / "two").manifest().finished


def test_a_damaged_workspace_is_no_ground_for_reuse(project: Path, tmp_path: Path) -> None:
    next((tmp_path / "one" / "sessions").iterdir()).write_bytes(b"")
    code, _, said = run(project, tmp_path / "two", "--engine", "words", "--reuse", str(tmp_path / "one"))
    assert code == 2
    assert "is not what was evaluated: sessions changed since" in said


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--repeat", "2"), "how much answers differ"),
        (("--set", "interpret.saveLogs=true"), "logs only sessions that are asked"),
        (("--set", "engine.command=[cat]"), "another program under the same name"),
    ],
)
def test_what_cannot_be_reused_is_refused(project: Path, tmp_path: Path, more: tuple[str, ...], why: str) -> None:
    code, _, said = run(project, tmp_path / "two", *more, "--reuse", str(tmp_path / "one"))
    assert code == 2
    assert why in said
    assert not (tmp_path / "two").exists()


def test_a_shard_that_stage_1_was_handed_on_to_reuses_too(project: Path, tmp_path: Path) -> None:
    code, _, said = command(
        "actions", "--project", f"path:{project}", "--engine", "words", *FEW, "--output", tmp_path / "actions"
    )
    assert code == 0, said
    shard = ("interpret", tmp_path / "actions", "--jobs", 1, "--shard", "1/2")
    for number, more in ((1, ()), (2, ("--reuse", tmp_path / "shard1"))):
        code, _, said = command(*shard, *more, "--output", tmp_path / f"shard{number}")
        assert code == 0, said
    one, two = (Workspace.open(tmp_path / f"shard{number}").manifest() for number in (1, 2))
    assert 0 < two.reused < two.finished == one.finished
    assert answers(tmp_path / "shard1") == answers(tmp_path / "shard2")


@pytest.mark.slow
def test_shards_of_a_night_reuse_their_own_and_are_counted_together(project: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        shard = ("--shard", f"{number}/2")
        night(project, tmp_path / f"old{number}", *shard)
        night(project, tmp_path / f"new{number}", *shard, "--reuse", str(tmp_path / f"old{number}"))
    code, _, said = command("merge", tmp_path / "new1", tmp_path / "new2", "--output", tmp_path / "merged")
    assert code == 0, said
    counts = [Workspace.open(tmp_path / name).manifest().reused for name in ("new1", "new2", "merged")]
    assert min(counts) > 0
    assert counts[2] == counts[0] + counts[1]
