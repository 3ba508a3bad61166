"""The runs that `ci_eval.open(WORKSPACE)` returns to notebooks and scripts."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from ci_eval.core.base import stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import Estimate, FilterFigures, Value
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.exports.tables import arrow

ArrowTable = Any
"""A pyarrow.Table, which pandas, polars, DuckDB and others can read. ci-eval also runs without pyarrow, so the class
cannot be imported here."""


class Run:
    """A run of an evaluation. Files are read on demand; only the manifest is cached."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def folder(self) -> Path:
        return self._workspace.folder

    @property
    def manifest(self) -> Manifest:
        """Return the manifest: engine, configuration, project, and progress (`planned`, `finished`, `statuses`)."""
        return self._workspace.manifest()

    @property
    def complete(self) -> bool:
        """Return whether the run has ended. Until then, tables have only the sessions of finished files."""
        return self.manifest.complete

    @property
    def metrics(self) -> Mapping[str, Mapping[str, Estimate]]:
        """Return filter → metric → figure from the last report. Raises WorkspaceError without a report."""
        path = self.folder / "reports" / "metrics.json"
        if not path.is_file():
            raise WorkspaceError(f"{self.folder} has no figures yet: run `ci-eval report {self.folder}`")
        (evaluation,) = stored.decode_json(stored.read(path, stored.FIGURES), _Report, path).evaluations
        return {name: figures.metrics for name, figures in evaluation.filters.items()}

    def sessions(self) -> ArrowTable:
        """Return a table with a row per planned session, answered or not. Raises ConfigError if pyarrow is missing."""
        return arrow().build_arrow_table(self._workspace, "sessions")

    def lookups(self) -> ArrowTable:
        """Return a table with a row per lookup, which has the rank of the expected text and the latency."""
        return arrow().build_arrow_table(self._workspace, "lookups")

    def suggestions(self) -> ArrowTable:
        """Return a table with a row per suggestion. All rows are in memory; `ci-eval export` needs less memory."""
        return arrow().build_arrow_table(self._workspace, "suggestions")


def open(workspace: str | PathLike[str]) -> Run:  # noqa: A001  it is called ci_eval.open
    """Return the run in a folder. Raises WorkspaceError if the folder has no run, or a changed one."""
    return Run(open_workspace(Path(workspace)))


def open_workspace(folder: Path) -> Workspace:
    """Return the workspace in a folder. Raises WorkspaceError if its files changed after the end of the run."""
    workspace = Workspace.open(folder)
    # A run that has not ended has no digests yet.
    if workspace.manifest().digests:
        workspace.verify("sessions", "manifest.json")
    return workspace


class _Evaluation(Value, frozen=True, kw_only=True):
    filters: dict[str, FilterFigures]


class _Report(Value, frozen=True, kw_only=True):
    evaluations: tuple[_Evaluation]
