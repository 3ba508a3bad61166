"""The catalog of graders, and protocols for graders that can do more than grade."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.contracts import Grader, Pairing, RunSettings
from ci_eval.core.model.settings import EndpointConfig

CATALOG: Catalog[Grader] = Catalog("ci_eval.plugins.graders", "GRADER", group="graders", kind=Grader)
names = CATALOG.names


@runtime_checkable
class OfTexts(Protocol):
    """A grader that looks at nothing but the two texts."""

    def grade_texts(self, reference: str, hypothesis: str) -> Mapping[str, float]:
        """Return what `grade` returns for a pairing of these texts. It is faster, since no pairing is made."""


@runtime_checkable
class Installed(Protocol):
    def prepare(self, cache: Path) -> None:
        """Make ready below `cache` what the grader needs. It is called in each process before the process grades.
        Raises PreparationError."""


@runtime_checkable
class Judging(Protocol):
    @property
    def version(self) -> int:
        """Return the version of its question; grades by different versions are not comparable."""

    def asking(self, settings: EndpointConfig) -> Grader:
        """Return the grader that asks this language model."""


@runtime_checkable
class Executing(Protocol):
    def running(self, settings: RunSettings) -> Grader:
        """Return the grader that runs tests under these settings."""


@runtime_checkable
class Remarking(Protocol):
    """A grader that explains its scores in words."""

    def remark(self, pairing: Pairing) -> str:
        """Return the remark about a pairing that was graded, or an empty string without one."""


@runtime_checkable
class Priced(Protocol):
    """A grader whose grades cost money."""

    def cost(self, pairing: Pairing) -> float | None:
        """Return the price of a grade that was given, or None if prices or tokens are not known."""


def ready(
    names: Sequence[str], cache: Path, judge: EndpointConfig | None = None, run: RunSettings | None = None
) -> list[Grader]:
    """Install the graders below `cache` and return them. `judge`: for graders that ask a language model. `run`: for
    those that run code. Raises ConfigError or PreparationError."""
    graders = [CATALOG.load(name) for name in names]
    graders = [grader.asking(judge) if judge and isinstance(grader, Judging) else grader for grader in graders]
    graders = [grader.running(run) if run and isinstance(grader, Executing) else grader for grader in graders]
    for grader in graders:
        if isinstance(grader, Installed):
            grader.prepare(cache)
    return graders
