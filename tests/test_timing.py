"""Tests of `timing.py`, which prints times before what failed, and after it names alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONFTEST = """
from tests.timing import Timing

def pytest_addoption(parser):
    parser.addoption("--slowest", action="store_true")

def pytest_configure(config):
    config.pluginmanager.register(Timing())
"""
TESTS = """
import sys
import pytest

@pytest.fixture(scope="module")
def broken():
    raise ValueError("no fixture")

def test_failing():
    for number in range(300_000):
        str(number)
    assert [*range(1000)] == []

def test_without_fixture(broken):
    pass

def test_skipped():
    pytest.skip("nothing to compare with")

def test_passing():
    pass
"""


def test_a_failure_s_name_is_the_last_that_is_printed_and_the_slowest_stand_before_its_text(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS)
    program = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    options = ["-p", "no:randomly", "-n", "1", "--slowest", "-rs", "--no-fold-skipped"]
    # pytest prints whole assertions, also in its summary, where it believes to be in CI.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CI": "true"}
    run = subprocess.run([*program, *options], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 1, run.stdout + run.stderr
    times, failures = run.stdout.index("slowest: seconds"), run.stdout.index("= FAILURES =")
    skips, names = run.stdout.index("SKIPPED"), run.stdout.index("names of the failed tests")
    assert times < failures < skips < names
    first = run.stdout[times:].splitlines()[1].split()
    assert first[2] == "test_some.py::test_failing"
    assert float(first[1]) > 0
    assert "SKIPPED test_some.py::test_skipped - Skipped: nothing to compare with" in run.stdout
    last = [line for line in run.stdout[names:].splitlines()[1:] if "==" not in line]
    assert last == ["test_some.py::test_failing", "test_some.py::test_without_fixture"]
