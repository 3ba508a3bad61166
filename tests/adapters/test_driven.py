"""Programs that are asked a line a question."""

from __future__ import annotations

import base64
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import EngineTimeout
from ci_eval.core.contracts import Answer, Installation, Query, Surroundings
from ci_eval.core.model import EngineInfo, Suggestion
from ci_eval.plugins.adapters.driven import DrivenEngine
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import System

NAMES = base64.b64encode(b"size()\t03\nlength\n->").decode()


def command(_place: Place) -> list[str]:
    return [sys.executable, "-c", f"while input(): print('1.5 {NAMES}', flush=True)"]


ENGINE = DrivenEngine(
    name="driven",
    summary="",
    languages=None,
    licence="",
    recipe=System(program="python3", hint=""),
    command=command,
)


def asked(engine: DrivenEngine, folder: Path, timeout: float = 20) -> Answer:
    """What it answers to its first question."""
    surroundings = Surroundings(
        root=folder, language="java", keywords=frozenset(), cache=folder, timeout=timeout, memory=0, confine="off"
    )
    running = engine.start(Installation(info=EngineInfo(name="driven", version=""), folder=folder), surroundings)
    try:
        running.open("A.java", "")
        return running.complete(Query(offset=0, prefix="", expected=""))
    finally:
        running.close()


def saying(line: str, after: float = 0.0) -> DrivenEngine:
    """One that says that line, so many seconds after the question."""
    program = f"import time\nwhile input(): time.sleep({after}); print({line!r}, flush=True)"
    return replace(ENGINE, command=lambda _: [sys.executable, "-c", program])


def test_behind_a_name_may_stand_what_it_is_sorted_by(tmp_path: Path) -> None:
    assert asked(ENGINE, tmp_path).suggestions == [Suggestion(text="size", sort_text="03"), Suggestion(text="length")]


def test_a_long_list_is_read_whole(tmp_path: Path) -> None:
    names = [f"name{number}" for number in range(500)]
    engine = saying(f"1.5 {base64.b64encode(chr(10).join(names).encode()).decode()}")
    assert [suggestion.text for suggestion in asked(engine, tmp_path).suggestions] == names


def test_what_a_question_takes_beside_the_completion_has_time_of_its_own(tmp_path: Path) -> None:
    slow = saying(f"1.5 {NAMES}", after=0.5)
    assert asked(replace(slow, overhead=20), tmp_path, timeout=0.1).latency == 1.5
    with pytest.raises(EngineTimeout):
        asked(slow, tmp_path, timeout=0.1)


def test_a_completion_that_took_too_long_by_its_own_clock_is_late(tmp_path: Path) -> None:
    with pytest.raises(EngineTimeout, match=r"took 2\.5 s"):
        asked(replace(saying(f"2500 {NAMES}"), overhead=20), tmp_path, timeout=1)
