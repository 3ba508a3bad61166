"""What becomes of a session: its status, and what a fault of the engine costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.interpret.player import MOST_MESSAGES, OpenSession
from ci_eval.core.model import CallCompletion, Kind, Properties, Status
from ci_eval.plugins.engines.controls import WORDS
from tests.faulty import Faulty
from tests.projects import ask, generate, sessions, setup, write


def test_an_answer_without_the_expected_text_is_no_match(project: Path, tmp_path: Path) -> None:
    ask(workspace := generate(project, tmp_path / "w"), setup(WORDS, project))
    session = next(session for session in sessions(workspace) if session.expected_text == "greet")
    assert session.lookups[-1].rank is not None
    once = next(session for session in sessions(workspace) if session.expected_text == "sep")
    assert once.status == Status.NO_MATCH


# What the faulty engine does at its third question, and how the sessions end.
FAULTS = [
    ("hangs", Status.TIMEOUT, "did not answer in time"),
    ("is killed", Status.ENGINE_CRASH, "SIGKILL"),
    ("exits", Status.ENGINE_CRASH, "out of ideas"),
    ("raises", Status.ERROR, "ValueError: no idea"),
    ("answers no JSON", Status.ERROR, "Segmentation what?"),
    ("answers another shape", Status.ERROR, "Expected"),
]


@pytest.mark.parametrize(("fault", "status", "why"), FAULTS, ids=[fault for fault, _, _ in FAULTS])
def test_a_fault_costs_the_session_it_hits_and_no_other(tmp_path: Path, fault: str, status: Status, why: str) -> None:
    root = write(tmp_path / "p", a__py="self.a\nself.b\nself.c\n")
    workspace = generate(root, tmp_path / "w")
    ask(workspace, setup(Faulty(fault), root, timeout=1.0))
    ended = sessions(workspace)
    # A restarted program counts its questions from one, so that it fails again at the sixth.
    hit = [2] if fault == "raises" else [2, 5]
    assert [i for i, session in enumerate(ended) if session.status == status] == hit
    assert why in ended[2].message
    assert ended[0].status == ended[4].status == Status.OK


def test_what_failed_is_an_error_of_the_file_and_a_timeout_counts_as_its_limit(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="self.a\nself.b\n")
    ask(workspace := generate(root, tmp_path / "w"), setup(Faulty("hangs"), root, timeout=0.5))
    (error,) = workspace.errors()
    assert error.sessions == 1
    assert error.message.startswith("1 session: timeout: ")
    assert sessions(workspace)[2].lookups[0].latency == 500


def test_an_engine_that_always_fails_is_given_up_file_by_file(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="x\n" * 30)
    progress = ask(workspace := generate(root, tmp_path / "w"), setup(Faulty("always exits"), root))
    assert progress.statuses == {Status.ENGINE_CRASH: 30}
    assert "not asked: 5 sessions in a row had failed" in sessions(workspace)[-1].message


def test_of_too_many_messages_the_first_are_kept_and_that_is_told() -> None:
    about = Properties(kind=Kind.VARIABLE, is_argument=False)
    asked = OpenSession(CallCompletion(session="1", offset=0, prefix="", expected_text="x", properties=about))
    for number in range(MOST_MESSAGES + 9):
        asked.keep(str(number))
    assert asked.messages == [*map(str, range(MOST_MESSAGES)), "… and more"]
