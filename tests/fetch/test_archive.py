"""Archives: everything inside the target or nothing at all."""

from __future__ import annotations

import io
import os
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ArchiveError
from ci_eval.fetch.archive import Limits, unpack

Entry = tarfile.TarInfo | tuple[str, bytes]

SMALL = Limits(entries=10, file_bytes=50_000, total_bytes=80_000, ratio=20, ratio_from=10_000)


def special(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def tar(folder: Path, *entries: Entry, mode: str = "w:gz") -> Path:
    path = folder / "archive"
    with tarfile.open(path, mode, encoding="utf-8") as bundle:  # type: ignore[call-overload]
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                bundle.addfile(entry)
            else:
                info = tarfile.TarInfo(entry[0])
                info.size = len(entry[1])
                bundle.addfile(info, io.BytesIO(entry[1]))
    return path


def extended(folder: Path, kind: bytes, **headers: str) -> Path:
    """A tar of two harmless members, the second with these extended headers (pax); `__` stands for `.`."""
    info = special("b", kind, "a" if kind != tarfile.REGTYPE else "")
    info.pax_headers = {name.replace("__", "."): value for name, value in headers.items()}
    return tar(folder, ("a", b"x"), info)


def zipped(folder: Path, *entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    path = folder / "archive"
    with zipfile.ZipFile(path, "w", method) as bundle:
        for name, body in entries:
            bundle.writestr(name, body)
    return path


def zip_link(name: str, mode: int = 0o120777) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def refused(archive: Path, reason: str, limits: Limits = SMALL) -> None:
    """The archive is refused for this reason, and nothing is left of it."""
    target = archive.parent / "below" / "target"
    with pytest.raises(ArchiveError, match=reason):
        unpack(archive, target, limits)
    assert list(target.parent.iterdir()) == []


def names(target: Path) -> list[str]:
    return sorted(path.relative_to(target).as_posix() for path in target.rglob("*"))


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_is_unpacked_whatever_packs_it(tmp_path: Path, mode: str) -> None:
    archive = tar(tmp_path, ("./a/b.txt", b"text"), special("./c", tarfile.DIRTYPE), mode=mode)
    unpack(archive, tmp_path / "target")
    assert names(tmp_path / "target") == ["a", "a/b.txt", "c"]
    assert (tmp_path / "target/a/b.txt").read_bytes() == b"text"


def test_a_zip_is_unpacked(tmp_path: Path) -> None:
    unpack(zipped(tmp_path, ("a/b.txt", b"text"), ("c/", b"")), tmp_path / "target")
    assert names(tmp_path / "target") == ["a", "a/b.txt", "c"]
    assert (tmp_path / "target/a/b.txt").read_bytes() == b"text"


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/evil", "//evil", "C:/evil", "c:evil", "a/.."])
def test_a_name_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    refused(tar(tmp_path, (name, b"x")), "leads outside")
    refused(zipped(tmp_path, (name, b"x")), "leads outside")


@pytest.mark.parametrize("name", ["a\\b", "..\\evil", "a\nb", "a\x1b[31m"])
def test_a_name_with_a_backslash_or_control_character_is_refused(tmp_path: Path, name: str) -> None:
    refused(tar(tmp_path, (name, b"x")), "backslash|control")
    refused(zipped(tmp_path, (name, b"x")), "backslash|control")


def test_a_zip_name_that_hides_behind_a_nul_is_refused(tmp_path: Path) -> None:
    archive = zipped(tmp_path, ("innocentX/../evil", b"x"))
    archive.write_bytes(archive.read_bytes().replace(b"innocentX", b"innocent\0"))
    refused(archive, "leads outside|control|differ")


@pytest.mark.parametrize("name", ["x" * 256, "ä" * 200, "/".join(["long"] * 300)[1:]])
def test_a_name_that_is_too_long_is_refused(tmp_path: Path, name: str) -> None:
    refused(tar(tmp_path, (name, b"x")), "too long")


def test_a_tar_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    refused(tar(tmp_path, (os.fsdecode(b"caf\xe9"), b"x")), "not UTF-8")


def test_an_old_zip_name_that_is_not_utf_8_is_read_as_zip_tools_do(tmp_path: Path) -> None:
    archive = zipped(tmp_path, ("cafX", b"x"))
    archive.write_bytes(archive.read_bytes().replace(b"cafX", b"caf\x82"))
    unpack(archive, tmp_path / "target")
    assert names(tmp_path / "target") == ["café"]


@pytest.mark.parametrize("link", ["/etc/passwd", "../x", "a/../../x", "C:x", "..\\x", ""])
@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE], ids=["symlink", "hardlink"])
def test_a_link_that_leads_outside_has_the_archive_refused(tmp_path: Path, link: str, kind: bytes) -> None:
    refused(tar(tmp_path, special("link", kind, link)), "outside")


def test_a_hard_link_counts_from_the_top_of_the_archive(tmp_path: Path) -> None:
    refused(tar(tmp_path, special("deep/down/link", tarfile.LNKTYPE, "../x")), "outside")


@pytest.mark.parametrize("link", [b"/etc/passwd", b"../x"])
def test_a_link_in_a_zip_that_leads_outside_has_it_refused(tmp_path: Path, link: bytes) -> None:
    refused(zipped(tmp_path, (zip_link("link"), link)), "outside")


def test_a_symbolic_link_inside_is_left_out(tmp_path: Path) -> None:
    unpack(tar(tmp_path, ("d/a", b"x"), special("d/e/up", tarfile.SYMTYPE, "../a")), tmp_path / "one")
    unpack(zipped(tmp_path, ("d/a", b"x"), (zip_link("d/up"), b"a")), tmp_path / "two")
    assert names(tmp_path / "one") == names(tmp_path / "two") == ["d", "d/a"]


def test_a_hard_link_inside_becomes_a_copy(tmp_path: Path) -> None:
    unpack(tar(tmp_path, ("a", b"x"), special("b", tarfile.LNKTYPE, "a")), tmp_path / "target")
    assert (tmp_path / "target/b").read_bytes() == b"x"
    assert (tmp_path / "target/b").stat().st_nlink == 1


def test_copies_of_hard_links_count_against_the_limit(tmp_path: Path) -> None:
    links = [special(f"b{i}", tarfile.LNKTYPE, "a") for i in range(5)]
    refused(tar(tmp_path, ("a", os.urandom(30_000)), *links), "80,000 bytes")


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    refused(tar(tmp_path, special("d", tarfile.SYMTYPE, "e"), ("d/a", b"x")), "a folder and something else")


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_a_device_is_refused(tmp_path: Path, kind: bytes) -> None:
    refused(tar(tmp_path, special("device", kind)), "neither a file")


def test_a_device_in_a_zip_is_refused(tmp_path: Path) -> None:
    refused(zipped(tmp_path, (zip_link("device", 0o020666), b"")), "neither a file")


def test_a_name_that_comes_twice_is_refused(tmp_path: Path) -> None:
    refused(tar(tmp_path, ("a", b"1"), ("./a", b"2")), "twice")
    refused(zipped(tmp_path, ("a", b"1"), ("./a", b"2")), "twice")


def test_a_folder_may_come_twice(tmp_path: Path) -> None:
    folder = special("d", tarfile.DIRTYPE)
    unpack(tar(tmp_path, ("d/a", b"1"), folder, folder), tmp_path / "target")
    assert names(tmp_path / "target") == ["d", "d/a"]


def test_a_file_that_is_also_a_folder_is_refused(tmp_path: Path) -> None:
    refused(tar(tmp_path, ("a", b"1"), ("a/b", b"2")), "a folder and something else")


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    archive = zipped(tmp_path, ("a", b"text"))
    data = bytearray(archive.read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    archive.write_bytes(data)
    refused(archive, "encrypted")


def test_a_zip_packed_by_a_method_that_cannot_be_metered_is_refused(tmp_path: Path) -> None:
    refused(zipped(tmp_path, ("a", b"text"), method=zipfile.ZIP_BZIP2), "other than deflate")


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    refused(tar(tmp_path, ("a", os.urandom(60_000))), "larger than 50,000")
    refused(zipped(tmp_path, ("a", os.urandom(60_000))), "larger than 50,000")


def test_too_much_in_all_is_refused(tmp_path: Path) -> None:
    files = [(f"a{i}", os.urandom(30_000)) for i in range(3)]
    refused(tar(tmp_path, *files), "more than 80,000 bytes")
    refused(zipped(tmp_path, *files), "more than 80,000 bytes")


def test_a_bomb_is_known_by_its_ratio(tmp_path: Path) -> None:
    refused(tar(tmp_path, ("a", bytes(40_000))), "20 times")
    refused(zipped(tmp_path, ("a", bytes(40_000))), "20 times")


def test_a_bomb_in_what_is_left_out_is_one_too(tmp_path: Path) -> None:
    refused(tar(tmp_path, (".git/pack", bytes(1_000_000)), ("b", b"")), "20 times")


def test_too_many_entries_are_refused(tmp_path: Path) -> None:
    files = [(f"a{i}", b"") for i in range(11)]
    refused(tar(tmp_path, *files), "more than 10 entries")
    refused(zipped(tmp_path, *files), "more than 10 entries")


def test_the_folders_of_a_deep_name_count_as_entries(tmp_path: Path) -> None:
    refused(tar(tmp_path, ("/".join("abcdefghijkl"), b"")), "more than 10 entries")


def test_a_size_that_lies_in_a_zip_is_found_out(tmp_path: Path) -> None:
    archive = zipped(tmp_path, ("a", os.urandom(30_000)), method=zipfile.ZIP_STORED)
    archive.write_bytes(archive.read_bytes().replace(struct.pack("<L", 30_000), struct.pack("<L", 10)))
    refused(archive, "Bad CRC-32")


def test_git_folders_are_left_out_wherever_they_are(tmp_path: Path) -> None:
    entries = [(".git/config", b"x"), ("a/.GIT/config", b"x"), ("b/.git", b"gitdir: x"), (".gitignore", b"x")]
    unpack(tar(tmp_path, *entries), tmp_path / "one")
    unpack(zipped(tmp_path, *entries), tmp_path / "two")
    assert names(tmp_path / "one") == names(tmp_path / "two") == [".gitignore"]


def test_only_the_right_to_execute_is_taken_over(tmp_path: Path) -> None:
    tool = tarfile.TarInfo("tool")
    tool.mode = 0o6777
    unpack(tar(tmp_path, tool, ("text", b"x")), tmp_path / "target")
    assert (tmp_path / "target/tool").stat().st_mode & 0o7100 == 0o100
    assert (tmp_path / "target/text").stat().st_mode & 0o7111 == 0


@pytest.mark.parametrize("size", [b"\xff" + b"\xff" * 11, b"\x80" + b"\x7f" * 11], ids=["negative", "huge"])
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, b"?"])
def test_a_forged_size_in_a_tar_header_ends_at_once(tmp_path: Path, size: bytes, kind: bytes) -> None:
    header = bytearray(special("a", kind).tobuf(tarfile.GNU_FORMAT))
    header[124:136] = size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header[:512])
    (tmp_path / "archive").write_bytes(header + bytes(2048))
    refused(tmp_path / "archive", "impossible size|header|bytes|larger|unpack")


def test_a_chain_of_extended_headers_ends_in_an_error(tmp_path: Path) -> None:
    header = special("a", tarfile.XHDTYPE).tobuf(tarfile.GNU_FORMAT)
    (tmp_path / "archive").write_bytes(header * 5000)
    refused(tmp_path / "archive", "Could not unpack")


@pytest.mark.parametrize("data", [b"", b"hello", b"PK\3\4 nothing", b"\x1f\x8b\x08nothing", b"BZh9nothing"])
def test_what_is_no_archive_is_an_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "archive").write_bytes(data)
    refused(tmp_path / "archive", "Could not unpack archive")


def test_an_archive_that_stops_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    archive = tar(tmp_path, ("a", os.urandom(20_000)), ("b", os.urandom(20_000)))
    archive.write_bytes(archive.read_bytes()[:30_000])
    refused(archive, "Could not unpack")


def test_a_target_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "target/mine").touch()
    with pytest.raises(ArchiveError, match="exists"):
        unpack(tar(tmp_path, ("a", b"")), tmp_path / "target")
    assert names(tmp_path / "target") == ["mine"]


@pytest.mark.parametrize(
    ("kind", "headers", "reason"),
    [
        (tarfile.REGTYPE, {"path": "../evil"}, "leads outside"),
        (tarfile.REGTYPE, {"path": "/evil"}, "leads outside"),
        (tarfile.REGTYPE, {"path": "a"}, "occurs twice"),
        (tarfile.REGTYPE, {"path": "a/b"}, "is both a folder and something else"),
        (tarfile.REGTYPE, {"GNU__sparse__name": "../evil"}, "leads outside"),
        (tarfile.REGTYPE, {"GNU__sparse__name": "c", "GNU__sparse__size": "9" * 12, "GNU__sparse__map": "0,1"}, "."),
        (tarfile.REGTYPE, {"size": "-5"}, "impossible size"),
        (tarfile.REGTYPE, {"size": "9" * 12}, "."),
        (tarfile.SYMTYPE, {"linkpath": "/etc/passwd"}, "outside"),
        (tarfile.LNKTYPE, {"linkpath": "../../etc/passwd"}, "outside"),
    ],
)
def test_an_extended_header_gets_nothing_past_the_checks(
    tmp_path: Path, kind: bytes, headers: dict[str, str], reason: str
) -> None:
    refused(extended(tmp_path, kind, **headers), reason)
