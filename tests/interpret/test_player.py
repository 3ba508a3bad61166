"""What becomes of a session: its status, and what a fault of the engine costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import EngineTimeout
from ci_eval.core.config import InterpretConfig
from ci_eval.core.contracts import Answer, Installation, Query, Running, Surroundings
from ci_eval.core.interpret.player import MOST_MESSAGES, OpenSession
from ci_eval.core.model import CallCompletion, Kind, Properties, Status, Suggestion
from ci_eval.core.model.sessions import Offer
from ci_eval.plugins.engines.controls import WORDS, Words
from tests.fake import Fake
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


class Lazy(Words):
    """Offers each word twice, in the file and with an import, whose edit it only says when it is asked."""

    imports_first = False

    def complete(self, query: Query) -> Answer:
        words = sorted({"add", "total", *self.words(query)})
        first, last = ("0", "1") if self.imports_first else ("1", "0")
        offers = [
            Offer(text=word, label=word, sort_text=f"{order}{word}", item=item)
            for item, order in enumerate((first, last))
            for word in words
        ]

        def find_edits(asked: Sequence[Suggestion]) -> Sequence[Suggestion]:
            assert len(asked) <= 3
            return [
                replace(
                    offer, edits=() if isinstance(offer, Offer) and offer.item else ((0, 0, f"import {offer.text}\n"),)
                )
                for offer in asked
            ]

        return Answer(suggestions=offers, latency=1.0, find_edits=find_edits)


class Hasty(Lazy):
    imports_first = True


@dataclass(frozen=True)
class LazyEngine(Fake):
    running: type[Lazy]
    name: str = "lazy"

    def start(self, installation: Installation, surroundings: Surroundings) -> Running:
        return self.running(surroundings)


def test_a_name_that_an_engine_would_import_is_not_the_one_in_scope(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="total = 1\nadd = total\nprint(add, total)\n")
    ranks: dict[type[Lazy], set[int]] = {}
    for kind in (Lazy, Hasty):
        wanted = setup(LazyEngine(kind), root)
        ask(workspace := generate(root, tmp_path / kind.__name__), replace(wanted, settings=InterpretConfig()))
        lookups = [session.lookups[0] for session in sessions(workspace) if session.expected_text in {"add", "total"}]
        ranks[kind] = {lookup.rank or 0 for lookup in lookups}
        assert {lookup.adds_import for lookup in lookups} == {kind is Hasty}
    # In the second list, each name is behind those that would be imported.
    assert 0 < max(ranks[Lazy]) < min(ranks[Hasty])


class Stuck(Lazy):
    """Lists its words in time, but hangs when it is asked for their edits."""

    def complete(self, query: Query) -> Answer:
        def find_edits(_: Sequence[Suggestion]) -> Sequence[Suggestion]:
            raise EngineTimeout("it did not answer completionItem/resolve in time")

        return replace(super().complete(query), find_edits=find_edits)


def test_a_list_counts_although_its_edits_do_not_come_in_time(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="total = 1\nadd = total\nprint(add, total)\n")
    wanted = replace(setup(LazyEngine(Stuck), root), settings=InterpretConfig())
    progress = ask(workspace := generate(root, tmp_path / "w"), wanted)
    assert progress.statuses.keys() == {Status.OK, Status.NO_MATCH}
    asked = [lookup for session in sessions(workspace) for lookup in session.lookups]
    assert not any(lookup.adds_import for lookup in asked)
    assert progress.footprint.unresolved >= len(asked)
