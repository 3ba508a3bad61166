"""Whoever is killed while asking loses nothing that was answered."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from ci_eval.plugins.adapters.endpoints.answers import Answers
from ci_eval.plugins.adapters.endpoints.client import answers_path
from tests.adapters.endpoints.scripted import Endpoint, says, serve

THREADS = 4


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
            assert asked(endpoint).total() - len(known(tmp_path)) <= THREADS * kill  # what was under way
        assert asking(endpoint, tmp_path, count).wait() == 0
    assert set(asked(endpoint)) == known(tmp_path) == {str(number) for number in range(count)}
    assert asked(endpoint).total() - count <= THREADS * kills
