"""How actions and sessions are packed, and what becomes of files that are damaged or made to harm."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path

import msgspec
import pytest

from ci_eval.core.base import stored
from ci_eval.core.base.errors import WorkspaceError
from tests.bombs import zeros
from tests.packed import unpacked

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def test_a_line_longer_than_any_session_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "RATIO", 10_000)
    (tmp_path / "x.gz").write_bytes(zeros(70, every=70_000_000))
    with pytest.raises(WorkspaceError, match="a line of more than 64,000,000 bytes"):
        list(stored.lines(tmp_path / "x.gz"))


def test_honest_lists_of_suggestions_are_packed_to_far_less_than_a_bomb(tmp_path: Path) -> None:
    names = [{"text": f"name{number}", "kind": "words"} for number in range(1000)]
    lines = [msgspec.json.encode({"id": f"{number * 7919:016x}", "suggestions": names}) for number in range(1000)]
    for name, packed in (("x.gz", gzip.compress(b"\n".join(lines), 1)), ("x.zst", stored.pack([b"\n".join(lines)]))):
        (tmp_path / name).write_bytes(packed)
        assert len(list(stored.lines(tmp_path / name))) == 1000


LINES = [b"%d\n" % number for number in range(50_000)]


def packed(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_what_is_packed_is_read_line_by_line(tmp_path: Path) -> None:
    path = packed(tmp_path / "x.zst", stored.pack(LINES))
    assert list(stored.lines(path)) == LINES
    assert unpacked(path) == b"".join(LINES)


def test_the_bytes_depend_on_the_lines_alone() -> None:
    assert stored.pack(LINES) == stored.pack([b"".join(LINES)])


@pytest.mark.parametrize("left", [0, 10, 5_000, -1])
def test_a_file_that_was_cut_off_is_damaged(tmp_path: Path, left: int) -> None:
    path = packed(tmp_path / "x.zst", stored.pack(LINES)[:left])
    with pytest.raises(WorkspaceError, match="is damaged"):
        list(stored.lines(path))


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    whole = bytearray(stored.pack([os.urandom(1000)]))
    whole[500] ^= 1
    with pytest.raises(WorkspaceError, match="is damaged"):
        list(stored.lines(packed(tmp_path / "x.zst", bytes(whole))))


def test_a_file_that_asks_for_much_memory_is_refused(tmp_path: Path) -> None:
    options: dict[int, int] = {zstd.CompressionParameter.window_log: 27}
    with pytest.raises(WorkspaceError, match="is damaged"):
        list(stored.lines(packed(tmp_path / "x.zst", zstd.compress(os.urandom(20_000_000), options=options))))
