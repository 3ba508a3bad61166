"""A test that means harm: nothing of it reaches the machine, outlives its run, or makes it pass."""

from __future__ import annotations

import os
import re
import socket
import tempfile
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from ci_eval.core import machine
from ci_eval.core.model import Record, Runnable, Stretch
from ci_eval.plugins.adapters.testruns.languages import RUNNERS
from ci_eval.plugins.adapters.testruns.trials import Trials, insert_test
from tests.adapters.testruns.shops import FOCAL, GOOD, outcome, record, runnable, settings
from tests.needs import need
from tests.tree import below

pytestmark = [pytest.mark.registry, pytest.mark.slow]


def hostile(body: str, *, timeout: float = 20.0, memory: int = 4 << 30) -> str:
    """What is said of a test that does so."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    test = f"import ctypes, os, pathlib, socket, subprocess, sys, time\ndef test_harm():\n{lines}\n"
    found = outcome("python", test, timeout=timeout, memory=memory)
    return "passes" if found.passes else found.said


def test_it_can_neither_read_nor_write_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_TOKEN", "a-secret")
    (tmp_path / "secret").write_text("s3cret")
    assert "Permission denied" in hostile(f"print(open({str(tmp_path / 'secret')!r}).read())")
    assert "Permission denied" in hostile(f"open({str(tmp_path / 'new')!r}, 'w')")
    assert "Permission denied" in hostile("os.mkdir('/dev/shm/harm')")
    assert hostile("assert 'CI_TOKEN' not in os.environ") == "passes"
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_it_connects_to_nothing() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        said = hostile(f"socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5)")
    assert "Operation not permitted" in said or "Permission denied" in said


def test_what_it_sends_into_the_background_ends_with_it() -> None:
    before = set(below(os.getpid()))
    fork = "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(600)\n    os._exit(0)"
    assert hostile(fork) == "passes"
    assert set(below(os.getpid())) - before == set()


def test_endless_loops_memory_and_output_are_limited() -> None:
    assert hostile("while True: pass", timeout=4) == "the test did not end within 4 s"
    assert "interpret.memoryLimit" in hostile("x = bytearray(1 << 30)\ntime.sleep(5)", memory=1 << 29)
    assert hostile("os.write(1, b'x' * (100 << 20))") == "passes"
    assert len(hostile("print('x' * (100 << 20))\nassert False")) < 10_000


def test_closing_its_output_does_not_end_the_wait() -> None:
    assert (
        hostile("os.close(1); os.close(2)\nwhile True: time.sleep(1)", timeout=4) == "the test did not end within 4 s"
    )


def test_a_report_that_is_a_link_a_pipe_or_full_of_entities_is_none() -> None:
    where = "report = pathlib.Path(os.environ['TMPDIR'], 'report.xml')\n"
    forged = "<!DOCTYPE x [<!ENTITY a 'b'>]><testsuite><testcase name='test_harm'/></testsuite>"
    for made in ("report.symlink_to('/etc/passwd')", "os.mkfifo(report)", f"report.write_text({forged!r})"):
        assert "without a report" in hostile(f"{where}{made}\nos._exit(0)")


def test_an_exit_code_alone_does_not_make_it_pass() -> None:
    assert "without a report (exit code 0)" in hostile("os._exit(0)")
    assert "without a report" in hostile("os.kill(os.getpid(), 9)")


def test_nothing_of_a_run_remains(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    hostile("os.makedirs('a/b')\nos.symlink('/', 'a/root')")
    assert list(tmp_path.iterdir()) == []


REAL = (pytest.mark.registry, pytest.mark.slow)


def trials(mutants: int = 10) -> Trials:
    return Trials(settings(mutants=mutants), machine.cache_folder())


@pytest.mark.parametrize("language", [pytest.param(each, marks=REAL) for each in FOCAL])
def test_a_test_that_asserts_kills_and_one_that_asserts_nothing_does_not(language: str) -> None:
    need(*RUNNERS[language].programs)
    nothing = {"python": "def test(): pass", "javascript": "test('x', () => {});", "java": "@Test void x() {}"}
    both = trials(4)
    good = both.of(record(language), language, GOOD[language])
    idle = both.of(record(language), language, nothing.get(language, "func TestX(t *testing.T) {}"))
    killed = good.scores["mutantsKilled"]
    assert good.scores == {"runs": 1.0, "passes": 1.0, "failsOnStub": 1.0, "mutantsKilled": killed}
    assert killed in {0.25, 0.5, 0.75, 1.0}
    assert idle.scores == {"runs": 1.0, "passes": 1.0, "failsOnStub": 0.0, "mutantsKilled": 0.0}
    assert "These mutants live (lines of the function):" in idle.said


@pytest.mark.registry
@pytest.mark.slow
def test_a_test_that_fails_on_the_right_function_kills_nothing() -> None:
    found = trials().of(record(), "py", "def test(): assert False")
    assert found.scores == {"runs": 1.0, "passes": 0.0, "failsOnStub": 0.0, "mutantsKilled": 0.0}


@pytest.mark.registry
@pytest.mark.slow
def test_without_mutants_only_the_stub_is_tried() -> None:
    found = trials(mutants=0).of(record(), "python", GOOD["python"])
    assert found.scores == {"runs": 1.0, "passes": 1.0, "failsOnStub": 1.0}
    assert found.said == "It passes."


@pytest.mark.registry
@pytest.mark.slow
def test_an_endless_mutant_is_killed_by_the_clock() -> None:
    code = "def count(n):\n    while n > 0:\n        n -= 1\n    return n\n"
    run = Runnable(
        files={"a.py": code, "test_a.py": "from a import count\n"},
        focal=Stretch(path="a.py", begin=0, end=len(code)),
        test=Stretch(path="test_a.py", begin=20, end=20),
    )
    test = "def test_count():\n    assert count(3) == 0"
    found = trials().of(Record(references=(test,), run=run), "python", test)
    assert found.scores["passes"] == 1.0
    killed, mutants = map(int, re.findall(r"\d+", found.said.partition("mutants")[0]))
    assert (mutants - killed, found.scores["mutantsKilled"]) == (found.said.count("line "), killed / mutants)
    assert "-= →" not in found.said


def test_a_record_that_does_not_say_how_is_not_run() -> None:
    found = trials().of(Record(language="python", references=("a",)), "python", "a")
    assert (found.scores, "no `run`" in found.said) == ({"notRunnable": 1.0}, True)


def test_another_language_or_a_program_that_is_not_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not in csharp" in trials().of(record(), "c#", "a").said
    monkeypatch.setenv("PATH", "/nowhere")
    assert trials().of(record("go"), "go", "a").said == "The test is not run: go is not installed"


def test_a_place_without_a_function_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    run = replace(runnable("python"), focal=Stretch(path="shop.py", begin=0, end=3))
    runner = msgspec.structs.replace(RUNNERS["python"], install=lambda cache: cache)
    monkeypatch.setitem(RUNNERS, "python", runner)
    found = trials().of(replace(record(), run=run), "python", "a")
    assert "no function with a body in shop.py at 0" in found.said


@pytest.mark.registry
@pytest.mark.slow
def test_a_test_of_junit_4_that_is_a_whole_file_is_run() -> None:
    need("java", "javac")
    test = "import org.junit.*;\n\npublic class ShopTest {{ @Test public void t() {{ Assert.assertEquals({}, {}); }} }}"
    told = replace(record("java"), references=())
    found = [trials(mutants=0).of(told, "java", test.format(wanted, "Shop.price(2, 3)")) for wanted in (6, 7)]
    right, wrong = (each.scores for each in found)
    assert right == {"runs": 1.0, "passes": 1.0, "failsOnStub": 1.0}
    assert wrong == {"runs": 1.0, "passes": 0.0, "failsOnStub": 0.0}


@pytest.mark.registry
@pytest.mark.slow
def test_a_record_whose_expected_test_does_not_pass_here_is_not_run() -> None:
    found = trials().of(replace(record(), references=("def test(): import nowhere",)), "python", GOOD["python"])
    assert found.scores == {"notRunnable": 1.0}
    assert "the expected test does not pass here" in found.said
    assert "nowhere" in found.said


def run_at(text: str) -> Runnable:
    at = text.index("|")
    focal = Stretch(path="shop.py", begin=0, end=1)
    return Runnable(files={"shop.py": "f", "t.py": text}, focal=focal, test=Stretch(path="t.py", begin=at, end=at + 1))


@pytest.mark.parametrize(
    ("around", "test", "expected"),
    [
        ("import a\n\n|\n", "def t():\n    b\n", "import a\n\ndef t():\n    b\n"),
        ("class A:\n    |\n", "    def t(self):\n        b\n", "class A:\n    def t(self):\n        b\n"),
        ("class A:\n    |\n", "def t(self):\n\n    b", "class A:\n    def t(self):\n\n        b\n"),
        ("class A: |", "x = 1", "class A: x = 1"),
    ],
)
def test_a_test_is_put_in_its_place_and_indented_as_that_is(around: str, test: str, expected: str) -> None:
    assert insert_test(test, around, run_at(around), RUNNERS["python"]) == expected


def test_a_whole_file_without_its_package_gets_it() -> None:
    run = run_at("package shop.own;\n\nclass T {|}\n")
    test = "import a.B;\nclass C {}"
    around = run.files[run.test.path]
    assert insert_test(test, around, run, RUNNERS["java"]) == f"package shop.own;\n{test}"


@pytest.mark.parametrize(
    ("language", "test"),
    [
        ("java", "package a;\n\nclass B {}"),
        ("java", "/* A. */\nimport a.B;\nclass C {}"),
        ("go", "// A.\npackage a\n"),
        ("python", "from __future__ import annotations\n"),
    ],
)
def test_an_answer_that_is_a_whole_file_takes_the_place_of_the_file(language: str, test: str) -> None:
    run = runnable(language)
    assert insert_test(test, run.files[run.test.path], run, RUNNERS[language]) == test
