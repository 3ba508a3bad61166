"""Which share of the sessions that a project has under a strategy was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from ci_eval.support.shards import Shard, deal
from ci_eval.workspace import Manifest, Workspace


def population(base: Workspace, new: Workspace, asked: Mapping[str, int], *, same_text: bool) -> tuple[int, float]:
    """The sessions that could have been compared, and which share of them was, in the project with the smallest share.

    `asked`: file → compared sessions. `same_text`: whether no file is known to have changed.
    """
    ours, theirs = base.manifest(), new.manifest()
    if not ours.projects and ours.shard is None is theirs.shard and same_text and ours.generated == theirs.generated:
        counted = Counter({"": ours.generated})
    else:
        counted = _counted(base, new)
    compared: Counter[str] = Counter()
    for path, sessions in asked.items():
        compared[_project(ours)(path)] += sessions
    shares = [compared[name] / max(sessions, compared[name]) for name, sessions in counted.items() if sessions]
    return max(counted.total(), compared.total()), min(shares, default=1.0)


def _counted(base: Workspace, new: Workspace) -> Counter[str]:
    """By project: the sessions of the files that both sides read alike, where both were to ask them."""
    found: Counter[str] = Counter()
    there = dict(_files(new))
    project = _project(base.manifest())
    for path, (checksum, sessions) in _files(base):
        if path in there and there[path][0] == checksum:
            found[project(path)] += min(sessions, there[path][1])
    return found


def _files(workspace: Workspace) -> list[tuple[str, tuple[str, int]]]:
    """Path, checksum and sessions of each file that the workspace was to ask of."""
    files = [(each.path, (each.checksum, each.sessions)) for each in workspace.actions()]
    shard = Shard.parse(said) if (said := workspace.manifest().shard) else None
    if shard is None:
        return files
    dealt = deal({path: sessions for path, (_, sessions) in files}, shard.of)
    return [each for each in files if dealt[each[0]] == shard.index]


def _project(manifest: Manifest) -> Callable[[str], str]:
    return (lambda path: path.partition("/")[0]) if manifest.projects else (lambda _: "")
