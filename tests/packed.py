"""Stored actions and sessions, unpacked and packed again, as somebody might who is not ci-eval."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

import msgspec

from ci_eval.core.base import stored
from ci_eval.core.workspace import PARTS, Workspace


def unpacked(path: Path) -> bytes:
    """Everything that is packed in the file."""
    with path.open("rb") as file, stored.unpacking(file, path) as whole:
        return whole.read()


def repack(path: Path, lines: Iterable[bytes]) -> None:
    """The file with other lines, which have no ends yet."""
    path.write_bytes(stored.pack([b"\n".join(lines)]))


def as_before(workspace: Path) -> None:
    """The workspace as ci-eval stored it before it used zstd: format 1."""
    for path in [*workspace.glob("actions/*.zst"), *workspace.glob("sessions/*.zst")]:
        path.with_suffix(stored.FORMER_SUFFIX).write_bytes(gzip.compress(unpacked(path), 1))
        path.unlink()
    manifest = workspace / "manifest.json"
    if manifest.exists():
        said = msgspec.json.decode(manifest.read_bytes()) | {"format": 1, "digests": {}}
        manifest.write_bytes(msgspec.json.encode(said))
        digests = {part: Workspace(workspace)._digest(part) for part in PARTS}
        manifest.write_bytes(msgspec.json.encode(said | {"digests": digests}))
