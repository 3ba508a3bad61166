"""The population: the number of sessions that could have been compared, and the share of them that was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ci_eval.core.statistics.population import project_from_path, select_shard_files, share
from ci_eval.core.workspace import Workspace


def population(base: Workspace, new: Workspace, asked: Mapping[str, int], *, same_text: bool) -> tuple[int, float]:
    """Return the number of sessions that could have been compared, and the share of them that was. Of several merged
    projects, the share is the smallest one.

    `asked`: file → compared sessions. `same_text`: whether every file has the same text on both sides, as far as known.
    """
    ours, theirs = base.manifest(), new.manifest()
    merged = bool(ours.projects)
    if not merged and ours.dealt is None is theirs.dealt and same_text and ours.generated == theirs.generated:
        # The manifests have the number, so no actions need to be read.
        known = Counter({"": ours.generated})
    else:
        known = count_common_sessions(base, new, merged=merged)
    return share(known, asked, merged=merged, unread=max(ours.unparsable, theirs.unparsable))


def count_common_sessions(base: Workspace, new: Workspace, *, merged: bool) -> Counter[str]:
    """Count the sessions of each project, in files that are the same on both sides and in both sides' shards."""
    counts: Counter[str] = Counter()
    theirs = _files(new)
    for path, (checksum, sessions) in _files(base).items():
        if path in theirs and theirs[path][0] == checksum:
            # A shard may have only a part of a file's sessions.
            counts[project_from_path(path, merged=merged)] += min(sessions, theirs[path][1])
    return counts


def _files(workspace: Workspace) -> dict[str, tuple[str, int]]:
    """Return path → checksum and number of sessions, of each file that has sessions in the workspace's shard."""
    files = {head.path: head for head in workspace.action_heads()}
    own = select_shard_files({path: head.sessions for path, head in files.items()}, workspace.manifest().dealt)
    return {path: (files[path].checksum, sessions) for path, sessions in own.items()}
