"""The line protocol with a real child process."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ci_eval.core.base.errors import EngineCrash, EngineMisbehaved, EngineTimeout
from ci_eval.plugins.adapters.process import LineProcess, MessageProcess, SandboxPolicy, find_installs, interpreter

Start = Callable[..., LineProcess]
ECHO = "import sys\nfor line in sys.stdin: print(line.strip().upper(), flush=True)"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[LineProcess] = []

    def start(program: str, memory: int = 0, address_space: int = 0) -> LineProcess:
        argv = [sys.executable, "-c", program]
        walls = SandboxPolicy(memory=memory, address_space=address_space)
        running.append(LineProcess(argv, cwd=tmp_path, environment={"PATH": os.defpath}, walls=walls))
        return running[-1]

    yield start
    for process in running:
        process.close()


def test_a_line_is_answered_by_a_line(start: Start) -> None:
    process = start(ECHO)
    assert [process.ask(word, 10) for word in (b"one", b"two")] == [b"ONE", b"TWO"]


def test_lines_larger_than_a_pipe_go_through(start: Start) -> None:
    assert len(start(ECHO).ask(b"x" * 3_000_000, 20)) == 3_000_000


def test_silence_is_a_timeout(start: Start) -> None:
    with pytest.raises(EngineTimeout):
        start("import time; time.sleep(60)").ask(b"x", 0.2)


def test_an_answer_before_the_question_is_misbehaviour(start: Start) -> None:
    process = start("import time\ninput(); print('1\\n2', flush=True); time.sleep(60)")
    assert process.ask(b"x", 10) == b"1"
    with pytest.raises(EngineMisbehaved, match="answered before it was asked: '2"):
        process.ask(b"y", 10)


def test_a_program_that_does_not_read_is_a_timeout(start: Start) -> None:
    with pytest.raises(EngineTimeout):
        start("import time; time.sleep(60)").ask(b"x" * 3_000_000, 0.2)


def test_death_is_a_crash_with_its_last_words(start: Start) -> None:
    with pytest.raises(EngineCrash, match=r"exit code 3\)\nalas"):
        start("import sys; print('alas', file=sys.stderr, flush=True); sys.exit(3)").ask(b"x", 10)


@pytest.mark.parametrize("words", ["", "print('EACCES: ~/.toolrc', file=sys.stderr);"])
def test_a_confined_program_that_ends_says_how_it_gets_more(tmp_path: Path, words: str) -> None:
    argv = [sys.executable, "-c", f"import sys; {words} sys.exit(1)"]
    process = LineProcess(
        argv,
        cwd=tmp_path,
        environment={},
        walls=SandboxPolicy(confine="auto", runs=(*find_installs(interpreter()), *find_installs(argv[0]))),
    )
    with pytest.raises(EngineCrash, match=r"(?s)exit code 1\)\n.*engine\.reads"):
        process.ask(b"x", 10)
    process.close()


def test_a_memory_limit_holds(start: Start) -> None:
    with pytest.raises(EngineCrash, match="MemoryError"):
        start("input(); x = bytearray(10**9); print()", address_space=500_000_000).ask(b"x", 10)


def test_closing_ends_what_the_program_started(start: Start) -> None:
    program = "import subprocess; p = subprocess.Popen(['sleep', '600']); input(); print(p.pid, flush=True); input()"
    process = start(program)
    child = int(process.ask(b"", 10))
    process.close()
    assert _gone(child)


def _gone(pid: int) -> bool:
    for _ in range(100):
        with suppress(FileNotFoundError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                time.sleep(0.05)
                continue
        return True
    return False


BURNS = """
import os, sys
for line in sys.stdin:
    if os.fork() == 0:
        burnt = sum(number * number for number in range(3_000_000))
        os._exit(0)
    os.wait()
    print(flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_the_cpu_of_what_a_program_starts_is_counted_also_after_its_end(start: Start) -> None:
    process = start(BURNS)
    before = process.count_cpu()
    process.ask(b"", 60)
    burnt = process.count_cpu() - before
    assert 0.05 < burnt < 30
    process.close()
    assert process.count_cpu() >= before + burnt


# --- messages over pipes, from a process that writes them in its own way

StartServer = Callable[[str], MessageProcess]


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[StartServer]:
    running: list[MessageProcess] = []

    def start(code: str) -> MessageProcess:
        code = f"import sys, time\nout = sys.stdout.buffer\n{code}\nout.flush(); sys.stdin.read()"
        running.append(MessageProcess([sys.executable, "-c", code], cwd=tmp_path, environment={"PATH": os.defpath}))
        return running[-1]

    yield start
    for each in running:
        each.close()


def received(wire: MessageProcess) -> bytes | None:
    return wire.receive(time.monotonic() + 20)


def test_messages_are_told_apart_however_they_arrive(start_server: StartServer) -> None:
    wire = start_server(
        "out.write(b'content-LENGTH : 2\\r\\nContent-Type: x\\r\\n\\r\\n{}')\n"
        "out.write(b'Content-Length: 4\\r\\n\\r\\n[1'); out.flush()\n"
        "time.sleep(0.2); out.write(b'2]')"
    )
    assert [received(wire), received(wire)] == [b"{}", b"[12]"]


def test_a_line_before_the_first_header_is_no_trouble_and_what_has_no_length_is(start_server: StartServer) -> None:
    assert received(start_server("out.write(b'Starting\\nContent-Length: 2\\r\\n\\r\\n{}')")) == b"{}"
    for junk in ("b'no header\\r\\n\\r\\n'", "b'x' * 9000", "b'Content-Length: 999999999999\\r\\n\\r\\n'"):
        with pytest.raises(EngineMisbehaved, match=r"Content-Length|something other than a message"):
            received(start_server(f"out.write({junk})"))


def test_nothing_by_the_deadline_is_no_message_and_an_end_is_a_crash(start_server: StartServer) -> None:
    assert start_server("").receive(time.monotonic() + 0.1) is None
    with pytest.raises(EngineCrash, match="exit code 3"):
        received(start_server("sys.exit(3)"))


def test_what_is_sent_arrives_whole_though_it_is_larger_than_a_pipe(start_server: StartServer) -> None:
    wire = start_server(
        "got = sys.stdin.buffer.read(3_000_025); length = b'%d' % len(got)\n"
        "out.write(b'Content-Length: %d\\r\\n\\r\\n%b' % (len(length), length))"
    )
    wire.send(b"x" * 3_000_000)
    assert received(wire) == b"3000025"
