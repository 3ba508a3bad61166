"""The number of a project's sessions under a strategy (its population), and the share of them that was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

import msgspec

from ci_eval.core.base.shards import Shard, deal
from ci_eval.core.filters import find_class
from ci_eval.core.model import SessionScore
from ci_eval.core.model.sessions import NOTABLE

FILES = "files"
UNEQUAL = 1.1
"""The factor below which different shares are those of one sample: random variation alone makes them differ."""


def cluster_unit(projects: int) -> str:
    """Return the unit of the sample of other code in an evaluation of so many merged projects, "files" or "projects":
    the highest level that has two of them."""
    return "projects" if projects > 1 else FILES


def find_cluster(path: str, unit: str) -> str:
    """Return what a file is sampled with. `unit`: "files", "projects", or what stands for groups: their folders."""
    return (
        path
        if unit == "files"
        else project_from_path(path, merged=True)
        if unit == "projects"
        else path.rpartition("/")[0]
    )


def count_project_sessions(files: Mapping[str, int], *, shard: str | None, merged: bool) -> Counter[str]:
    """Count, by project, the sessions of the files (path → sessions) that belong to the shard.

    `shard`: such as "2/5"; None for all files. `merged`: whether the files are of several projects.
    """
    counts: Counter[str] = Counter()
    for path, sessions in select_shard_files(files, shard).items():
        counts[project_from_path(path, merged=merged)] += sessions
    return counts


def select_shard_files(files: Mapping[str, int], shard: str | None) -> Mapping[str, int]:
    """Return the files (path → sessions) that the shard evaluates, with the number of its sessions in each; all files
    if `shard` is None."""
    if shard is None:
        return files
    own = Shard.parse(shard)
    return {path: len(dealt[own.index]) for path, dealt in deal(files, own.of).items() if own.index in dealt}


def project_from_path(path: str, *, merged: bool) -> str:
    """Return the project of a file: the first part of the path if several projects were merged, else ""."""
    return path.partition("/")[0] if merged else ""


Key = tuple[str, str]
"""A stratum: the project ("", unless several were merged), and the class in it ("", unless it was drawn by classes)."""


class Stratum(msgspec.Struct, frozen=True):
    """A part of the population, of which some sessions were asked."""

    sessions: int
    asked: int

    @property
    def weight(self) -> float:
        """The number of sessions of the stratum that one of those asked stands for."""
        return self.sessions / self.asked

    @property
    def share(self) -> float:
        """The share of its sessions that was asked."""
        return self.asked / self.sessions


class Strata(msgspec.Struct, frozen=True, dict=True):
    """The strata of a population: merged projects, and in each the classes that a limited sample was drawn from."""

    sessions: Mapping[Key, int]
    """The number of all sessions of each stratum. The order of the classes counts, see `find_class`."""
    merged: bool = False
    unread: float = 0.0
    """The share of the source that could not be read: its sessions are not known."""

    @cached_property
    def _classes(self) -> dict[str, tuple[str, ...]]:
        classes: dict[str, tuple[str, ...]] = {}
        for project, name in self.sessions:
            classes[project] = (*classes.get(project, ()), name)
        return classes

    @property
    def is_divided(self) -> bool:
        """Return whether there may be more strata than one."""
        return self.merged or len(self.sessions) > 1

    def find(self, session: SessionScore) -> Key:
        """Return the stratum that a session is in."""
        project = project_from_path(session.file, merged=self.merged)
        return project, find_class(self._classes.get(project, ()), session.properties.kind, session.typed)

    def weighted(self, asked: Mapping[Key, int], keys: Iterable[Key]) -> list[Stratum]:
        """Return these strata, in their order, if they were asked in shares that differ too much to be pooled without
        weights; else none. `asked`: the sessions of each one that were asked."""
        sample = [Stratum(max(self.sessions.get(key, 0), asked[key]), asked[key]) for key in keys]
        shares = [stratum.share for stratum in sample]
        return sample if min(shares, default=1.0) * UNEQUAL < max(shares, default=1.0) else []

    def total(self, asked: Mapping[Key, int]) -> int:
        """Return the number of all sessions."""
        return max(sum(self.sessions.values()), sum(asked.values()))

    def share(self, asked: Mapping[Key, int], keys: Collection[Key] = ()) -> float:
        """Return the share that was asked of these strata, the smallest one; of all strata if there are no `keys`."""
        sizes = {key: self.sessions.get(key, 0) for key in keys or self.sessions}
        shares = [asked.get(key, 0) / max(size, asked.get(key, 0)) for key, size in sizes.items() if size]
        # The smallest share gives the widest interval. Sessions of unreadable source are not known, but must not count
        # as asked.
        return min(shares, default=1.0) * (1 - self.unread if self.unread > NOTABLE else 1.0)
