"""Questions that are asked ahead."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.model import Session, Status
from ci_eval.core.workspace import Workspace
from tests.adapters.endpoints.scripted import fails, says, sends, serve, whole
from tests.command import command


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


def sessions(workspace: Workspace) -> list[Session]:
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
    for session in sessions(workspace):
        assert session.record
        assert session.lookups[0].suggestions[0].text == f"answer {session.record.context['n']}"


def test_no_more_than_the_budget_is_asked_ahead(tmp_path: Path) -> None:
    with serve(says("1. answer")) as endpoint:
        workspace = evaluate(tmp_path, endpoint.address, 12, 4, "--set", "engine.budget.requests=8")
    assert len(endpoint.asked) == 8
    assert Counter(session.status for session in sessions(workspace))[Status.SKIPPED] == 12 - 7


def test_an_account_without_money_is_noticed_by_the_second_question(tmp_path: Path) -> None:
    with serve(says("ok"), says("1. answer"), fails(402, "Insufficient credits")) as endpoint:
        workspace = evaluate(tmp_path, endpoint.address, 8, 4)
    assert len(endpoint.asked) == 1 + 2
    assert Counter(session.status for session in sessions(workspace))[Status.SKIPPED] == 7


@pytest.mark.slow(minutes=1)
def test_of_32_questions_at_once_nearly_all_are_under_way_all_the_time(tmp_path: Path) -> None:
    model = Counting(1.0)
    with serve(model.reply) as endpoint:
        evaluate(tmp_path, endpoint.address, 640, 32, "--jobs", 1)
    # On a machine that others use, one process starts fewer than 32 questions a second.
    assert endpoint.at_once == 32
    assert model.mean > 5
