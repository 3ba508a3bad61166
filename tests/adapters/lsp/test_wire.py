"""Messages over pipes, from a process that writes them in its own way."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ci_eval.core.base.errors import EngineCrash, EngineMisbehaved
from ci_eval.plugins.adapters.lsp.wire import Wire

Start = Callable[[str], Wire]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[Wire] = []

    def start(code: str) -> Wire:
        code = f"import sys, time\nout = sys.stdout.buffer\n{code}\nout.flush(); sys.stdin.read()"
        running.append(Wire([sys.executable, "-c", code], cwd=tmp_path, environment={"PATH": os.defpath}))
        return running[-1]

    yield start
    for each in running:
        each.close()


def received(wire: Wire) -> bytes | None:
    return wire.receive(time.monotonic() + 20)


def test_messages_are_told_apart_however_they_arrive(start: Start) -> None:
    wire = start(
        "out.write(b'content-LENGTH : 2\\r\\nContent-Type: x\\r\\n\\r\\n{}')\n"
        "out.write(b'Content-Length: 4\\r\\n\\r\\n[1'); out.flush()\n"
        "time.sleep(0.2); out.write(b'2]')"
    )
    assert [received(wire), received(wire)] == [b"{}", b"[12]"]


def test_a_line_before_the_first_header_is_no_trouble_and_what_has_no_length_is(start: Start) -> None:
    assert received(start("out.write(b'Starting\\nContent-Length: 2\\r\\n\\r\\n{}')")) == b"{}"
    for junk in ("b'no header\\r\\n\\r\\n'", "b'x' * 9000", "b'Content-Length: 999999999999\\r\\n\\r\\n'"):
        with pytest.raises(EngineMisbehaved, match=r"Content-Length|what is no message"):
            received(start(f"out.write({junk})"))


def test_nothing_by_the_deadline_is_no_message_and_an_end_is_a_crash(start: Start) -> None:
    assert start("").receive(time.monotonic() + 0.1) is None
    with pytest.raises(EngineCrash, match="exit code 3"):
        received(start("sys.exit(3)"))


def test_what_is_sent_arrives_whole_though_it_is_larger_than_a_pipe(start: Start) -> None:
    wire = start(
        "got = sys.stdin.buffer.read(3_000_025); length = b'%d' % len(got)\n"
        "out.write(b'Content-Length: %d\\r\\n\\r\\n%b' % (len(length), length))"
    )
    wire.send(b"x" * 3_000_000, time.monotonic() + 20)
    assert received(wire) == b"3000025"
