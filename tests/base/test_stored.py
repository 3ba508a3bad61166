"""How actions and sessions are packed, and what becomes of files that are damaged or made to harm."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import msgspec
import pytest

from ci_eval.core.base import stored
from ci_eval.core.base.errors import WorkspaceError
from tests.bombs import packed_zeros
from tests.packed import unpacked

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def test_a_line_longer_than_any_session_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "RATIO_OF_ZSTD", 100_000)
    (tmp_path / "x.zst").write_bytes(packed_zeros(70, every=70_000_000))
    with pytest.raises(WorkspaceError, match="a line of more than 64,000,000 bytes"):
        list(stored.lines(tmp_path / "x.zst"))


def test_honest_lists_of_suggestions_are_packed_to_far_less_than_a_bomb(tmp_path: Path) -> None:
    names = [{"text": f"name{number}", "kind": "words"} for number in range(1000)]
    lines = [msgspec.json.encode({"id": f"{number * 7919:016x}", "suggestions": names}) for number in range(1000)]
    (tmp_path / "x.zst").write_bytes(stored.pack([b"\n".join(lines)]))
    assert len(list(stored.lines(tmp_path / "x.zst"))) == 1000


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


def archived(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> Path:
    monkeypatch.setattr(stored, "FEWEST_ARCHIVED", 2)
    for name in names:
        packed(folder / name, stored.pack([name.encode() * 100]))
    stored.archive(folder)
    return folder


def test_many_files_become_one_and_each_is_read_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archived(tmp_path, monkeypatch, "a.zst", "b.zst", "c.zst")
    assert [path.name for path in tmp_path.iterdir()] == ["all.zip"]
    assert unpacked_by_path(tmp_path, "b.zst") == [b"b.zst" * 100]
    assert stored.exists(tmp_path / "c.zst")
    assert not stored.exists(tmp_path / "d.zst")
    with pytest.raises(WorkspaceError, match="cannot read"):
        list(stored.lines(tmp_path / "d.zst"))
    with zipfile.ZipFile(tmp_path / "all.zip") as whole:
        assert whole.testzip() is None


def unpacked_by_path(folder: Path, name: str) -> list[bytes]:
    return list(stored.lines(folder / name))


def test_a_file_next_to_the_archive_replaces_the_one_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archived(tmp_path, monkeypatch, "a.zst", "b.zst")
    size = stored.size(tmp_path / "a.zst")
    packed(tmp_path / "a.zst", stored.pack([b"new"]))
    assert unpacked_by_path(tmp_path, "a.zst") == [b"new"]
    stored.archive(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["all.zip"]
    assert unpacked_by_path(tmp_path, "a.zst") == [b"new"]
    assert unpacked_by_path(tmp_path, "b.zst") == [b"b.zst" * 100]
    assert stored.size(tmp_path / "a.zst") != size
    stored.unarchive(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zst", "b.zst"]
    assert unpacked_by_path(tmp_path, "a.zst") == [b"new"]


def test_few_files_stay_as_they_are_and_equal_files_make_equal_archives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("one", "two", "three"):
        (tmp_path / folder).mkdir()
    archived(tmp_path / "one", monkeypatch, "a.zst", "b.zst")
    archived(tmp_path / "two", monkeypatch, "b.zst", "a.zst")
    assert (tmp_path / "one" / "all.zip").read_bytes() == (tmp_path / "two" / "all.zip").read_bytes()
    archived(tmp_path / "three", monkeypatch, "a.zst")
    assert [path.name for path in (tmp_path / "three").iterdir()] == ["a.zst"]


@pytest.mark.parametrize("left", [0, 10, 100])
def test_an_archive_that_was_cut_off_is_damaged(left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = archived(tmp_path, monkeypatch, "a.zst", "b.zst") / "all.zip"
    whole.write_bytes(whole.read_bytes()[:left])
    with pytest.raises(WorkspaceError, match=r"all\.zip is damaged"):
        list(stored.lines(tmp_path / "a.zst"))


@pytest.mark.parametrize("name", ["../a.zst", "/etc/a.zst", "b/../../a.zst"])
def test_an_archive_with_a_path_is_refused(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as whole:
        whole.writestr(name, stored.pack([b"x"]))
    with pytest.raises(WorkspaceError, match="not a packed file"):
        stored.exists(tmp_path / "a.zst")


@pytest.mark.parametrize(
    ("of_directory", "value"),
    [(20, 1), (24, 2**31), (42, 2**32 - 2), (10, 8)],
    ids=["packed size", "size", "place", "compressed"],
)
def test_an_archive_with_an_impossible_member_is_refused(
    of_directory: int, value: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = archived(tmp_path, monkeypatch, "a.zst", "b.zst") / "all.zip"
    data = bytearray(whole.read_bytes())
    # A field of the first member in the central directory.
    begin = data.index(b"PK\x01\x02") + of_directory
    width = 2 if of_directory == 10 else 4
    data[begin : begin + width] = value.to_bytes(width, "little")
    whole.write_bytes(bytes(data))
    with pytest.raises(WorkspaceError, match=r"not a packed file|is damaged"):
        list(stored.lines(tmp_path / "a.zst"))


def test_a_name_that_no_file_system_has_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as whole:
        whole.writestr("a" * 300, stored.pack([b"x"]))
    with pytest.raises(WorkspaceError, match="not a packed file"):
        stored.exists(tmp_path / "a.zst")


def test_a_link_in_place_of_an_archive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    archived(tmp_path, monkeypatch, "a.zst", "b.zst")
    (tmp_path / "in" / "all.zip").symlink_to(tmp_path / "all.zip")
    with pytest.raises(WorkspaceError, match="symbolic link"):
        list(stored.lines(tmp_path / "in" / "a.zst"))
