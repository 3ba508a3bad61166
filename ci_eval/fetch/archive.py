"""Unpack untrusted archives. Only plain files and folders are written, below one target folder and within limits. If an
archive is refused, nothing is kept."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import posixpath
import re
import shutil
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, cast

import msgspec

from ci_eval.core.base.errors import ArchiveError

MiB = 1 << 20
CHUNK = 1 << 16
MAX_HEADER = 4 * MiB
MAX_NAME, MAX_PATH, MAX_LINK = 255, 1024, 4096
BROKEN = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    OSError, EOFError, ValueError, LookupError, ArithmeticError, RuntimeError,
)  # fmt: skip
"""The exceptions that the standard library raises on damaged archives. `RuntimeError` includes RecursionError and
NotImplementedError."""

DECOMPRESSORS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file, mode="rb"),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
}
"""The reader of a compressed file, by the file's first bytes."""

Kind = Literal["file", "folder", "symlink", "hardlink", "other"]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of unpacking an archive. Sizes are in bytes."""

    entries: int = 200_000
    """The limit of entries: members, and the folders that are created for them."""
    file_bytes: int = 512 * MiB
    total_bytes: int = 4096 * MiB
    ratio: float = 200.0
    """The largest ratio of unpacked to packed size. It is checked once more than `ratio_from` bytes are unpacked."""
    ratio_from: int = 16 * MiB


class _Member(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    kind: Kind
    executable: bool
    link: str
    body: IO[bytes] | None


def unpack(archive: Path, target: Path, limits: Limits | None = None) -> None:
    """Unpack a .zip (.whl, .jar) or .tar (plain, .gz, .bz2, .xz) into the new folder `target`.

    The format is recognized by the first bytes, not by the name. `target` is created complete or not at all. Links are
    never written: symbolic links that stay inside are skipped, hard links inside become copies, and an archive with a
    link that leads outside is refused. `.git` is skipped everywhere. Raises ArchiveError.
    """
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise ArchiveError(f"Could not unpack {archive.name}: {target} exists. Remove it, or name another folder.")
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        writer = _Writer(folder, archive.stat().st_size, limits or Limits())
        for member in _read_members(archive, writer):
            writer.add(member)
        # mkdtemp makes a folder that only its owner may enter.
        folder.chmod(0o755)
        folder.rename(target)
    except ArchiveError as error:
        raise ArchiveError(f"Refused to unpack {archive.name}: {error}. Use another source for it.") from None
    except BROKEN as error:
        raise ArchiveError(
            f"Could not unpack {archive.name}: {str(error) or type(error).__name__}. "
            "It may be damaged: remove it from the cache and run again."
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find_top_folder(folder: Path) -> Path:
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


class _Writer:
    def __init__(self, folder: Path, packed: int, limits: Limits) -> None:
        self.folder, self.packed, self.limits = folder, packed, limits
        self.entries = self.total = 0
        self.folders: set[str] = {""}
        self.files: set[str] = set()
        self.links: set[str] = set()

    def add(self, member: _Member) -> None:
        self.count_entry()
        name = _check_name(member.name)
        if name in self.files or name in self.links or (name in self.folders and member.kind != "folder"):
            raise ArchiveError(f"{name!r} occurs twice")
        if member.kind == "other":
            raise ArchiveError(f"{name!r} is neither a file nor a folder nor a link")
        source = _check_link(name, member) if member.kind in ("symlink", "hardlink") else ""
        # `.git` is skipped: the settings of a repository may name programs to run.
        if ".git" in name.lower().split("/"):
            return
        if member.kind == "folder":
            self.make_folder(name)
        elif member.kind == "file" and member.body is not None:
            self.write(name, member.body, member.executable)
        elif member.kind == "hardlink" and source in self.files:
            with (self.folder / source).open("rb") as body:
                self.write(name, body, executable=False)
        else:
            self.links.add(name)

    def count_entry(self) -> None:
        self.entries += 1
        if self.entries > self.limits.entries:
            raise ArchiveError(f"it has more than {self.limits.entries:,} entries")

    def make_folder(self, name: str) -> None:
        if name in self.folders:
            return
        if name in self.links or name in self.files:
            raise ArchiveError(f"{name!r} is both a folder and something else")
        self.make_folder(posixpath.dirname(name))
        self.count_entry()
        (self.folder / name).mkdir()
        self.folders.add(name)

    def write(self, name: str, body: IO[bytes], executable: bool) -> None:
        self.make_folder(posixpath.dirname(name))
        # If the checks above miss something, O_EXCL still protects existing files, and O_NOFOLLOW follows no link.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        size = 0
        with os.fdopen(os.open(self.folder / name, flags, 0o755 if executable else 0o644), "wb") as file:
            while chunk := body.read(CHUNK):
                size += len(chunk)
                self.total += len(chunk)
                if size > self.limits.file_bytes:
                    raise ArchiveError(f"{name!r} is larger than {self.limits.file_bytes:,} bytes")
                if self.total > self.limits.total_bytes:
                    raise ArchiveError(f"it unpacks to more than {self.limits.total_bytes:,} bytes")
                self.check_ratio(self.total)
                file.write(chunk)
        self.files.add(name)

    def check_ratio(self, unpacked: int) -> None:
        if unpacked > self.limits.ratio_from and unpacked > self.limits.ratio * self.packed:
            raise ArchiveError(f"it unpacks to more than {self.limits.ratio:g} times its size")


def _check_name(name: str) -> str:
    """Return the name without `.` parts. Raises ArchiveError unless the name stays below the target on every system."""
    try:
        encoded = name.encode()
    except UnicodeEncodeError:
        raise ArchiveError(f"the name {name!r} is not UTF-8") from None
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or ".." in parts:
        raise ArchiveError(f"the name {name!r} leads outside")
    if "\\" in name or re.search(r"[\x00-\x1f\x7f]", name):
        raise ArchiveError(f"the name {name!r} contains a backslash or a control character")
    if len(encoded) > MAX_PATH or any(len(part.encode()) > MAX_NAME for part in parts):
        raise ArchiveError(f"the name {name[:60]!r}… is too long")
    return "/".join(parts)


def _check_link(name: str, member: _Member) -> str:
    """Return the name inside the archive that a link points to. Raises ArchiveError if the link points outside."""
    link = member.link
    if not link or link.startswith("/") or re.search(r"[\x00\\]|^[A-Za-z]:", link):
        raise ArchiveError(f"the link {name!r} points to {link!r}, outside")
    # A hard link is relative to the root of the archive, a symbolic link to its own folder.
    start = posixpath.dirname(name) if member.kind == "symlink" else ""
    target = posixpath.normpath(posixpath.join(start, link))
    if target == ".." or target.startswith("../"):
        raise ArchiveError(f"the link {name!r} points to {link!r}, outside")
    return target


def _read_members(archive: Path, writer: _Writer) -> Iterator[_Member]:
    with archive.open("rb") as file:
        # A name may be wrong, so the first bytes tell the format.
        magic = file.read(6)
        file.seek(0)
        # An archive without members begins with PK\5\6.
        if magic[:4] in (b"PK\3\4", b"PK\5\6"):
            with zipfile.ZipFile(file) as bundle:
                yield from _zip_members(bundle)
            return
        decompress = next((opener for start, opener in DECOMPRESSORS.items() if magic.startswith(start)), None)
        with closing(decompress(file) if decompress else file) as stream:
            metered = cast(BinaryIO, _Metered(stream, writer))
            with tarfile.open(fileobj=metered, mode="r:", encoding="utf-8") as tar:
                yield from _tar_members(tar)


class _Metered:
    # tarfile loops or fills memory if a header is forged, so each read is limited, and seeking back is an error.

    def __init__(self, stream: IO[bytes], writer: _Writer) -> None:
        self.stream, self.writer = stream, writer
        self.end = 2 * writer.limits.total_bytes + MAX_HEADER

    def tell(self) -> int:
        return self.stream.tell()

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= MAX_HEADER:
            raise ArchiveError("a header in it has an impossible size")
        position = self.tell() + size
        if position > self.end:
            raise ArchiveError(f"it unpacks to more than {self.end:,} bytes")
        self.writer.check_ratio(position)
        return self.stream.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET or offset < self.tell():
            raise ArchiveError("a header in it has an impossible size")
        while (ahead := offset - self.tell()) > 0 and self.read(min(ahead, CHUNK)):
            pass
        return self.tell()


def _tar_members(tar: tarfile.TarFile) -> Iterator[_Member]:
    while (info := tar.next()) is not None:
        if info.size < 0:
            raise ArchiveError("a header in it has an impossible size")
        # tarfile keeps all members in a list. For a long archive, the list would fill memory.
        tar.members.clear()  # type: ignore[attr-defined]
        kinds: tuple[tuple[bool, Kind], ...] = (
            (info.isreg(), "file"), (info.isdir(), "folder"), (info.issym(), "symlink"), (info.islnk(), "hardlink"),
        )  # fmt: skip
        kind = next((kind for matches, kind in kinds if matches), "other")
        body = tar.extractfile(info) if kind == "file" else None
        yield _Member(
            name=info.name, kind=cast(Kind, kind), executable=bool(info.mode & 0o100), link=info.linkname, body=body
        )


def _zip_members(bundle: zipfile.ZipFile) -> Iterator[_Member]:
    for info in bundle.infolist():
        if info.flag_bits & 0x1:
            raise ArchiveError(f"{info.filename!r} is encrypted")
        # For methods other than deflate, zipfile does not limit how much it unpacks at once, which could fill memory.
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveError(f"{info.filename!r} is packed by a method other than deflate")
        mode = info.external_attr >> 16
        kind: Kind = "folder" if info.orig_filename.endswith("/") or stat.S_ISDIR(mode) else "file"
        if stat.S_ISLNK(mode):
            kind = "symlink"
        elif stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            kind = "other"
        with bundle.open(info) as body:
            link = body.read(MAX_LINK).decode("utf-8", "replace") if kind == "symlink" else ""
            # zipfile cuts the name at a NUL, so the original name is checked.
            yield _Member(name=info.orig_filename, kind=kind, executable=bool(mode & 0o100), link=link, body=body)
