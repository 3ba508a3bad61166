"""How many sessions a project has under a strategy (its population), and which share of them was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ci_eval.model.actions import NOTABLE
from ci_eval.shards import Shard, deal

MANY_PROJECTS = 20
"""From so many projects on, projects are the sample that speaks for other code; fewer say too little of how projects
differ, and files are the sample."""


def clusters_of(projects: int) -> str:
    """What the sample of other code consists of in an evaluation of so many merged projects: "files" or "projects"."""
    return "projects" if projects >= MANY_PROJECTS else "files"


def counted(files: Mapping[str, int], *, shard: str | None, merged: bool) -> Counter[str]:
    """By project: how many sessions of the files (path → sessions) belong to the shard.

    `shard`: such as "2/5"; None for all files. `merged`: whether the files are of several projects.
    """
    found: Counter[str] = Counter()
    for path, sessions in of_shard(files, shard).items():
        found[project_of(path, merged=merged)] += sessions
    return found


def of_shard(files: Mapping[str, int], shard: str | None) -> Mapping[str, int]:
    """Those of the files (path → sessions) of which the shard evaluates something, with how many sessions; all of them
    where `shard` is None."""
    if shard is None:
        return files
    own = Shard.parse(shard)
    return {path: len(dealt[own.index]) for path, dealt in deal(files, own.of).items() if own.index in dealt}


def project_of(path: str, *, merged: bool) -> str:
    """The project of a file: the first part of the path where several were merged, else ""."""
    return path.partition("/")[0] if merged else ""


def share(known: Counter[str], asked: Mapping[str, int], *, merged: bool, unread: float = 0.0) -> tuple[int, float]:
    """The number of all sessions, and the share of them that was asked; of several projects, the smallest share.

    `known`: project → its sessions. `asked`: file → sessions asked. `unread`: share of the source that could not be
    read. Where that is notable, its sessions are not known, but count as not asked.
    """
    seen: Counter[str] = Counter()
    for path, sessions in asked.items():
        seen[project_of(path, merged=merged)] += sessions
    shares = [seen[name] / max(sessions, seen[name]) for name, sessions in known.items() if sessions]
    read = 1 - unread if unread > NOTABLE else 1.0
    return max(known.total(), seen.total()), min(shares, default=1.0) * read
