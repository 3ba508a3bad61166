"""The shards of a suite: each evaluates some of the suite's projects as wholes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.base.shards import Shard
from ci_eval.core.config import Config
from ci_eval.core.model import Value

NOTE = "shard.json"


class SuiteShard(Value, frozen=True, kw_only=True):
    """The note in a folder that holds a shard of a suite."""

    shard: str
    """The shard as I/N."""
    projects: tuple[str, ...]
    """The specs of all projects of the suite, in the order of the configuration."""


def check(config: Config, shard: Shard) -> None:
    """Check that the shard has a project. Raises ConfigError if it would have nothing to do."""
    if shard.of > len(config.projects):
        raise ConfigError(
            f"--shard {shard}: a suite of {len(config.projects)} projects has {len(config.projects)} shards at most, "
            "since each project is evaluated as a whole"
        )


def is_of(number: int, shard: Shard) -> bool:
    """Return whether the shard evaluates the project of that number (from 1). Projects are dealt in turns."""
    return (number - 1) % shard.of == shard.index - 1


def note(folder: Path, config: Config, shard: Shard) -> None:
    """Write the note of a shard into its folder. Raises WorkspaceError if the folder holds another shard."""
    shard_note = SuiteShard(shard=str(shard), projects=config.projects)
    if (folder / NOTE).is_file() and read(folder) != shard_note:
        raise WorkspaceError(f"{folder} holds another shard, or one of another suite: choose another --output")
    atomic.write(folder / NOTE, msgspec.json.format(msgspec.json.encode(shard_note), indent=2) + b"\n")


def find_shards(places: Sequence[Path]) -> list[Path]:
    """Return the shards of suites among these folders, and directly below the folders that are no shards."""
    return [folder for place in places for folder in (_itself(place) or sorted(_below(place)))]


def _itself(place: Path) -> list[Path]:
    return [place] if (place / NOTE).is_file() else []


def _below(place: Path) -> Iterator[Path]:
    return (path.parent for path in place.glob(f"*/{NOTE}"))


def read(folder: Path) -> SuiteShard:
    """Read the note in the folder of a shard. Raises WorkspaceError."""
    path = folder / NOTE
    return stored.decode_json(stored.read(path, stored.MANIFEST), SuiteShard, path)
