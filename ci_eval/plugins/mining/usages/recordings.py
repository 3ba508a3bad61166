"""The contract of a format of recorded editing, and the reader of its files, which skips and counts broken parts."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

import msgspec

from ci_eval.core.base.errors import ArchiveError
from ci_eval.core.base.files import below
from ci_eval.fetch.archive import Limits, unpack
from ci_eval.plugins.mining.usages.histories import Snapshot

LONGEST = 16 << 20
"""Bytes of a line or cell."""
LARGEST = 256 << 20
"""Bytes of a file that is read as a whole."""
LIMITS = Limits(entries=500_000, file_bytes=LARGEST)


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    language: str
    ends: tuple[str, ...]
    skipped: Counter[str] = msgspec.field(default_factory=Counter)


class RecordedLookup(msgspec.Struct, frozen=True, kw_only=True):
    user: str
    file: str
    start: int
    """Code points."""
    before: str | None
    """Text in front of the word; None if unknown."""
    prefix: str
    candidates: Sequence[str]
    outcome: str
    """`select`, `typed`, `cancel`, or another word of the recorder."""
    item: str
    """"" if the recording does not have it."""


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    summary: str
    read: Callable[[Path, Recording], Iterator[Snapshot]]
    """A file or folder → its snapshots. Broken parts are counted in Recording.skipped; raises OSError only."""
    languages: frozenset[str] = frozenset()
    """Languages of which it records usages; empty for any language, by its texts."""
    lookups: Callable[[Path, Recording], Iterator[RecordedLookup]] | None = None
    """A file or folder → lists in order of time; None if not recorded. Broken parts are counted; raises OSError
    only."""


@contextmanager
def unpack_files(path: Path, ends: Sequence[str], recording: Recording) -> Iterator[list[Path]]:
    """Yield the files with one of these extensions, sorted. Zips are unpacked within limits; broken or too large ones
    are counted."""
    with tempfile.TemporaryDirectory(prefix="ci-eval-", ignore_cleanup_errors=True) as name:
        root = path
        if path.is_file() and path.suffix == ".zip":
            root = Path(name, "unpacked")
            try:
                unpack(path, root, LIMITS)
            except ArchiveError as error:
                recording.skipped[f"zip that cannot be used: {error}"] += 1
                # A zip that cannot be used counts as an empty folder.
                root.mkdir(exist_ok=True)
        yield [root / relative for relative in sorted(below(root, root, ends))] if root.is_dir() else [root]


def read_whole(path: Path, recording: Recording) -> bytes | None:
    """Return None, and count the file, if it is too large."""
    if path.stat().st_size > LARGEST:
        recording.skipped[f"file of more than {LARGEST >> 20} MiB"] += 1
        return None
    return path.read_bytes()


def read_lines(path: Path, recording: Recording) -> Iterator[bytes]:
    with path.open("rb") as file:
        while line := file.readline(LONGEST + 1):
            if len(line) > LONGEST:
                recording.skipped[f"line of more than {LONGEST >> 20} MiB"] += 1
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST)
            elif line.strip():
                yield line


def seconds(text: str) -> float:
    """Parse ISO 8601, with any number of digits of a second. A missing zone means UTC. Raises ValueError."""
    # Before Python 3.11, `fromisoformat` reads 3 or 6 digits after the second, and no `Z`.
    begin, point, remainder = text.strip().partition(".")
    digits = remainder[: len(remainder) - len(remainder.lstrip("0123456789"))]
    zone = remainder[len(digits) :] if point else ""
    fraction = f".{digits[:6].ljust(6, '0')}" if digits else ""
    zone = "+00:00" if zone == "Z" else zone
    whole = f"{begin[:-1]}+00:00" if begin.endswith("Z") else begin
    moment = datetime.fromisoformat(f"{whole}{fraction}{zone}")
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
