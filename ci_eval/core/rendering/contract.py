"""The interfaces of reports: a format is a module in `plugins/reports/`, which ends in a `REPORTER`, or an entry point
of a package."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from ci_eval.core.filters import ReportFilters
from ci_eval.core.model import Comparison, Evaluation, Overview, Paint, Pair, Session, SourceFile, Suite, Sweep
from ci_eval.core.model.report import Cases, Causes
from ci_eval.core.statistics.population import Strata

Small = Overview | Sweep | Suite | Causes | Cases
"""A result whose pages need none of the stored sessions."""
Result = Evaluation | Comparison | Small


class StoredSessions(Protocol):
    """The stored sessions of an evaluation, one file at a time. They are picklable if more than one process may read
    them."""

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

    def strata(self) -> Strata:
        """Return the strata of all sessions that could have been asked."""

    def paint(self, source: SourceFile, asked: Container[int]) -> Paint:
        """Return how to colour the file; `asked` has the offsets at which its sessions begin."""


class PairedSessions(Protocol):
    """The stored sessions of both sides of a comparison."""

    @property
    def filters(self) -> ReportFilters:
        """Return the filters of the differences; the pairs of the leading one are those of the headline."""

    def of(self, paths: Container[str] | None) -> Iterator[tuple[SourceFile, Sequence[Pair]]]:
        """Yield each of these files that has pairs: its text, and all its sessions in order of offset. None = all
        files."""

    def strata(self) -> Strata:
        """Return the strata of all sessions that could have been asked."""

    def paint(self, source: SourceFile, asked: Container[int]) -> Paint:
        """Return how to colour the file; `asked` has the offsets at which its sessions begin."""

    @property
    def evaluations(self) -> tuple[Path, Path]:
        """Return the workspaces of base and new."""


class Reporter(Protocol):
    """A writer of one format of reports. Its `results`, if it has that attribute, are the types of the results that it
    writes, of Result or Lines; without it, Evaluation alone."""

    @property
    def name(self) -> str: ...

    # A reporter names the types of its own results and sources, so no one type holds for all.
    def write(self, result: Any, sources: Any, folder: Path) -> Path:
        """Write the report below `folder`; return the path of the file that a person opens first. `sources`:
        StoredSessions of an evaluation, PairedSessions of a comparison, None of others."""
