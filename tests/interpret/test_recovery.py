"""Stage 2 where workers die or raise, for real: it costs the session that it happens in, if that."""

from __future__ import annotations

import gzip
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from ci_eval.core.contracts import Installation
from ci_eval.core.interpret import Logging, Setup
from ci_eval.core.interpret.player import PATIENCE
from ci_eval.core.model import EngineInfo, Session, Status
from ci_eval.core.workspace import Workspace, make_file_name
from ci_eval.plugins.adapters.lsp.custom import custom
from tests.adapters.lsp.conftest import SERVER
from tests.adapters.lsp.test_malformed import MESSAGES
from tests.deadly import Deadly
from tests.projects import GREETER, ask, generate, sessions, setup, timeless, write


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
