"""The merge of a suite's shards into the suite that one machine would have made."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.base.shards import Shard
from ci_eval.core.config import ProjectConfig
from ci_eval.core.config.view import UNCHANGED, View
from ci_eval.core.manifest import unlike
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import runs, single_stages
from ci_eval.jobs.suites import suite
from ci_eval.jobs.suites.shards import read
from ci_eval.jobs.suites.suite import Suited


def merge(folders: Sequence[Path], *, output: Path, view: View = UNCHANGED) -> Suited:
    """Return the suite that one machine would have made, with a changed view of each project.

    Raises WorkspaceError if shards are missing, unfinished, or do not belong together.
    """
    folders_of_projects = _check_shards(folders)
    atomic.empty_folder(output)
    for name, source in folders_of_projects.items():
        with atomic.writing(output / name):
            shutil.copytree(source, output / name)
    done = dict(
        zip(
            folders_of_projects,
            single_stages.only_reports([output / name for name in folders_of_projects], view=view),
            strict=True,
        )
    )
    config = runs.stored_config(Workspace.open(output / next(iter(folders_of_projects))))
    return suite.written(
        suite.tabulate_evaluations(config, done), output, [evaluation.trouble for evaluation in done.values()]
    )


def _check_shards(folders: Sequence[Path]) -> Mapping[str, Path]:
    """Return the folder of each project, by its name, in the order of the projects."""
    notes = {folder: read(folder) for folder in folders}
    first = notes[folders[0]]
    of = Shard.parse(first.shard).of
    shards: dict[int, Path] = {}
    for folder, note in notes.items():
        own = Shard.parse(note.shard)
        if (note.projects, own.of) != (first.projects, of):
            raise WorkspaceError(f"{folder} is of another suite than {folders[0]}, or of one with more or fewer shards")
        if own.index in shards:
            raise WorkspaceError(f"{folder} and {shards[own.index]} are both shard {own}: give one of them")
        shards[own.index] = folder
    if missing := [f"{index}/{of}" for index in range(1, of + 1) if index not in shards]:
        raise WorkspaceError(f"shards are missing: {', '.join(missing)}; give all {of} folders")
    project_folders = {}
    for number, spec in enumerate(first.projects, 1):
        name = suite.folder_name(number, spec)
        # This is the inverse of `shards.is_of`.
        project_folders[name] = shards[(number - 1) % of + 1] / name
    _check_alike(project_folders)
    return project_folders


def _check_alike(project_folders: Mapping[str, Path]) -> None:
    """Check that all were evaluated to their ends, in the same way. Raises WorkspaceError if not."""
    first: Workspace | None = None
    for folder in project_folders.values():
        if not (folder / "manifest.json").is_file() or not Workspace.open(folder).manifest().complete:
            above = shlex.quote(str(folder.parent))
            raise WorkspaceError(f"{folder} was not finished; take it up with --resume --output {above}")
        workspace = Workspace.open(folder)
        workspace.verify()
        first = first or workspace
        for condition, was, now in unlike(_conditions(first), _conditions(workspace)):
            raise WorkspaceError(f"{folder} does not go with {first.folder}: its {condition} is {now}, not {was}")


def _conditions(workspace: Workspace) -> dict[str, object]:
    manifest = workspace.manifest()
    config = replace(runs.stored_config(workspace), project=ProjectConfig())
    # Each project has its own files.
    return {**manifest.answering(), "file filter": "", "ci-eval": manifest.ci_eval, "configuration": config}
