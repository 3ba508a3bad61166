"""Programs that are asked a line a question."""

from __future__ import annotations

import base64
import sys
from pathlib import Path

from ci_eval.adapters.driven import DrivenEngine
from ci_eval.adapters.place import Place
from ci_eval.adapters.recipes import System
from ci_eval.contracts import Installation, Query, Surroundings
from ci_eval.model import EngineInfo, Suggestion

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


def test_behind_a_name_may_stand_what_it_is_sorted_by(tmp_path: Path) -> None:
    surroundings = Surroundings(
        root=tmp_path, language="java", keywords=frozenset(), cache=tmp_path, timeout=20, memory=0, confine="off"
    )
    running = ENGINE.start(Installation(info=EngineInfo(name="driven", version=""), folder=tmp_path), surroundings)
    try:
        running.open("A.java", "")
        answer = running.complete(Query(offset=0, prefix="", expected=""))
    finally:
        running.close()
    assert answer.suggestions == [Suggestion(text="size", sort_text="03"), Suggestion(text="length")]
