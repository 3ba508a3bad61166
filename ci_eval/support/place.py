"""Where an engine's process runs, and what it is told of the machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ci_eval.contracts import Surroundings


@dataclass(frozen=True, kw_only=True)
class Place:
    """What a server's command and settings are made of."""

    folder: Path
    """Where the engine is installed."""
    root: Path
    """The project."""
    scratch: Path
    """A folder of this process alone; gone when it ends."""
    cache: Path
    """What may be kept between runs."""
    environment: Path | None
    """The project's own packages."""
    language: str
    memory: int = 0
    """Bytes the engine may use; 0 = no limit."""

    @classmethod
    def of(cls, name: str, folder: Path, root: Path, scratch: Path, surroundings: Surroundings) -> Place:
        """The place of the engine `name`, with its folder in the cache made."""
        cache = surroundings.cache / "servers" / name
        cache.mkdir(parents=True, exist_ok=True)
        return cls(
            folder=folder,
            root=root,
            scratch=scratch,
            cache=cache,
            environment=surroundings.environment,
            language=surroundings.language,
            memory=surroundings.memory,
        )


def variables(place: Place) -> dict[str, str]:
    """The environment of an engine's process: nothing of the user's but where programs are."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(place.scratch / "home"),
        "TMPDIR": str(place.scratch),
        "LANG": "C.UTF-8",
    }
