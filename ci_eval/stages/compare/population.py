"""How many sessions could have been compared (the population), and which share of them was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ci_eval.statistics.population import of_shard, project_of, share
from ci_eval.workspace import Workspace


def population(base: Workspace, new: Workspace, asked: Mapping[str, int], *, same_text: bool) -> tuple[int, float]:
    """The number of sessions that could have been compared, and the share of them that was; of several merged projects,
    the smallest share.

    `asked`: file → compared sessions. `same_text`: whether every file has the same text on both sides, as far as known.
    """
    ours, theirs = base.manifest(), new.manifest()
    merged = bool(ours.projects)
    if not merged and ours.dealt is None is theirs.dealt and same_text and ours.generated == theirs.generated:
        known = Counter({"": ours.generated})
    else:
        known = sessions_of(base, new, merged=merged)
    return share(known, asked, merged=merged, unread=max(ours.unparsable, theirs.unparsable))


def sessions_of(base: Workspace, new: Workspace, *, merged: bool) -> Counter[str]:
    """By project: the number of sessions in the files that are the same on both sides, and in both sides' shards."""
    found: Counter[str] = Counter()
    there = _files(new)
    for path, (checksum, sessions) in _files(base).items():
        if path in there and there[path][0] == checksum:
            found[project_of(path, merged=merged)] += min(sessions, there[path][1])
    return found


def _files(workspace: Workspace) -> dict[str, tuple[str, int]]:
    """Path → checksum and number of sessions in the workspace's shard, of each file of which it has some."""
    files = {each.path: each for each in workspace.action_heads()}
    own = of_shard({path: each.sessions for path, each in files.items()}, workspace.manifest().dealt)
    return {path: (files[path].checksum, sessions) for path, sessions in own.items()}
