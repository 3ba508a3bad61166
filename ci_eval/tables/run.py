"""A run as notebooks and scripts see it: `ci_eval.open(WORKSPACE)`."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from ci_eval import stored
from ci_eval.errors import WorkspaceError
from ci_eval.manifest import Manifest
from ci_eval.model import Estimate, Value
from ci_eval.tables.extra import arrow
from ci_eval.workspace import Workspace


class ArrowTable(Protocol):
    """A pyarrow.Table; its type is not named, since ci-eval runs without pyarrow, too."""

    num_rows: int
    column_names: list[str]

    def to_pandas(self) -> Any:
        """As a pandas.DataFrame."""

    def to_pylist(self) -> list[dict[str, Any]]:
        """As a dictionary for each row."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """By which polars.DataFrame(table), DuckDB and others read it."""


class Run:
    """What `open` returns. Nothing is read before it is asked for, and nothing is kept but the manifest."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def folder(self) -> Path:
        """The workspace."""
        return self._workspace.folder

    @property
    def manifest(self) -> Manifest:
        """What ran, with what, on what, and how far it came (`planned`, `finished`, `statuses`)."""
        return self._workspace.manifest()

    @property
    def complete(self) -> bool:
        """Whether the run came to its end; before, tables have the sessions of the files that are through."""
        return self.manifest.complete

    @property
    def metrics(self) -> Mapping[str, Mapping[str, Estimate]]:
        """Name of the filter → name of the metric → its figure, as in the last report; `ALL` is the filter that lets
        every session through. Raises WorkspaceError where there is no report."""
        path = self.folder / "reports" / "metrics.json"
        if not path.is_file():
            raise WorkspaceError(f"{self.folder} has no figures yet: run `ci-eval report {self.folder}`")
        (found,) = stored.decoded(stored.read(path, stored.FIGURES), _Report, path).evaluations
        return {name: figures.metrics for name, figures in found.filters.items()}

    def sessions(self) -> ArrowTable:
        """A row per planned session, whether it was answered or not. Raises ConfigError where pyarrow is missing."""
        return self._table("sessions")

    def lookups(self) -> ArrowTable:
        """A row per lookup: an answer of the engine, with the place of the expected text and the time it took."""
        return self._table("lookups")

    def suggestions(self) -> ArrowTable:
        """A row per suggestion in these answers: many; `ci-eval export` writes them without holding all in memory."""
        return self._table("suggestions")

    def _table(self, name: str) -> ArrowTable:
        found: ArrowTable = arrow().table_of(self._workspace, name)
        return found


def open(workspace: str | PathLike[str]) -> Run:  # noqa: A001  it is called ci_eval.open
    """The run in that folder. Raises WorkspaceError where there is none, or where it was changed since it ended."""
    return Run(open_workspace(Path(workspace)))


def open_workspace(folder: Path) -> Workspace:
    """The workspace, whose sessions are as they were when its run ended. Raises WorkspaceError."""
    found = Workspace.open(folder)
    if found.manifest().digests:
        found.verify("sessions", "manifest.json")
    return found


class _Figures(Value, frozen=True, kw_only=True):
    metrics: dict[str, Estimate]


class _Evaluation(Value, frozen=True, kw_only=True):
    filters: dict[str, _Figures]


class _Report(Value, frozen=True, kw_only=True):
    evaluations: tuple[_Evaluation]
