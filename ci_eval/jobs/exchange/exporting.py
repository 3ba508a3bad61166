"""The job `export`: a workspace of ours → one of the JetBrains plugin."""

from __future__ import annotations

from pathlib import Path

from ci_eval import atomic
from ci_eval.errors import ConfigError, NothingToEvaluate
from ci_eval.exchange import generations
from ci_eval.exchange.writing import Writer
from ci_eval.jobs import runs
from ci_eval.jobs.exchange.origin import OWN
from ci_eval.model import Session
from ci_eval.workspace import Workspace


def export_workspace(folder: Path, *, to: str, output: Path) -> None:
    """Write the workspace at `folder` as one of that generation. Raises ConfigError, WorkspaceError,
    NothingToEvaluate."""
    generation = generations.CATALOG.load(to)
    source = Workspace.open(folder)
    source.verify()
    manifest = source.manifest()
    if manifest.task != "completion":
        raise ConfigError(f"{folder} is of the task {manifest.task}; the plugin's workspaces hold completion alone")
    if not manifest.planned:
        raise NothingToEvaluate(f"{folder} has no sessions")
    config = runs.stored_config(source)
    atomic.empty_folder(output)
    writer = Writer(output, generation)
    texts: dict[str, str] = {}
    for file, sessions in source.sessions(Session):
        texts[file.path] = file.text
        writer.sessions(file, list(sessions))
    for actions in source.actions():
        if actions.path in texts:
            writer.actions(actions, texts[actions.path])
    for error in source.errors():
        writer.error(error)
    atomic.write(output / OWN / "manifest.json", (source.folder / "manifest.json").read_bytes())
    atomic.copy(source.config_path, output / OWN / "config.yaml")
    writer.close(generation.config(config, manifest.project.spec.removeprefix("path:")))
