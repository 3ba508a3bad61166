"""Count the sessions that a project has under a strategy (its population), and the share of them that was asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

import msgspec

from ci_eval.core.base.shards import Shard, deal
from ci_eval.core.filters import find_class
from ci_eval.core.model import NOTABLE, SessionScore

FILES = "files"
UNEQUAL = 1.1
"""Sessions get weights if a class was sampled this many times as densely as another; a smaller ratio may be chance."""


def find_cluster(path: str, unit: str) -> str:
    """Return the cluster of a file: the file, its project, or (for any other `unit`) its folder."""
    if unit == FILES:
        return path
    return project_from_path(path, merged=True) if unit == "projects" else path.rpartition("/")[0]


def select_shard_files(files: Mapping[str, int], shard: str | None) -> Mapping[str, int]:
    """Return path → number of the shard's sessions in the file; `files` (path → sessions) if `shard` is None."""
    if shard is None:
        return files
    own = Shard.parse(shard)
    return {path: len(dealt[own.index]) for path, dealt in deal(files, own.of).items() if own.index in dealt}


def project_from_path(path: str, *, merged: bool) -> str:
    """Return the first part of the path if several projects were merged, else ""."""
    return path.partition("/")[0] if merged else ""


Key = tuple[str, str]
"""The project ("" unless projects were merged), and the class of session ("" unless the sample used classes)."""


class Stratum(msgspec.Struct, frozen=True):
    sessions: int
    asked: int

    @property
    def weight(self) -> float:
        return self.sessions / self.asked

    @property
    def share(self) -> float:
        return self.asked / self.sessions


class Strata(msgspec.Struct, frozen=True, dict=True):
    """The strata of a sample: merged projects, and the classes of sessions that a limited sample was drawn from."""

    sessions: Mapping[Key, int]
    """The number of sessions of each stratum, asked or not. The order of classes matters: see `find_class`."""
    merged: bool = False
    unread: float = 0.0
    """The share of the source that could not be read, so that its sessions are not known."""

    @cached_property
    def _classes(self) -> dict[str, tuple[str, ...]]:
        projects = {project for project, _ in self.sessions}
        return {project: tuple(name for of, name in self.sessions if of == project) for project in projects}

    @property
    def is_divided(self) -> bool:
        return self.merged or len(self.sessions) > 1

    def find(self, session: SessionScore) -> Key:
        project = project_from_path(session.file, merged=self.merged)
        return project, find_class(self._classes.get(project, ()), session.properties.kind, session.typed)

    def weighted(self, asked: Mapping[Key, int], keys: Iterable[Key]) -> list[Stratum]:
        """Return the strata of `keys` in order if their asked shares differ so much that they need weights; else []."""
        sample = [Stratum(max(self.sessions.get(key, 0), asked[key]), asked[key]) for key in keys]
        shares = [stratum.share for stratum in sample]
        return sample if min(shares, default=1.0) * UNEQUAL < max(shares, default=1.0) else []

    def total(self, asked: Mapping[Key, int]) -> int:
        return max(sum(self.sessions.values()), sum(asked.values()))

    def share(self, asked: Mapping[Key, int], keys: Collection[Key] = ()) -> float:
        """Return the smallest asked share of the strata in `keys`, or of all strata if `keys` is empty."""
        sizes = {key: self.sessions.get(key, 0) for key in keys or self.sessions}
        shares = [asked.get(key, 0) / max(size, asked.get(key, 0)) for key, size in sizes.items() if size]
        # The smallest share gives the widest interval. Sessions of unreadable source must not count as asked.
        return min(shares, default=1.0) * (1 - self.unread if self.unread > NOTABLE else 1.0)
