"""The job `export`: it writes our workspace as tables, or as one of the JetBrains plugin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ci_eval.ci import Screen
from ci_eval.core.base import atomic
from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.config import add_filters
from ci_eval.core.config.loading import UNCHANGED, View
from ci_eval.core.filters import ReportFilter, ReportFilters, collect_letters, resolve
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import runs
from ci_eval.jobs.jetbrains.importing import OWN
from ci_eval.plugins.exports import writing
from ci_eval.plugins.exports.columns import Passes
from ci_eval.plugins.exports.run import open_workspace
from ci_eval.plugins.jetbrains import generations
from ci_eval.plugins.jetbrains.workspace import Writer


def export_workspace(folder: Path, *, to: str, output: Path, view: View = UNCHANGED) -> None:
    """Write the workspace at `folder`, with a changed view, as one of the generation `to`. Raises ConfigError,
    WorkspaceError, NothingToEvaluate."""
    generation = generations.CATALOG.load(to)
    source = Workspace.open(folder)
    source.verify()
    manifest = source.manifest()
    if manifest.task != "completion":
        raise ConfigError(f"{folder} is of the task {manifest.task}; the plugin's workspaces hold completion alone")
    if not manifest.planned:
        raise NothingToEvaluate(f"{folder} has no sessions")
    config = runs.stored_config(source, view)
    atomic.empty_folder(output)
    writer = Writer(output, generation)
    texts: dict[str, str] = {}
    for file, sessions in source.sessions(Session):
        texts[file.path] = file.text
        writer.sessions(file, list(sessions))
    for actions in source.actions():
        # The text of a file is stored with its sessions, so actions alone cannot be written.
        if actions.path in texts:
            writer.actions(actions, texts[actions.path])
    for error in source.errors():
        writer.error(error)
    # An import takes this manifest, which says more than the plugin's own files.
    atomic.write(output / OWN / "manifest.json", (source.folder / "manifest.json").read_bytes())
    atomic.copy(source.config_path, output / OWN / "config.yaml")
    writer.close(generation.config(config, manifest.project.spec.removeprefix("path:")))


def export_tables(
    folder: Path, *, form: str, output: Path, filters: Sequence[str] = (), screen: Screen
) -> dict[Path, int]:
    """Write the tables of the workspace at `folder`. Return the files with the number of their rows. `filters`: names
    or expressions; only sessions that pass one of them are written. Raises ConfigError, WorkspaceError."""
    source = open_workspace(folder)
    writing.check(form)
    passes = _choose_sessions(source, filters)
    if not source.manifest().complete:
        screen.warn(f"{folder} is unfinished: what is written are the sessions of the files that are through")
    return writing.write(source, atomic.empty_folder(output), form, passes)


def _choose_sessions(workspace: Workspace, filters: Sequence[str]) -> Passes:
    if not filters:
        return lambda _: True
    config = add_filters(runs.stored_config(workspace), filters)
    chosen = [_find_filter(name, config.report_filters) for name in filters]
    return lambda session: any(part.weight(session) for part in chosen)


def _find_filter(name: str, filters: ReportFilters) -> ReportFilter:
    resolved = resolve(name, collect_letters(part.name for part in filters.all))
    chosen = next((part for part in filters.all if part.name == resolved), None)
    if chosen is None:
        names = [part.name for part in filters.all]
        raise ConfigError(
            f"there is no filter {name!r}{guess(name, names)}; there are {', '.join(names)}, and expressions such as "
            "prefix=1"
        )
    return chosen
