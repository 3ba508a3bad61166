"""Stored actions and sessions, unpacked and packed again, as somebody might who is not ci-eval."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ci_eval.core.base import stored


def unpacked(path: Path) -> bytes:
    """Everything that is packed in the file."""
    with path.open("rb") as file, stored.unpacking(file) as whole:
        return whole.read()


def repack(path: Path, lines: Iterable[bytes]) -> None:
    """The file with other lines, which have no ends yet."""
    path.write_bytes(stored.pack([b"\n".join(lines)]))
