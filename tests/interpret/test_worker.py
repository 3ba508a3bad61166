"""What happens in a worker process."""

from __future__ import annotations

import json
import pickle
import threading
import time
from collections import Counter
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from ci_eval.core.catalogs import tasks
from ci_eval.core.contracts import Answer, Installation, Query, Running, Surroundings
from ci_eval.core.grammar.document import Document
from ci_eval.core.interpret.selection import share_twice
from ci_eval.core.interpret.worker import is_same
from ci_eval.core.model import DeleteRange, Determinism, MoveCaret, PrintText, Session, Status, Suggestion
from ci_eval.core.model.settings import ActionsConfig, StrategyConfig
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.engines.controls import ORACLE, Words
from ci_eval.plugins.engines.jedi import ENGINE as JEDI
from tests.adapters.endpoints.scripted import fails, says, sends, serve, whole
from tests.command import command
from tests.fake import Fake
from tests.projects import ask, generate, sessions, setup, write


@pytest.mark.parametrize("name", tasks.CATALOG.names())
def test_copies_of_a_setup_are_the_same_whatever_the_task(name: str, project: Path) -> None:
    task = tasks.CATALOG.load(name)
    configured = task.configured(task, StrategyConfig()) if task.configured else task
    wanted = replace(setup(ORACLE, project), task=configured)
    copies = [pickle.loads(pickle.dumps(wanted)) for _ in range(2)]
    assert is_same(*copies)
    assert not is_same(copies[0], replace(copies[1], files=project))


def test_a_file_that_changed_after_stage_1_is_skipped(project: Path, tmp_path: Path) -> None:
    workspace = generate(project, tmp_path / "w")
    (project / "a.py").write_text("changed = 1\n")
    progress = ask(workspace, setup(ORACLE, project))
    assert progress.statuses[Status.SKIPPED] == next(f.sessions for f in workspace.actions() if f.path == "a.py")
    assert "has changed since" in workspace.errors()[0].message


@dataclass(frozen=True)
class Forgetful(Fake):
    """Is `words`; of each text that it is asked about a second time, it has forgotten the first word."""

    name: str = "forgetful"
    forgets: bool = True
    only_in: str = ""
    """The only file about which it forgets; "" = it forgets about all."""

    def start(self, installation: Installation, surroundings: Surroundings) -> Running:
        return RunningForgetful(self, surroundings)


class RunningForgetful(Words):
    def __init__(self, engine: Forgetful, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        self._engine = engine
        self._asked: set[tuple[str, int]] = set()
        self._path = ""

    def open(self, path: str, text: str) -> None:
        self._path = path
        super().open(path, text)

    def complete(self, query: Query) -> Answer:
        key = (self.text, query.offset)
        words = list(self.words(query))
        if key in self._asked and self._engine.forgets and self._engine.only_in in {"", self._path}:
            words = words[1:]
        self._asked.add(key)
        return Answer(suggestions=[Suggestion(text=word) for word in words], latency=1.0)


def test_an_engine_that_changes_its_mind_is_found_out(project: Path, tmp_path: Path) -> None:
    workspace = generate(project, tmp_path / "w")
    progress = ask(workspace, setup(Forgetful(), project))
    again = [session for session in sessions(workspace) if session.again]
    assert progress.state == Determinism(asked=len(again), differed=len(again))
    assert progress.state.asked > 5
    assert all(session.differing == 1 for session in again)


@pytest.mark.parametrize("context", ["ALL", "PREVIOUS", "LEFT"])
def test_the_second_question_is_about_the_same_text(
    tmp_path: Path, context: Literal["ALL", "PREVIOUS", "LEFT"]
) -> None:
    root = write(
        tmp_path / "p", a__py="def greet(name):\n" + "    name = name.strip(name)\n" * 14 + "    name = name\n" * 2
    )
    config = ActionsConfig(strategy=StrategyConfig(context=context))
    workspace = generate(root, tmp_path / "w", config)
    progress = ask(workspace, setup(Forgetful(), root))
    # The session of `def` is one more.
    assert progress.state == Determinism(asked=61, differed=61)


@pytest.mark.usefixtures("in_one_process")
def test_second_questions_are_asked_without_the_edits_in_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path / "p", a__py="name = name.strip(name)\n" * 300)
    workspace = generate(root, tmp_path / "w")
    applied: Counter[str] = Counter()
    apply = Document.apply

    def count(self: Document, action: MoveCaret | DeleteRange | PrintText) -> None:
        applied.update(["all"])
        apply(self, action)

    monkeypatch.setattr(Document, "apply", count)
    ask(workspace, setup(ORACLE, root))
    (actions,) = workspace.actions()
    played = sum(isinstance(action, MoveCaret | DeleteRange | PrintText) for action in actions.actions)
    assert any(session.again for session in sessions(workspace))
    assert applied.total() == played


def test_what_is_asked_twice_is_stored_with_its_first_answer(project: Path, tmp_path: Path) -> None:
    kept, plain = generate(project, tmp_path / "kept"), generate(project, tmp_path / "plain")
    progress = ask(kept, setup(Forgetful(), project))
    steady = ask(plain, setup(Forgetful(forgets=False), project))
    assert [each.lookups[0].rank for each in sessions(kept)] == [each.lookups[0].rank for each in sessions(plain)]
    asked_steadily = {session.id for session in sessions(plain) if session.again}
    assert asked_steadily <= {session.id for session in sessions(kept) if session.again}
    assert (steady.state.asked, steady.state.differed) == (len(asked_steadily), 0)
    assert progress.state.asked >= steady.state.asked


def test_where_an_answer_differs_twice_as_many_sessions_are_asked_twice(tmp_path: Path) -> None:
    text = "def greet(name):\n" + "    name = name.strip(name)\n" * 60
    root = write(tmp_path / "p", **{f"{letter}.py": text.replace("greet", f"greet{letter}") for letter in "abcdefgh"})
    again = {}
    for name, engine in (("steady", Forgetful(forgets=False)), ("wavers", Forgetful(only_in="a.py"))):
        workspace = generate(root, tmp_path / name)
        ask(workspace, setup(engine, root))
        again[name] = [(session.file, session.id) for session in sessions(workspace) if session.again]
    assert {key for key in again["wavers"] if key[0] != "a.py"} == {key for key in again["steady"] if key[0] != "a.py"}
    steady, wavers = ({key for key in again[name] if key[0] == "a.py"} for name in ("steady", "wavers"))
    assert steady < wavers
    assert len(wavers) == 2 * len(steady)


def test_several_rounds_ask_everything_again_so_that_nothing_is_asked_twice(project: Path, tmp_path: Path) -> None:
    workspace = generate(project, tmp_path / "w")
    progress = ask(workspace, setup(Forgetful(), project), rounds=2)
    assert not any(session.again for session in sessions(workspace))
    assert progress.state == Determinism(asked=progress.finished, differed=0)


def test_a_tenth_is_asked_twice_and_a_small_run_as_a_whole() -> None:
    assert share_twice(100_000) == 0.1
    assert share_twice(100) == 0.6
    assert share_twice(60) == 1


def test_second_questions_are_spread_over_all_files(tmp_path: Path) -> None:
    text = "def greet(name):\n" + "    name = name.strip(name)\n" * 8
    root = write(tmp_path / "p", **{f"{letter}.py": text.replace("greet", f"greet{letter}") for letter in "abcdefgh"})
    workspace = generate(root, tmp_path / "w")
    asked = ask(workspace, setup(ORACLE, root)).statuses.total()
    again = Counter(session.file for session in sessions(workspace) if session.again)
    assert len(again) == 8
    assert max(again.values()) - min(again.values()) <= 1
    assert again.total() == pytest.approx(max(60, asked / 10), abs=8)


def test_cpu_is_counted_for_the_engine_for_checks_and_for_us(project: Path, tmp_path: Path) -> None:
    progress = ask(generate(project, tmp_path / "w"), setup(JEDI, project))
    assert progress.cpu.engine > 0.05
    assert progress.cpu.own > 0.05
    assert 0 < progress.cpu.checks < progress.cpu.total


class Counting:
    """A model that takes its time, and counts the seconds of requests under way."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.busy = 0.0
        self.began, self.ended = float("inf"), 0.0
        self._lock = threading.Lock()

    def reply(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        content = str(body["messages"][0]["content"])
        if content == "Say: ok":
            says("ok")(handler, body)
            return
        began = time.perf_counter()
        time.sleep(self.seconds)
        ended = time.perf_counter()
        with self._lock:
            self.busy += ended - began
            self.began, self.ended = min(self.began, began), max(self.ended, ended)
        sends(json.dumps(whole(f"1. answer {content}")))(handler, body)

    @property
    def mean(self) -> float:
        """The mean number of requests under way, from the first to the last."""
        return self.busy / (self.ended - self.began)


def evaluate(folder: Path, address: str, count: int, concurrency: int, *more: object) -> Workspace:
    lines = [
        {"id": n, "instruction": "{n}", "context": {"n": str(n)}, "references": [f"answer {n}"]} for n in range(count)
    ]
    (folder / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    settings = [f"engine.endpoint={address}", "engine.model=tiny", "engine.stream=false", "engine.retries=0"]
    sets = [part for text in (*settings, f"engine.concurrency={concurrency}") for part in ("--set", text)]
    dataset = ["--task", "code-review", "--dataset", folder / "d.jsonl", "--all"]
    command("evaluate", *dataset, *sets, "--output", folder / "out", "-q", *more)
    return Workspace.open(folder / "out")


def all_sessions(workspace: Workspace) -> list[Session]:
    return [session for _, part in workspace.sessions(Session) for session in part]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("jobs", [1, 4])
def test_as_many_questions_are_under_way_as_configured_whatever_the_jobs(tmp_path: Path, jobs: int) -> None:
    with serve(Counting(0.3).reply) as endpoint:
        workspace = evaluate(tmp_path, endpoint.address, 24, 6, "--jobs", jobs)
    assert endpoint.at_once == 6
    assert len(endpoint.asked) == 1 + 24
    for session in all_sessions(workspace):
        assert session.record
        assert session.lookups[0].suggestions[0].text == f"answer {session.record.context['n']}"


def test_no_more_than_the_budget_is_asked_ahead(tmp_path: Path) -> None:
    with serve(says("1. answer")) as endpoint:
        workspace = evaluate(tmp_path, endpoint.address, 12, 4, "--set", "engine.budget.requests=8")
    assert len(endpoint.asked) == 8
    assert Counter(session.status for session in all_sessions(workspace))[Status.SKIPPED] == 12 - 7


def test_an_account_without_money_is_noticed_by_the_second_question(tmp_path: Path) -> None:
    with serve(says("ok"), says("1. answer"), fails(402, "Insufficient credits")) as endpoint:
        workspace = evaluate(tmp_path, endpoint.address, 8, 4)
    assert len(endpoint.asked) == 1 + 2
    assert Counter(session.status for session in all_sessions(workspace))[Status.SKIPPED] == 7


@pytest.mark.slow(minutes=1)
def test_of_32_questions_at_once_nearly_all_are_under_way_all_the_time(tmp_path: Path) -> None:
    model = Counting(1.0)
    with serve(model.reply) as endpoint:
        evaluate(tmp_path, endpoint.address, 640, 32, "--jobs", 1)
    # On a machine that others use, one process starts fewer than 32 questions a second.
    assert endpoint.at_once == 32
    assert model.mean > 5
