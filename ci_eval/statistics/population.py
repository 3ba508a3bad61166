"""Which share of the sessions that a project has under a strategy was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ci_eval.shards import Shard, deal

MANY_PROJECTS = 20
"""From so many on, projects are a sample of other code; fewer of them say too little about their spread."""


def clusters_of(projects: int) -> str:
    """What is a sample of other code in an evaluation of so many merged projects: files or projects."""
    return "projects" if projects >= MANY_PROJECTS else "files"


def counted(files: Mapping[str, int], *, shard: str | None, merged: bool) -> Counter[str]:
    """By project: the sessions of these files (path → sessions) that the shard, if it is one, was to ask."""
    found: Counter[str] = Counter()
    for path, sessions in of_shard(files, shard).items():
        found[project_of(path, merged=merged)] += sessions
    return found


def of_shard(files: Mapping[str, int], shard: str | None) -> Mapping[str, int]:
    """The files that are dealt to it; all, where there are no shards."""
    if shard is None:
        return files
    own = Shard.parse(shard)
    dealt = deal(files, own.of)
    return {path: sessions for path, sessions in files.items() if dealt[path] == own.index}


def project_of(path: str, *, merged: bool) -> str:
    """Where several projects were merged, the first part of the path names it."""
    return path.partition("/")[0] if merged else ""


def share(known: Counter[str], asked: Mapping[str, int], *, merged: bool) -> tuple[int, float]:
    """The number of all sessions, and which share of them was asked, in the project with the smallest share.

    `known`: by project. `asked`: file → sessions.
    """
    seen: Counter[str] = Counter()
    for path, sessions in asked.items():
        seen[project_of(path, merged=merged)] += sessions
    shares = [seen[name] / max(sessions, seen[name]) for name, sessions in known.items() if sessions]
    return max(known.total(), seen.total()), min(shares, default=1.0)
