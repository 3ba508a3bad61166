"""Files that somebody else may have written, within limits."""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec
import pytest

from ci_eval import stored
from ci_eval.errors import WorkspaceError
from tests.bombs import zeros


def test_a_line_longer_than_any_session_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "RATIO", 10_000)
    (tmp_path / "x.gz").write_bytes(zeros(70, every=70_000_000))
    with pytest.raises(WorkspaceError, match="a line of more than 64,000,000 bytes"):
        list(stored.lines(tmp_path / "x.gz"))


def test_honest_lists_of_suggestions_are_packed_to_far_less_than_a_bomb(tmp_path: Path) -> None:
    names = [{"text": f"name{number}", "kind": "words"} for number in range(1000)]
    lines = [msgspec.json.encode({"id": f"{number * 7919:016x}", "suggestions": names}) for number in range(1000)]
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"\n".join(lines), 1))
    assert len(list(stored.lines(tmp_path / "x.gz"))) == 1000
