"""Compression of stored files, and safe reading of untrusted ones: only regular files inside their folder, with limits
that are far above the sizes of files that ci-eval writes.

Actions and sessions are compressed by zstd, those of the JetBrains plugin by gzip. Files are untrusted because a
comparison may read artifacts of other jobs and of forks.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import WorkspaceError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

T = TypeVar("T")

SUFFIX = ".zst"
GZIP = ".gz"

ARCHIVE = "all.zip"
"""The name of the archive of a folder's files. A file next to the archive replaces the member with the same name."""
LONGEST_NAME = 255
"""The largest number of bytes of a name. Most file systems have this limit."""
FEWEST_ARCHIVED = 50
"""The smallest number of files for which a folder is archived."""

DAMAGED = (EOFError, zlib.error, zstd.ZstdError)
"""The exceptions, besides OSError, that reading a damaged file may raise."""

LEVEL = 3
"""The compression level. For sessions with long lists, level 1 makes files 1.4 times as large and takes a third less
time; level 6 makes files smaller and takes longer."""
LEVEL_OF_ACTIONS = 1
"""The compression level for actions. Compared with level 3, files have 0.92 times the size and take 25 % less time."""
# A zstd frame declares the memory that its reader must allocate, so a hostile file could demand gigabytes.
_LIMITS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
"""The limit on a reader's memory is 2 ** 23 bytes. Files written by ci-eval need 2 MB."""
_BLOCK = 1 << 20

MANIFEST = 16_000_000
"""The size limit, in bytes, of a manifest of a run or of logs, and of a FileError; 1,000 merged projects need 1 MB."""
FIGURES = 256_000_000
"""The size limit of a metrics.json, in bytes; 100,000 files with all metrics under one filter need 60 MB."""
LINE = 64_000_000
"""The size limit of a session, in bytes: 1,000 suggestions of 150 bytes at each of 400 prefixes need 60 MB."""
ACTIONS = 2_000_000_000
"""The size limit of the unpacked actions of one file, in bytes. It allows a session at every prefix of each token in a
source file of 20 MB; sessions at three prefixes need a third of that."""
UNPACKED = 4_000_000_000
RATIO = 250
"""The largest allowed ratio of unpacked to packed size for gzip, logs and models. Files usually have at most 100."""
RATIO_OF_ZSTD = 5_000
"""The same for zstd. Files usually have 100, but 2,000 if all sessions have the same thousand suggestions."""
ANY_RATIO = 16_000_000
"""Any ratio is allowed up to this unpacked size in bytes, since a source file may be 1 MB of the same character."""
MODEL = 256_000_000
"""The size limit of a ranking model, in bytes; a hundred trees need 0.3 MB."""
NAMES = 1_000_000_000
"""The size limit of the names of a project, in bytes; ten million lines need some hundred MB."""


class Packer:
    def __init__(self, level: int = LEVEL) -> None:
        parameter = zstd.CompressionParameter
        # zstd adds no checksum by default, so that damage could go unnoticed.
        self._compressor = zstd.ZstdCompressor(options={parameter.compression_level: level, parameter.checksum_flag: 1})
        self._packed: list[bytes] = []

    def add(self, line: bytes) -> None:
        if packed := self._compressor.compress(line):
            self._packed.append(packed)

    def close(self) -> bytes:
        self._packed.append(self._compressor.flush())
        return b"".join(self._packed)


def pack(lines: Iterable[bytes], level: int = LEVEL) -> bytes:
    packer = Packer(level)
    for line in lines:
        packer.add(line)
    return packer.close()


def unpacking(file: BinaryIO, path: Path) -> io.BufferedIOBase:
    """Return a stream of the decompressed content of `file`, which is open at `path`. If the file is damaged, reading
    raises OSError or one of DAMAGED."""
    if path.suffix == GZIP:
        return gzip.GzipFile(fileobj=file)
    return io.BufferedReader(zstd.ZstdFile(file, options=_LIMITS), _BLOCK)


def refuse_links(folder: Path) -> None:
    """Raise WorkspaceError unless everything below the folder is a regular file or a folder, so that no link leads
    outside and no pipe blocks a reader. The folder itself may be a link."""
    waiting = [str(folder)]
    try:
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif not entry.is_file(follow_symlinks=False):
                        raise WorkspaceError(_describe_odd(Path(entry.path), is_link=entry.is_symlink()))
    except OSError as error:
        raise WorkspaceError(f"cannot list {folder}: {error.strerror}") from error


def _describe_odd(path: Path, *, is_link: bool) -> str:
    kind = "a symbolic link" if is_link else "neither a file nor a folder"
    return f"{path} is {kind}, which ci-eval never writes: remove it, or fetch the artifact again"


def inside(path: str) -> str:
    """Return the path unchanged. Raises ValueError unless it stays below the folder that it is relative to."""
    if path.startswith("/") or "\0" in path or ".." in path.split("/"):
        raise ValueError(f"{path[:100]!r} is not the path of a file inside its folder")
    return path


def archived(folder: Path) -> Mapping[str, zipfile.ZipInfo]:
    """Return name → member of a folder's archive; {} if there is none. Raises WorkspaceError if it is damaged."""
    try:
        state = (folder / ARCHIVE).lstat()
    except OSError:
        return {}
    return _read_members(folder / ARCHIVE, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=128)
def _read_members(path: Path, _time: int, size: int) -> Mapping[str, zipfile.ZipInfo]:
    try:
        with open_regular_file(path) as file, zipfile.ZipFile(file) as archive:
            members = {member.filename: member for member in archive.infolist()}
    except (OSError, ValueError, NotImplementedError, struct.error, zipfile.BadZipFile) as error:
        raise WorkspaceError(f"{path} is damaged: {error}; evaluate again") from error
    for name, member in members.items():
        # `archive` writes no other members, but a hostile archive may contain them.
        if (
            "/" in name
            or "\\" in name
            or len(name.encode("utf-8", "replace")) > LONGEST_NAME
            or member.compress_type != zipfile.ZIP_STORED
            or member.compress_size != member.file_size
            or not 0 <= member.header_offset <= size - member.file_size
        ):
            raise WorkspaceError(f"{path} holds {name[:100]!r}, which is not a packed file: evaluate again")
    return members


def archive(folder: Path) -> None:
    """Move the packed files of a folder into its archive if there are many. Readers can find all files meanwhile."""
    paths = list(folder.glob(f"*{SUFFIX}"))
    names = sorted(archived(folder).keys() | {path.name for path in paths})
    if not paths or len(names) < FEWEST_ARCHIVED:
        return
    with atomic.replacing(folder / ARCHIVE) as partial, zipfile.ZipFile(partial, "w") as target:
        for name in names:
            with open_regular_file(folder / name) as file:
                # ZipInfo has a constant date by default, so that equal files make equal archives.
                target.writestr(zipfile.ZipInfo(name), file.read())
    with atomic.writing(folder):
        for path in paths:
            path.unlink()


def unarchive(folder: Path) -> None:
    for name in archived(folder):
        copy(folder / name, folder / name)
    (folder / ARCHIVE).unlink(missing_ok=True)


def exists(path: Path) -> bool:
    return path.exists() or path.name in archived(path.parent)


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else archived(path.parent)[path.name].file_size


def copy(source: Path, target: Path) -> None:
    """Copy a regular file, which may be in its folder's archive. Raises WorkspaceError."""
    with open_regular_file(source) as file:
        atomic.write(target, file.read())


def open_regular_file(path: Path) -> BinaryIO:
    """Open a regular file, which may be in its folder's archive, for reading. Raises WorkspaceError, also for links and
    for pipes, whose writer could keep the reader waiting."""
    try:
        # O_NONBLOCK avoids waiting for the writer of a pipe; O_NOFOLLOW rejects links.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and (member := archived(path.parent).get(path.name)):
            # Skip the local header of the member by hand, since ZipFile would read the list of all members each time.
            with open_regular_file(path.parent / ARCHIVE) as file:
                file.seek(member.header_offset + 26)
                file.seek(sum(struct.unpack("<HH", file.read(4).ljust(4, b"\0"))), os.SEEK_CUR)
                return io.BytesIO(file.read(member.file_size))
        raise WorkspaceError(
            _describe_odd(path, is_link=True) if path.is_symlink() else f"cannot read {path}: {error.strerror}"
        ) from error
    # Check the descriptor, since another file may be at the path now.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise WorkspaceError(_describe_odd(path, is_link=False))
    return os.fdopen(descriptor, "rb")


def hash_file(path: Path) -> bytes:
    """Return the SHA-256 of a regular file. Raises WorkspaceError."""
    digest = hashlib.sha256()
    with open_regular_file(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.digest()


def read(path: Path, most: int) -> bytes:
    """Return the content of a regular file. Raises WorkspaceError, also if it has more than `most` bytes."""
    with open_regular_file(path) as file:
        try:
            # One more byte than allowed shows that the file is too large.
            data = file.read(most + 1)
        except OSError as error:
            raise WorkspaceError(f"cannot read {path}: {error.strerror}") from error
    if len(data) > most:
        raise WorkspaceError(f"{path} has more than {most:,} bytes, which ci-eval never writes there")
    return data


def lines(path: Path, longest: int = LINE) -> Iterator[bytes]:
    """Yield the lines of a packed file. Raises WorkspaceError if the file is damaged, or unpacks to too many bytes."""
    with open_regular_file(path) as packed:
        # Limit the unpacked size, since a small file could unpack to gigabytes.
        ratio = RATIO if path.suffix == GZIP else RATIO_OF_ZSTD
        left = min(max(ANY_RATIO, ratio * packed.seek(0, os.SEEK_END)), UNPACKED)
        packed.seek(0)
        try:
            with unpacking(packed, path) as file:
                while line := file.readline(min(longest, left) + 1):
                    # Check the limit after each line, before the next line is unpacked.
                    left -= len(line)
                    if len(line) > longest or left < 0:
                        much = f"more than {ratio:,} times its size, or 4 GB"
                        excess = f"a line of more than {longest:,} bytes" if left >= 0 else much
                        raise WorkspaceError(f"{path} unpacks to {excess}, which ci-eval never writes: evaluate again")
                    yield line
        except (OSError, *DAMAGED) as error:
            raise WorkspaceError(f"{path} is damaged: {error}; evaluate again") from error


def decode_json(data: bytes, kind: type[T], path: Path) -> T:
    """Return the decoded value. `path`: the file, for the message. Raises WorkspaceError."""
    try:
        return msgspec.json.decode(data, type=kind)
    # msgspec raises this for JSON that is nested too deeply.
    except RecursionError:
        raise WorkspaceError(f"{path} is damaged: it is nested too deeply; evaluate again") from None
    except ValueError as error:
        raise WorkspaceError(f"{path} is damaged: {error}; evaluate again") from error
