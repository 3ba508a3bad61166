"""The interfaces of reports: a report is one file in `plugins/reports/`, which ends in a `REPORTER` of one of these
types."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from ci_eval.core.filters import ReportFilters
from ci_eval.core.model import Comparison, Evaluation, Line, Overview, Session, SourceFile, Suite, Sweep
from ci_eval.core.rendering.painting import Paint


class StoredSessions(Protocol):
    """The stored sessions, one file at a time, for reporters that show them. They are picklable if more than one
    process may read them."""

    @property
    def processes(self) -> int:
        """Return how many processes may read the sessions at the same time."""

    @property
    def paths(self) -> Sequence[str]:
        """Return the paths of the files, in their order."""

    @property
    def filters(self) -> ReportFilters:
        """Return the filters of the figures; the sessions of the leading one are those of the headline."""

    def __iter__(self) -> Iterator[tuple[SourceFile, Iterator[Session]]]: ...
    def of(self, path: str) -> tuple[SourceFile, Iterator[Session]]:
        """Return one of the files, with its sessions."""

    def paint(self, source: SourceFile, asked: Container[int]) -> Paint:
        """Return how to colour the file; `asked` has the offsets at which its sessions begin."""


class Reporter(Protocol):
    """A writer of one kind of report."""

    @property
    def name(self) -> str: ...

    def write(self, evaluation: Evaluation, sources: StoredSessions, folder: Path) -> Path:
        """Write the report below `folder`; return the path of the file that a person opens first."""


Pair = tuple[Session | None, Session | None]
"""The session of base and that of new; None if a session is on the other side only."""


class PairedSessions(Protocol):
    """The stored sessions of both sides, for reporters that show them."""

    @property
    def filters(self) -> ReportFilters:
        """Return the filters of the differences; the pairs of the leading one are those of the headline."""

    def of(self, paths: Container[str] | None) -> Iterator[tuple[SourceFile, Sequence[Pair]]]:
        """Yield each of these files that has pairs: its text, and all its sessions in order of offset. None = all
        files."""

    def paint(self, source: SourceFile, asked: Container[int]) -> Paint:
        """Return how to colour the file; `asked` has the offsets at which its sessions begin."""

    @property
    def evaluations(self) -> tuple[Path, Path]:
        """Return the workspaces of base and new."""


class ComparisonReporter(Protocol):
    """A writer of one kind of report of a comparison."""

    @property
    def name(self) -> str: ...

    def write(self, comparison: Comparison, sources: PairedSessions, folder: Path) -> Path:
        """Write the report below `folder`; return the path of the file that a person opens first."""


class OverviewReporter(Protocol):
    """A writer of one kind of first page over several comparisons, or over a history."""

    @property
    def name(self) -> str: ...

    def write(self, overview: Overview, folder: Path) -> Path:
        """Write the page below `folder`; return the path of the file that a person opens first."""


class SiteReporter(Protocol):
    """A writer of one kind of site over the histories of evaluations."""

    @property
    def name(self) -> str: ...

    def write(self, lines: Sequence[Line], folder: Path) -> Path:
        """Write `folder` again as a whole; return the path of the file that a person opens first."""


class SweepReporter(Protocol):
    """A writer of one kind of report of a sweep."""

    @property
    def name(self) -> str: ...

    def write(self, sweep: Sweep, folder: Path) -> Path:
        """Write the report below `folder`; return the path of the file that a person opens first."""


class SuiteReporter(Protocol):
    """A writer of one kind of report of a suite."""

    @property
    def name(self) -> str: ...

    def write(self, suite: Suite, folder: Path) -> Path:
        """Write the report below `folder`; return the path of the file that a person opens first."""
