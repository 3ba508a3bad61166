"""All files of a workspace, dealt out to workers."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from ci_eval.core.contracts import Installation
from ci_eval.core.interpret import EngineSide, Logging, Setup, play_files
from ci_eval.core.interpret.player import PATIENCE
from ci_eval.core.model import EngineInfo, Session, Status
from ci_eval.core.workspace import Workspace, make_file_name
from ci_eval.plugins.adapters.lsp.custom import custom
from ci_eval.plugins.engines.controls import EMPTY, ORACLE, WORDS
from tests.adapters.lsp.conftest import SERVER
from tests.adapters.lsp.test_malformed import MESSAGES
from tests.deadly import Deadly
from tests.faulty import Faulty
from tests.projects import GREETER, ask, generate, sessions, setup, timeless, write


def test_every_planned_session_has_a_status(project: Path, tmp_path: Path) -> None:
    workspace = generate(project, tmp_path / "w")
    progress = ask(workspace, setup(WORDS, project))
    assert progress.planned == progress.statuses.total() == sum(file.sessions for file in workspace.actions())


def test_a_run_in_which_most_sessions_fail_is_given_up(tmp_path: Path) -> None:
    root = write(tmp_path / "p", **{f"f{i}__py": "x\n" * 60 for i in range(6)})
    progress = ask(generate(root, tmp_path / "w"), setup(Faulty("always exits"), root))
    assert progress.given_up
    assert progress.statuses[Status.SKIPPED] > 0
    assert progress.statuses.total() == progress.planned == 6 * 60


@pytest.mark.parametrize("rounds", [1, 2])
def test_an_engine_that_is_given_up_costs_the_other_one_nothing(tmp_path: Path, rounds: int) -> None:
    root = write(tmp_path / "p", **{f"f{i}__py": "x\n" * 60 for i in range(3)})
    sides = [
        EngineSide(generate(root, tmp_path / name), setup(engine, root))
        for name, engine in (("base", WORDS), ("new", Faulty("always exits")))
    ]
    base, new = play_files(sides, jobs=1, rounds=rounds, advance=lambda *_: None)
    assert (base.given_up, base.statuses[Status.OK], base.statuses[Status.SKIPPED]) == ("", 180, 0)
    assert "the engine failed on" in new.given_up
    assert new.given_up.endswith(new.trouble)
    assert new.trouble
    # What it was asked before stands as it was.
    assert new.statuses[Status.ENGINE_CRASH] > 0
    assert new.statuses.total() == 180


def test_the_number_of_workers_changes_nothing(project: Path, tmp_path: Path) -> None:
    ask(one := generate(project, tmp_path / "1"), setup(WORDS, project), jobs=1)
    ask(two := generate(project, tmp_path / "2"), setup(WORDS, project), jobs=2)

    def timeless(workspace: Workspace) -> list[object]:
        return [(s.id, s.status, [(k.rank, k.suggestions) for k in s.lookups]) for s in sessions(workspace)]

    assert timeless(one) == timeless(two)


def test_files_that_are_done_are_not_asked_again(project: Path, tmp_path: Path) -> None:
    workspace = generate(project, tmp_path / "w")
    ask(workspace, setup(ORACLE, project))
    done = next((tmp_path / "w" / "sessions").glob("a.py*"))
    done.unlink()
    progress = ask(workspace, setup(EMPTY, project))
    assert progress.statuses[Status.EMPTY] == next(f.sessions for f in workspace.actions() if f.path == "a.py")
    assert progress.statuses[Status.OK] > 0


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "p", a__py=GREETER, b__py="one = 1\ntwo = one\n")


def deadly(root: Path, harm: str, at: str, times: int = 1000) -> Setup:
    return setup(Deadly(harm, at, root.parent / f"{harm}-{at}-{times}", times), root)


def asked(root: Path, name: str, wanted: Setup) -> Workspace:
    workspace = generate(root, root.parent / name)
    ask(workspace, wanted)
    return workspace


def failed(workspace: Workspace) -> list[Session]:
    return [each for each in sessions(workspace) if each.status not in (Status.OK, Status.NO_MATCH)]


def test_a_worker_that_dies_once_leaves_no_trace(project: Path) -> None:
    undisturbed = asked(project, "whole", deadly(project, "none", ""))
    disturbed = asked(project, "killed", deadly(project, "kill", "greet", times=1))
    assert timeless(disturbed.folder) == timeless(undisturbed.folder)
    assert not disturbed.errors()
    assert not (disturbed.folder / "unfinished").exists()


@pytest.mark.slow
def test_a_session_that_two_workers_die_of_crashes_and_the_others_are_as_they_were(project: Path) -> None:
    undisturbed = sessions(asked(project, "whole", deadly(project, "none", "")))
    disturbed = asked(project, "killed", deadly(project, "kill", "Greeter", times=2))
    (crashed,) = failed(disturbed)
    assert (crashed.status, crashed.expected_text) == (Status.ENGINE_CRASH, "Greeter")
    assert crashed.message == "the worker process died (SIGKILL), twice"
    assert {each.id for each in sessions(disturbed)} == {each.id for each in undisturbed}
    assert [each.sessions for each in disturbed.errors()] == [1]


@pytest.mark.slow
def test_what_was_finished_is_not_asked_again(project: Path) -> None:
    asked(project, "whole", deadly(project, "none", ""))
    asked(project, "killed", deadly(project, "kill", "greet", times=1))
    once, twice = (Path(project.parent, f"{name}.asked").read_text() for name in ("none--1000", "kill-greet-1"))
    assert twice == once.replace("greet", "greet greet", 1)


@pytest.mark.slow
def test_a_file_in_which_every_session_is_deadly_is_given_up(project: Path) -> None:
    workspace = asked(project, "dead", deadly(project, "kill", "start"))
    assert {each.status for each in sessions(workspace)} == {Status.ENGINE_CRASH}
    assert sum(each.sessions for each in workspace.actions()) == len(sessions(workspace))
    # The other file has one session.
    assert (project.parent / "kill-start-1000").stat().st_size == 2 * PATIENCE + 2


def test_a_bug_costs_the_session_that_shows_it(project: Path) -> None:
    (session,) = failed(asked(project, "bug", deadly(project, "raise", "Greeter", times=1)))
    assert session.status == Status.ERROR
    assert session.message.startswith("ValueError: no idea (deadly.py, line ")


def test_a_text_that_cannot_be_stored_costs_its_session(project: Path) -> None:
    (session,) = failed(asked(project, "odd", deadly(project, "surrogate", "sep")))
    assert session.status == Status.ERROR
    assert "surrogates not allowed" in session.message


def test_a_latency_that_is_none_costs_its_session(project: Path) -> None:
    (session,) = failed(asked(project, "odd", deadly(project, "nan", "sep")))
    assert session.message == "deadly says that it took nan ms"


@pytest.mark.parametrize(
    ("message", "hit"), [("five items", [2, 5]), ("a deep result", [2, 5]), ("a range that is none", [])]
)
def test_a_malformed_message_costs_its_session_and_a_malformed_item_nothing(
    tmp_path: Path, message: str, hit: list[int]
) -> None:
    root = write(tmp_path / "p", a__py="self.a\nself.b\nself.c\n", message=MESSAGES[message])
    command = (sys.executable, str(SERVER), "says-third@textDocument/completion", str(root))
    server = custom("fake", command)
    info = EngineInfo(name="fake", version="1")
    wanted = setup(server, root, installation=Installation(info=info, folder=tmp_path))
    wanted = replace(wanted, surroundings=replace(wanted.surroundings, reads=(SERVER.parent,)))
    ask(workspace := generate(root, tmp_path / "w"), wanted)
    # A server that must be started anew counts its questions from one.
    assert [i for i, session in enumerate(sessions(workspace)) if session.status == Status.ERROR] == hit
    assert len(failed(workspace)) == len(hit)


def test_an_engine_that_cannot_be_started_once_costs_a_session(project: Path) -> None:
    (session,) = failed(asked(project, "late", deadly(project, "fail", "start", times=1)))
    assert session.message == "the engine could not be started: out of luck"


@pytest.mark.slow
def test_a_file_that_is_asked_again_is_logged_once(project: Path) -> None:
    logged = []
    for times in (0, 1):
        workspace = generate(project, project.parent / f"logs{times}")
        parts = workspace.folder / "parts"
        logging = Logging(parts=parts, formats=("jsonl",), project="p", completion_type="BASIC", began=0)
        ask(workspace, replace(deadly(project, "kill", "greet", times), logging=logging))
        with gzip.open(parts / f"{make_file_name('a.py')}.jsonl.gz") as file:
            logged.append([msgspec.json.decode(line)["session"] for line in file])
    assert logged[0] == logged[1]


def test_what_a_killed_run_left_half_written_is_removed(project: Path) -> None:
    workspace = generate(project, project.parent / "w")
    left = write(
        workspace.folder, **{"sessions/a__py__jsonl__gz__77__tmp": "{", "unfinished/a__py__jsonl": '{"id":"x"}\n'}
    )
    ask(workspace, deadly(project, "none", ""))
    assert not list(left.rglob("*.tmp"))
    assert not failed(workspace)
