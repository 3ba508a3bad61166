"""Puts the shards of a suite together: the suite that one machine would have made."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval import atomic
from ci_eval.config import ProjectConfig
from ci_eval.errors import WorkspaceError
from ci_eval.jobs import runs, single_stages
from ci_eval.jobs.suites import suite
from ci_eval.jobs.suites.shards import read
from ci_eval.jobs.suites.suite import Suited
from ci_eval.manifest import unlike
from ci_eval.shards import Shard
from ci_eval.workspace import Workspace


def merge(folders: Sequence[Path], *, output: Path) -> Suited:
    """Return the suite that one machine would have made. Raises WorkspaceError if shards are missing, unfinished, or do
    not belong together."""
    found = _checked(folders)
    atomic.empty_folder(output)
    for name, source in found.items():
        with atomic.writing(output / name):
            shutil.copytree(source, output / name)
    done = dict(zip(found, single_stages.only_reports([output / name for name in found]), strict=True))
    config = runs.stored_config(Workspace.open(output / next(iter(found))))
    return suite.written(suite.evaluated(config, done), output, [each.trouble for each in done.values()])


def _checked(folders: Sequence[Path]) -> Mapping[str, Path]:
    """Name of a project's folder → where it is, in the order of the projects."""
    said = {folder: read(folder) for folder in folders}
    first = said[folders[0]]
    of = Shard.parse(first.shard).of
    there: dict[int, Path] = {}
    for folder, each in said.items():
        own = Shard.parse(each.shard)
        if (each.projects, own.of) != (first.projects, of):
            raise WorkspaceError(f"{folder} is of another suite than {folders[0]}, or of one with more or fewer shards")
        if own.index in there:
            raise WorkspaceError(f"{folder} and {there[own.index]} are both shard {own}: give one of them")
        there[own.index] = folder
    if missing := [f"{index}/{of}" for index in range(1, of + 1) if index not in there]:
        raise WorkspaceError(f"shards are missing: {', '.join(missing)}; give all {of} folders")
    found = {}
    for number, spec in enumerate(first.projects, 1):
        name = suite.folder_name(number, spec)
        found[name] = there[(number - 1) % of + 1] / name
    _check_alike(found)
    return found


def _check_alike(found: Mapping[str, Path]) -> None:
    """Raises WorkspaceError unless all were evaluated to their ends, in the same way."""
    first: Workspace | None = None
    for folder in found.values():
        if not (folder / "manifest.json").is_file() or not Workspace.open(folder).manifest().complete:
            above = shlex.quote(str(folder.parent))
            raise WorkspaceError(f"{folder} was not finished; take it up with --resume --output {above}")
        workspace = Workspace.open(folder)
        workspace.verify()
        first = first or workspace
        for what, was, now in unlike(_conditions(first), _conditions(workspace)):
            raise WorkspaceError(f"{folder} does not go with {first.folder}: its {what} is {now}, not {was}")


def _conditions(workspace: Workspace) -> dict[str, object]:
    manifest = workspace.manifest()
    config = replace(runs.stored_config(workspace), project=ProjectConfig())
    # Each project has its own files.
    return {**manifest.answering(), "file filter": "", "ci-eval": manifest.ci_eval, "configuration": config}
