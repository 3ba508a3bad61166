"""What a report must provide: one file in `reporters/` that ends in a `REPORTER` of one of these types."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from ci_eval.model import Comparison, Evaluation, Line, Overview, Session, SourceFile, Suite, Sweep
from ci_eval.rendering.painting import Paint


class StoredSessions(Protocol):
    """The stored sessions, one file at a time, for reporters that show them. Picklable where there may be more than one
    process."""

    @property
    def processes(self) -> int:
        """How many may read them at the same time."""

    @property
    def paths(self) -> Sequence[str]:
        """The files, in their order."""

    def __iter__(self) -> Iterator[tuple[SourceFile, Iterator[Session]]]: ...
    def of(self, path: str) -> tuple[SourceFile, Iterator[Session]]:
        """One of the files."""

    def paint(self, source: SourceFile, asked: Container[int]) -> Paint:
        """How the file looks beside its sessions, which begin at `asked`."""


class Reporter(Protocol):
    """One kind of report."""

    @property
    def name(self) -> str: ...

    def write(self, evaluation: Evaluation, sources: StoredSessions, folder: Path) -> Path:
        """Write below `folder`; the path of the file a person opens first."""


Pair = tuple[Session | None, Session | None]
"""Base's and the new one; None where a session is on the other side only."""


class PairedSessions(Protocol):
    """The stored sessions of both sides, for reporters that show them."""

    def of(self, wanted: Container[str]) -> Iterator[tuple[SourceFile, Sequence[Pair]]]:
        """Of each wanted file that has pairs: its text, and all its sessions in order of offset."""

    def paint(self, source: SourceFile, asked: Container[int]) -> Paint:
        """How the file looks beside its sessions, which begin at `asked`."""

    @property
    def evaluations(self) -> tuple[Path, Path]:
        """The workspaces of base and new."""


class ComparisonReporter(Protocol):
    """One kind of report of a comparison."""

    @property
    def name(self) -> str: ...

    def write(self, comparison: Comparison, sources: PairedSessions, folder: Path) -> Path:
        """Write below `folder`; the path of the file a person opens first."""


class OverviewReporter(Protocol):
    """One kind of first page over several comparisons, or over a history."""

    @property
    def name(self) -> str: ...

    def write(self, overview: Overview, folder: Path) -> Path:
        """Write below `folder`; the path of the file a person opens first."""


class SiteReporter(Protocol):
    """One kind of site over the histories of evaluations."""

    @property
    def name(self) -> str: ...

    def write(self, lines: Sequence[Line], folder: Path) -> Path:
        """Write `folder` anew; the path of the file a person opens first."""


class SweepReporter(Protocol):
    """One kind of report of a sweep."""

    @property
    def name(self) -> str: ...

    def write(self, sweep: Sweep, folder: Path) -> Path:
        """Write below `folder`; the path of the file a person opens first."""


class SuiteReporter(Protocol):
    """One kind of report of a suite."""

    @property
    def name(self) -> str: ...

    def write(self, suite: Suite, folder: Path) -> Path:
        """Write below `folder`; the path of the file a person opens first."""
