"""Which share of the sessions that both sides could have been asked was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ci_eval.statistics.population import of_shard, project_of, share
from ci_eval.workspace import Workspace


def population(base: Workspace, new: Workspace, asked: Mapping[str, int], *, same_text: bool) -> tuple[int, float]:
    """The sessions that could have been compared, and which share of them was, in the project with the smallest share.

    `asked`: file → compared sessions. `same_text`: whether no file is known to have changed.
    """
    ours, theirs = base.manifest(), new.manifest()
    merged = bool(ours.projects)
    if not merged and ours.shard is None is theirs.shard and same_text and ours.generated == theirs.generated:
        known = Counter({"": ours.generated})
    else:
        known = _counted(base, new, merged=merged)
    return share(known, asked, merged=merged)


def _counted(base: Workspace, new: Workspace, *, merged: bool) -> Counter[str]:
    """By project: the sessions of the files that both sides read alike, where both were to ask them."""
    found: Counter[str] = Counter()
    there = _files(new)
    for path, (checksum, sessions) in _files(base).items():
        if path in there and there[path][0] == checksum:
            found[project_of(path, merged=merged)] += min(sessions, there[path][1])
    return found


def _files(workspace: Workspace) -> dict[str, tuple[str, int]]:
    """Path → checksum and sessions of each file that the workspace was to ask of."""
    files = {each.path: (each.checksum, each.sessions) for each in workspace.actions()}
    own = of_shard({path: sessions for path, (_, sessions) in files.items()}, workspace.manifest().shard)
    return {path: files[path] for path in own}
