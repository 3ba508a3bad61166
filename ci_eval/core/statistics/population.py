"""The number of a project's sessions under a strategy (its population), and the share of them that was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ci_eval.core.base.shards import Shard, deal
from ci_eval.core.model.actions import NOTABLE

FILES = "files"


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


def share(known: Counter[str], asked: Mapping[str, int], *, merged: bool, unread: float = 0.0) -> tuple[int, float]:
    """Return the number of all sessions, and the share of them that was asked; of several projects, the smallest share.

    `known`: project → its sessions. `asked`: file → sessions asked. `unread`: share of the source that could not be
    read. If that share is notable, its sessions are not known, but count as not asked.
    """
    seen: Counter[str] = Counter()
    for path, sessions in asked.items():
        seen[project_from_path(path, merged=merged)] += sessions
    shares = [seen[name] / max(sessions, seen[name]) for name, sessions in known.items() if sessions]
    # Sessions of unreadable source are not known, but must not count as asked.
    read = 1 - unread if unread > NOTABLE else 1.0
    # The smallest share gives the widest interval, so no project's interval is too narrow.
    return max(known.total(), seen.total()), min(shares, default=1.0) * read
