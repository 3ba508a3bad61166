"""The interfaces of reports, and the fields and JSON schemas of their files.

A format is a module in `plugins/reports/` that defines `REPORTER`, or an entry point of a package.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.filters import ReportFilters
from ci_eval.core.model import (
    FORMAT,
    Comparison,
    Difference,
    Evaluation,
    FilterFigures,
    Overview,
    Paint,
    Pair,
    PairCounts,
    Session,
    Side,
    SourceFile,
    Suite,
    Sweep,
)
from ci_eval.core.model.report import Cases, Causes
from ci_eval.core.statistics.population import Strata

Small = Overview | Sweep | Suite | Causes | Cases
"""The results whose pages do not need the stored sessions."""
Result = Evaluation | Comparison | Small


class Sources(Protocol):
    """The stored sessions that a result is about."""

    @property
    def filters(self) -> ReportFilters:
        """Return the filters of the figures. The leading filter is the headline."""

    def strata(self) -> Strata:
        """Return the strata of all sessions that could have been asked."""

    def paint(self, source: SourceFile, asked: Container[int]) -> Paint:
        """Return how to colour the file. `asked` has the offsets at which the file's sessions begin."""


class StoredSessions(Sources, Protocol):
    """The stored sessions of an evaluation, file by file."""

    @property
    def paths(self) -> Sequence[str]: ...
    def __iter__(self) -> Iterator[tuple[SourceFile, Iterator[Session]]]: ...
    def of(self, path: str) -> tuple[SourceFile, Iterator[Session]]: ...


class PairedSessions(Sources, Protocol):
    """The stored sessions of both sides of a comparison."""

    def of(self, paths: Container[str] | None) -> Iterator[tuple[SourceFile, Sequence[Pair]]]:
        """Yield each file that has pairs, with all its pairs in order of offset. `paths` selects files; None: all."""

    @property
    def evaluations(self) -> tuple[Path, Path]:
        """Return the workspaces of base and new."""


class Reporter(Protocol):
    """A writer of one format of reports. The optional attribute `results` has the types of results (of Result or Lines)
    that the reporter writes; the default is Evaluation."""

    @property
    def name(self) -> str: ...

    # Reporters take different types of results and sources, so both are `Any` here.
    def write(self, result: Any, sources: Any, folder: Path) -> Path:
        """Write the report below `folder`, and return the path of the file to open first. `sources` are StoredSessions
        for an evaluation, PairedSessions for a comparison, and None for other results."""


CATALOG: Catalog[Reporter] = Catalog("ci_eval.plugins.reports", "REPORTER", group="reports", kind=Reporter)


def write(result: Any, sources: Any, folder: Path) -> dict[str, Path]:
    """Write a result in each format that supports it. Return reporter → the file to open first."""
    return {
        reporter.name: reporter.write(result, sources, folder)
        for reporter in CATALOG.all()
        if isinstance(result, getattr(reporter, "results", Evaluation))
    }


FACTS = (
    "title engine revision project completionType client language seed conditions started population noise",
    "prompts queries gates unfinished populationEstimated",
)
"""The fields of an evaluation that are always in the file, and the fields that are there only if not empty."""
FIGURES = "sessions planned undecided statuses metrics byFile kinds ranks files"
COMPARED = "paired population onlyBase onlyNew changedText files declared wins losses headline"
COUNTED = "sessions wins losses"
LISTED = (
    "parts transitions regressions improvements warnings conditions gates",
    "failures detection populationEstimated",
)
DRAFT = "https://json-schema.org/draft/2020-12/schema"
WHERE = "#/$defs/{name}"


def result_schema(name: str) -> dict[str, Any]:
    """Return the JSON schema of `metrics.json` or of `comparison.json`."""
    kinds = (Evaluation, FilterFigures, Comparison, PairCounts, Side, Difference)
    _, known = msgspec.json.schema_components(kinds, ref_template=WHERE)

    def pick(kind: str, names: str, unless_empty: str, more: Mapping[str, object]) -> dict[str, Any]:
        properties = known[kind]["properties"]
        fields = {field: properties[field] for field in (*names.split(), *unless_empty.split())}
        return {"type": "object", "properties": {**fields, **more}, "required": [*names.split(), *more]}

    def table(of: object) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": of}

    if name == "metrics":
        more = {
            "headline": {"type": "string"},
            "environment": table({"type": "string"}),
            "filters": table(pick("FilterFigures", FIGURES, "", {})),
        }
        whole = pick(
            "Evaluation", "", "", {"evaluations": {"type": "array", "items": pick("Evaluation", *FACTS, more)}}
        )
    else:
        side = {"$ref": WHERE.format(name="Side")}
        metrics = table({"$ref": WHERE.format(name="Difference")})
        more = {
            "base": {"type": "string"},
            "new": {"type": "string"},
            "sides": {"type": "object", "properties": {"base": side, "new": side}, "required": ["base", "new"]},
            "filters": table(pick("PairCounts", COUNTED, "", {"metrics": metrics})),
        }
        names, unless_empty = LISTED
        whole = pick("Comparison", f"{COMPARED} {names} trend", unless_empty, more)
    whole["properties"]["format"] = {"const": FORMAT}
    return document(name, whole, known)


def document(title: str, root: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON schema (draft 2020-12) as a whole document."""
    return {"$schema": DRAFT, "title": f"ci-eval {title}", **root, "$defs": definitions}
