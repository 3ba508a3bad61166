"""Whoever is killed while asking loses nothing that was answered."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.model import Session, Status
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.adapters.endpoints.client import answers_path
from ci_eval.plugins.adapters.endpoints.store import Answers
from tests.adapters.endpoints.faults import any_fault, good_answer
from tests.adapters.endpoints.scripted import Endpoint, says, sends, serve

THREADS = 4
MANY = int(os.environ.get("CI_EVAL_FAULTY_REQUESTS", "500"))
"""The questions of the long test; 5,000 take a quarter of an hour."""


def asked(endpoint: Endpoint) -> Counter[str]:
    return Counter(str(body["messages"][0]["content"]) for body in endpoint.asked)


def asking(endpoint: Endpoint, cache: Path, count: int) -> subprocess.Popen[bytes]:
    # As a module: the folder of a script is searched first, and ours has one that is named `http`.
    program = [sys.executable, "-m", "tests.adapters.endpoints.asking"]
    root = Path(__file__).parents[3]
    return subprocess.Popen([*program, endpoint.address, str(cache), str(count)], cwd=root)


def known(cache: Path) -> set[str]:
    """The questions whose answers are kept."""
    kept = Answers(answers_path(cache))
    lines = [json.loads(line) for line in kept.export_lines()]
    kept.close()
    return {line["request"]["body"]["messages"][0]["content"] for line in lines}


@pytest.mark.parametrize("count", [300, pytest.param(5000, marks=pytest.mark.slow)])
def test_what_was_kept_before_a_kill_is_not_asked_again_and_nothing_is_lost(tmp_path: Path, count: int) -> None:
    chance, kills = random.Random(18), 6
    with serve(says("four")) as endpoint:
        for kill in range(1, kills + 1):
            before, kept = asked(endpoint), known(tmp_path)
            process = asking(endpoint, tmp_path, count)
            until = before.total() + chance.randrange(1, count // 8)
            while len(endpoint.asked) < until and process.poll() is None:
                time.sleep(0.002)
            process.kill()
            process.wait()
            assert not kept & set(asked(endpoint) - before)
            assert kept <= known(tmp_path)
            # What was under way, and what was being kept meanwhile.
            assert asked(endpoint).total() - len(known(tmp_path)) <= 2 * THREADS * kill
        assert asking(endpoint, tmp_path, count).wait() == 0
    assert set(asked(endpoint)) == known(tmp_path) == {str(number) for number in range(count)}
    assert asked(endpoint).total() - count <= 2 * THREADS * kills


@dataclass
class Faulty:
    """A model that answers two of three questions, and has any fault for the others."""

    chance: random.Random = field(default_factory=lambda: random.Random(47))
    served: dict[str, str] = field(default_factory=dict)
    """The question, by number → the words of the last fault that it got, or "answered"."""
    answered: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reply(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        number = str(body["messages"][0]["content"]).partition(":")[0]
        if not number.isdigit():
            # The question by which an endpoint is tried before a run.
            says("ok")(handler, body)
            return
        with self.lock:
            is_good = self.chance.random() < 0.67
            fault = any_fault(self.chance, f"1. answer {number}")
            self.served[number] = "answered" if is_good else fault.words
            self.answered[number] += is_good
        (sends(good_answer(f"1. answer {number}")) if is_good else fault.reply)(handler, body)

    @property
    def count(self) -> int:
        return len(self.served)


def evaluating(endpoint: Endpoint, folder: Path, *options: object) -> subprocess.Popen[str]:
    """A whole command, which is not asked again what failed: no wait is worth a test's time."""
    settings = {
        "engine.endpoint": endpoint.address, "engine.model": "tiny", "engine.retries": 0,
        "interpret.allowedFailures": 1, "interpret.allowedEmpty": 1,
    }  # fmt: skip
    sets = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    dataset = folder / "d.jsonl"
    command = ["-m", "ci_eval", "evaluate", "--task", "code-review", "--dataset", dataset, "--all", "--jobs", 2]
    return subprocess.Popen(
        [sys.executable, *map(str, [*command, *sets, *options])],
        env={**os.environ, "CI_EVAL_CACHE": str(folder / "cache")},
        cwd=Path(__file__).parents[3],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def check_sessions(workspace: Path, model: Faulty, count: int) -> None:
    """Check that each session says what the model did last: answer, or fail by that fault."""
    sessions = [each for _, part in Workspace.open(workspace).sessions(Session) for each in part]
    assert len(sessions) == count
    for session in sessions:
        assert session.record
        number = session.record.context["number"]
        if model.served[number] == "answered":
            assert session.status is Status.OK
            assert session.lookups[0].suggestions[0].text == f"answer {number}"
        else:
            assert session.status in {Status.ERROR, Status.ENGINE_CRASH, Status.CONTEXT_TOO_LONG}
            assert session.message
            assert model.served[number] in session.message


@pytest.mark.parametrize(("count", "kills"), [(60, 2), pytest.param(MANY, 6, marks=pytest.mark.slow(minutes=2))])
def test_of_a_run_with_any_fault_and_kills_every_session_says_what_happened(
    tmp_path: Path, count: int, kills: int
) -> None:
    chance, model = random.Random(5), Faulty()
    code = "total = total + price\n" * 300
    lines = [
        {
            "id": number,
            "instruction": "{number}: {code}",
            "context": {"number": str(number), "code": code},
            "references": ["x"],
        }
        for number in range(count)
    ]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with serve(model.reply) as endpoint:
        for kill in range(kills):
            resumed = ("--resume", "--trust") if kill else ()
            process = evaluating(endpoint, tmp_path, "--output", tmp_path / "out", *resumed)
            until = len(endpoint.asked) + chance.randrange(5, max(6, count // (2 * kills)))
            while len(endpoint.asked) < until and process.poll() is None:
                time.sleep(0.002)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        assert model.count < count
        process = evaluating(endpoint, tmp_path, "--output", tmp_path / "out", "--resume", "--trust")
        said = process.communicate()[1]
        assert process.returncode == 0, said
        check_sessions(tmp_path / "out", model, count)
        # What had been answered when a process was killed, and was not stored, is asked again: as much as is under way.
        assert model.answered.total() - len(+model.answered) <= EndpointConfig().concurrency * kills
        # Another run asks what failed, and nothing else.
        before, failed = len(endpoint.asked), [words for words in model.served.values() if words != "answered"]
        process = evaluating(endpoint, tmp_path, "--output", tmp_path / "again")
        said = process.communicate()[1]
        assert process.returncode == 0, said
        assert len(endpoint.asked) - before == len(failed)
        check_sessions(tmp_path / "again", model, count)
