"""The logs of a run: written in parts while its actions are interpreted, and put together at its end."""

from __future__ import annotations

import shutil
from dataclasses import replace as dataclass_replace
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from ci_eval.core import interpret, logs
from ci_eval.core.workspace import Workspace, make_file_name
from ci_eval.jobs.preparation import Prepared


def prepare_logs(prepared: Prepared, workspace: Workspace) -> interpret.Setup:
    """Return the setup of stage 2, with the file of the project's names, and with a folder for logs if logs are on."""
    settings, setup = prepared.config.interpret, prepared.setup
    # `rerank` may need the names later, also without logs.
    setup = dataclass_replace(setup, names=interpret.write_names(workspace, prepared.project.root))
    if not settings.save_logs:
        return setup
    if workspace.manifest().logs is not None and _parts(workspace).exists():
        # The logs are complete: a run was killed while it removed their parts.
        shutil.rmtree(_parts(workspace))
    logging = interpret.Logging(
        parts=_parts(workspace),
        formats=settings.log_format,
        project=prepared.project.info.name,
        completion_type=prepared.ranker.name,
        context=settings.log_context,
        # The start of the run is stored, so a resumed run logs the same time.
        began=round(datetime.fromisoformat(workspace.manifest().start).timestamp() * 1000),
    )
    return dataclass_replace(setup, logging=logging)


def _parts(workspace: Workspace) -> Path:
    return workspace.folder / "logs" / "parts"


def gather_logs(workspace: Workspace, prepared: Prepared) -> None:
    """Merge the parts of all files into logs for training, validation and test, unless that was done before."""
    manifest, settings = workspace.manifest(), prepared.config.interpret
    if manifest.logs is not None and not _parts(workspace).exists():
        return
    project_name = manifest.project.name
    record = logs.gather(
        workspace.folder / "logs",
        _parts(workspace),
        [make_file_name(source.path) for source in workspace.sources()],
        settings.log_format,
        logs.LogRun(
            project=project_name,
            language=manifest.language,
            seed=settings.seed,
            day=datetime.fromisoformat(manifest.start).strftime("%d_%m_%Y"),
        ),
        unit=(lambda _: project_name) if settings.split_by == "project" else (lambda path: f"{project_name}/{path}"),
        split_by=settings.split_by,
        percent=settings.train_test_split,
        test_percent=settings.test_split,
    )
    # The record is written before the parts are removed: with it, the logs count as complete.
    workspace.write_manifest(replace(manifest, logs=record))
    # If the run is killed before this line, the next one merges the parts again.
    shutil.rmtree(_parts(workspace))
