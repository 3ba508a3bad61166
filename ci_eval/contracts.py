"""What may vary, and what each variant must provide: Language, Engine, Ranker, Metric, Reporter.

A variant is one file in the folder of its plural (`languages/`, `engines/` …) ending in one typed value
(`LANGUAGE: Language = …`, `ENGINE: Engine = …`, `RANKER`, `METRICS`, `REPORTER`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ci_eval.model import (
    EngineInfo,
    Evaluation,
    Extraction,
    MetricInfo,
    Session,
    SessionScore,
    SourceFile,
    Suggestion,
    Token,
)

# ------------------------------------------------------------------------------------------------------ languages


@dataclass(frozen=True, kw_only=True)
class Language:
    """One programming language, as stage 1 needs it."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    keywords: frozenset[str]
    extract: Callable[[str, str], Extraction]
    """Text of a file and its path below the project's root → its completable tokens in order of offset."""
    resolve: Resolver | None = None
    """Fills in properties that only a type analysis can tell; called only when a filter needs them."""
    resolver: str = ""
    """Name and version of that analysis: what it found is kept until this, the file or the project changes."""


class Resolver(Protocol):
    """Decides `is_static` and `package` where the text of the file alone could not."""

    def __call__(self, root: Path, path: str, text: str, tokens: Sequence[Token]) -> list[Token]: ...


# -------------------------------------------------------------------------------------------------------- engines


@dataclass(frozen=True, kw_only=True)
class Installation:
    """An engine made ready: what `start` needs, small enough to send to a worker process."""

    info: EngineInfo
    folder: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Where an engine runs."""

    root: Path
    language: str
    keywords: frozenset[str]
    cache: Path
    timeout: float
    """Seconds one completion may take."""
    memory: int
    """Bytes of address space the engine's process may use; 0 = no limit."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question at one place of the open document."""

    offset: int
    prefix: str
    expected: str
    """For the controls (`oracle`) only: an engine that reads it measures nothing."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The engine's candidates in its own order, and how long it took by its own clock (ms)."""

    suggestions: Sequence[Suggestion]
    latency: float


Edit = tuple[int, int, str]
"""(offset, number of code points deleted there, text inserted there)."""


class Running(Protocol):
    """A started engine. Its methods raise EngineFailure; but for EngineRaised it must then be restarted."""

    def open(self, path: str, text: str) -> None:
        """Show a file of the project; `path` is relative to its root. Replaces the file open before."""

    def edit(self, edits: Sequence[Edit]) -> None:
        """Apply edits, one after the other, to the open file."""

    def complete(self, query: Query) -> Answer:
        """Answer at the caret; the time it takes is the latency a person waits."""

    def restart(self) -> None:
        """A fresh process; no file is open afterwards."""

    def close(self) -> None:
        """End the process and whatever it started; never raises."""


class Engine(Protocol):
    """Something that completes code."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str:
        """One line for `ci-eval list engines`."""

    @property
    def languages(self) -> frozenset[str] | None:
        """Names of the languages it knows; None = any."""

    def install(self, version: str | None, cache: Path) -> Installation:
        """Make it ready below `cache`, once; None = its default version. Raises PreparationError or ConfigError."""

    def start(self, installation: Installation, surroundings: Surroundings) -> Running: ...


# ------------------------------------------------------------------------------------- rankers, metrics, reporters


class Ranker(Protocol):
    """A completion type: the order in which the engine's candidates are shown."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    def order(self, suggestions: Sequence[Suggestion]) -> Sequence[Suggestion]:
        """The same suggestions, best first. Its time counts as latency."""


Observation = tuple[float, float]
"""(numerator, denominator) for a ratio; (value, 1) for a quantile or a count."""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One figure of the report: what is observed in each session, and how observations become the figure."""

    info: MetricInfo
    observe: Callable[[SessionScore], Sequence[Observation]]
    """The observations of one session: none if it is outside the metric's denominator."""
    statistic: Literal["ratio", "quantile", "count"] = "ratio"
    """ratio: sum of numerators / sum of denominators. quantile: the nearest-rank quantile. count: how many."""
    quantile: float = 1.0
    """0 < quantile <= 1, for the statistic of that name; 1 is the maximum."""
    without: float | None = None
    """The figure when nothing was observed; None = there is none."""


class Sources(Protocol):
    """The stored sessions, one file at a time, for reporters that show them."""

    def __iter__(self) -> Iterator[tuple[SourceFile, Iterator[Session]]]: ...


class Reporter(Protocol):
    """One kind of report."""

    @property
    def name(self) -> str: ...

    def write(self, evaluation: Evaluation, sources: Sources, folder: Path) -> Path:
        """Write below `folder`; the path of the file a person opens first."""
