"""The log of one file, in parts, and what it counts."""

from __future__ import annotations

import json
from pathlib import Path

from ci_eval.core.logs.writing import Log
from tests.logs.sessions import ORIGIN, logged


def test_a_part_is_counted_once_it_is_whole(tmp_path: Path) -> None:
    log = Log(tmp_path, "a.py", ORIGIN, ["jsonl", "jetbrains"])
    log.add(logged(selected=True))
    log.add(logged())
    assert not (tmp_path / "a.py.counts.json").exists()
    log.close()
    counts = json.loads((tmp_path / "a.py.counts.json").read_text())
    assert [counts[name] for name in ("sessions", "selected", "queries", "rows", "expected")] == [2, 1, 4, 8, 2]
    assert counts["kinds"] == {"function": {"rows": 4, "expected": 0}, "variable": {"rows": 4, "expected": 2}}
    assert len(list(tmp_path.iterdir())) == 3
