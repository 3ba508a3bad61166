"""The population: the sessions that could have been compared, stratum by stratum."""

from __future__ import annotations

from collections import Counter

from ci_eval.core.filters import find_class
from ci_eval.core.statistics.population import Strata, project_from_path, select_shard_files
from ci_eval.core.workspace import Workspace, read_items


def population(base: Workspace, new: Workspace, *, same_text: bool) -> Strata:
    """Return the sessions that could have been compared. `same_text`: False if a file is known to differ between the
    sides."""
    ours, theirs = base.manifest(), new.manifest()
    # A sample without classes has the first sessions of each class as well, if it has the same seed.
    divided = ours if ours.strata else theirs
    merged, unread = bool(ours.projects), max(ours.unparsable, theirs.unparsable)
    if not merged and ours.dealt is None is theirs.dealt and same_text and ours.generated == theirs.generated:
        # The manifests have the numbers, so no actions need to be read.
        counts = divided.strata.get("", {"": ours.generated})
        return Strata({("", name): sessions for name, sessions in counts.items()}, merged, unread)
    classes = {project: tuple(of) for project, of in divided.strata.items()}
    sessions = Counter({(project, name): 0 for project, names in classes.items() for name in names})
    for path, count in count_common_sessions(base, new).items():
        project = project_from_path(path, merged=merged)
        if project in classes:
            items = read_items(base.actions_path(path))
            own = Counter(
                find_class(classes[project], item.properties.kind, len(item.prefix))
                for item in items
                if item.properties
            )
            # A shard may have only a part of a file's sessions.
            sessions.update({(project, name): round(of * count / len(items)) for name, of in own.items()})
        else:
            sessions[project, ""] += count
    return Strata(sessions, merged, unread)


def count_common_sessions(base: Workspace, new: Workspace) -> dict[str, int]:
    """Count the sessions of each file that is the same on both sides and in both sides' shards."""
    counts: dict[str, int] = {}
    theirs = _files(new)
    for path, (checksum, sessions) in _files(base).items():
        if path in theirs and theirs[path][0] == checksum:
            # A shard may have only a part of a file's sessions.
            counts[path] = min(sessions, theirs[path][1])
    return counts


def explain_classes(*sides: Workspace) -> str:
    """Return why samples that were drawn from different classes are not judged; "" if they may be."""
    classes = [{project: [*of] for project, of in side.manifest().strata.items()} for side in sides]
    known = [of for of in classes if of]
    if all(of == known[0] for of in known):
        return ""
    return (
        "the runs drew their samples from different classes of sessions, since their reports.headline differed: "
        "evaluate one of them again with the other's"
    )


def _files(workspace: Workspace) -> dict[str, tuple[str, int]]:
    """Return path → checksum and number of sessions, of each file that has sessions in the workspace's shard."""
    files = {head.path: head for head in workspace.action_heads()}
    own = select_shard_files({path: head.sessions for path, head in files.items()}, workspace.manifest().dealt)
    return {path: (files[path].checksum, sessions) for path, sessions in own.items()}
