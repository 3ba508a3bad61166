"""The contract of formats of recorded editing, and the reader of their files; broken parts are counted and skipped."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ci_eval.core.base.errors import ArchiveError
from ci_eval.core.base.files import below
from ci_eval.fetch.archive import Limits, unpack
from ci_eval.plugins.mining.usages.histories import Snapshot

LONGEST = 16 << 20
"""Bytes of a line."""
LARGEST = 256 << 20
"""Bytes of a file in an archive, or of a file that is read at once."""
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
    """The text before the word; None if unknown."""
    prefix: str
    candidates: Sequence[str]
    outcome: str
    """`select`, `typed`, `cancel`, or the recorder's own word."""
    item: str
    """The selected item; "" if it is not recorded."""


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    summary: str
    read: Callable[[Path, Recording], Iterator[Snapshot]]
    """Reads the snapshots of a file or folder. Broken parts are counted in Recording.skipped; raises only OSError."""
    languages: frozenset[str] = frozenset()
    """The languages whose usages the format records; empty if the format records texts, of any language."""
    lookups: Callable[[Path, Recording], Iterator[RecordedLookup]] | None = None
    """Reads the completion lists of a file or folder in order of time, like `read`; None if the format has none."""


@contextmanager
def unpack_files(path: Path, ends: Sequence[str], recording: Recording) -> Iterator[list[Path]]:
    """Yield the files with one of these extensions, sorted. A zip is unpacked within LIMITS; if that fails, it is
    counted."""
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


def read_lines(path: Path, recording: Recording) -> Iterator[bytes]:
    with path.open("rb") as file:
        while line := file.readline(LONGEST + 1):
            if len(line) > LONGEST:
                recording.skipped[f"line of more than {LONGEST >> 20} MiB"] += 1
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST)
            elif line.strip():
                yield line
