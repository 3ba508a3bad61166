"""Stage 2."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ci_eval.engines.empty import ENGINE as EMPTY
from ci_eval.engines.oracle import ENGINE as ORACLE
from ci_eval.engines.words import ENGINE as WORDS
from ci_eval.model import ActionsConfig, PrefixConfig, Status, StrategyConfig
from ci_eval.rankers.alphabetical import RANKER as ALPHABETICAL
from ci_eval.workspace import Workspace
from tests.faulty import Faulty
from tests.projects import GREETER, ask, generate, sessions, setup, write


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "p", a__py=GREETER, b__py=GREETER + "import a\n")


def test_every_planned_session_has_a_status(project: Path, tmp_path: Path) -> None:
    workspace = generate(project, tmp_path / "w")
    progress = ask(workspace, setup(WORDS, project))
    assert progress.planned == progress.statuses.total() == sum(file.sessions for file in workspace.actions())


def test_oracle_is_always_first_and_empty_never_answers(project: Path, tmp_path: Path) -> None:
    ask(oracle := generate(project, tmp_path / "o"), setup(ORACLE, project))
    ask(empty := generate(project, tmp_path / "e"), setup(EMPTY, project))
    assert {session.lookups[-1].rank for session in sessions(oracle)} == {1}
    assert {session.status for session in sessions(empty)} == {Status.EMPTY}


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


def test_repeated_suggestions_count_once(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="self.a\nreturn_\n")
    ask(workspace := generate(root, tmp_path / "w"), setup(Faulty("repeats itself"), root))
    assert [found.text for found in sessions(workspace)[2].lookups[0].suggestions] == ["self", "return"]


def test_of_a_million_suggestions_a_thousand_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="self.a\nname999999\n")
    ask(workspace := generate(root, tmp_path / "w"), setup(Faulty("suggests a million"), root))
    lookup = sessions(workspace)[2].lookups[0]
    assert (len(lookup.suggestions), lookup.total, lookup.rank) == (1000, 1_000_000, 1_000_000)


def test_an_engine_that_always_fails_is_given_up_file_by_file(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="x\n" * 30)
    progress = ask(workspace := generate(root, tmp_path / "w"), setup(Faulty("always exits"), root))
    assert progress.statuses == {Status.ENGINE_CRASH: 30}
    assert "not asked: 5 sessions in a row had failed" in sessions(workspace)[-1].message


def test_a_run_in_which_most_sessions_fail_is_given_up(tmp_path: Path) -> None:
    root = write(tmp_path / "p", **{f"f{i}__py": "x\n" * 60 for i in range(6)})
    progress = ask(generate(root, tmp_path / "w"), setup(Faulty("always exits"), root))
    assert progress.given_up
    assert progress.statuses[Status.SKIPPED] > 0
    assert progress.statuses.total() == progress.planned == 6 * 60


def test_a_file_that_changed_after_stage_1_is_skipped(project: Path, tmp_path: Path) -> None:
    workspace = generate(project, tmp_path / "w")
    (project / "a.py").write_text("changed = 1\n")
    progress = ask(workspace, setup(ORACLE, project))
    assert progress.statuses[Status.SKIPPED] == next(f.sessions for f in workspace.actions() if f.path == "a.py")
    assert "has changed since" in workspace.errors()[0].message


def test_probability_and_limit_choose_the_same_sessions_every_time(project: Path, tmp_path: Path) -> None:
    chosen = []
    for name in ("one", "two"):
        ask(workspace := generate(project, tmp_path / name), setup(WORDS, project), probability=0.5, limit=7)
        chosen.append([session.id for session in sessions(workspace)])
    assert chosen[0] == chosen[1]
    assert len(chosen[0]) == 7


def test_a_smaller_share_is_part_of_a_larger_one(project: Path, tmp_path: Path) -> None:
    ask(small := generate(project, tmp_path / "s"), setup(WORDS, project), probability=0.2)
    ask(large := generate(project, tmp_path / "l"), setup(WORDS, project), probability=0.6)
    assert {session.id for session in sessions(small)} < {session.id for session in sessions(large)}


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


def test_alphabetical_reorders_and_remembers_the_engines_place(project: Path, tmp_path: Path) -> None:
    wanted = replace(setup(WORDS, project), ranker=ALPHABETICAL)
    ask(workspace := generate(project, tmp_path / "w"), wanted)
    lookup = sessions(workspace)[-1].lookups[0]
    texts = [found.text.casefold() for found in lookup.suggestions]
    assert texts == sorted(texts)
    assert sorted(found.position or 0 for found in lookup.suggestions) == list(range(1, len(texts) + 1))


def test_typing_narrows_what_an_editor_shows(project: Path, tmp_path: Path) -> None:
    strategy = StrategyConfig(prefix=PrefixConfig(name="SimplePrefix", n=2, emulate_typing=True))
    ask(workspace := generate(project, tmp_path / "w", ActionsConfig(strategy=strategy)), setup(WORDS, project))
    session = next(session for session in sessions(workspace) if session.expected_text == "Greeter")
    assert [lookup.prefix for lookup in session.lookups] == ["", "G", "Gr"]
    assert {found.text for found in session.lookups[-1].suggestions} == {"Greeter", "Greets", "greet"}
