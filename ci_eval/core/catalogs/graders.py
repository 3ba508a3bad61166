"""The catalog of graders, and optional protocols that graders may implement."""

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
    """A grader whose scores depend only on the two texts."""

    def grade_texts(self, reference: str, hypothesis: str) -> Mapping[str, float]:
        """Return the same as `grade` for these texts. This is faster, since no Pairing is created."""


@runtime_checkable
class Installed(Protocol):
    def prepare(self, cache: Path) -> None:
        """Install the grader below `cache` if needed. Called in each process that grades. Raises PreparationError."""


@runtime_checkable
class Judging(Protocol):
    @property
    def version(self) -> int:
        """Return the version of the prompt to the judge. Grades by different versions are not comparable."""

    def asking(self, settings: EndpointConfig) -> Grader:
        """Return a copy of the grader that asks this language model."""


@runtime_checkable
class Executing(Protocol):
    def running(self, settings: RunSettings) -> Grader:
        """Return a copy of the grader that runs tests under these settings."""


@runtime_checkable
class Remarking(Protocol):
    def remark(self, pairing: Pairing) -> str:
        """Return a comment on a graded pairing; "" if there is none."""


@runtime_checkable
class Priced(Protocol):
    def cost(self, pairing: Pairing) -> float | None:
        """Return the price of grading a pairing; None if prices or tokens are not known."""


def ready(
    names: Sequence[str], cache: Path, judge: EndpointConfig | None = None, run: RunSettings | None = None
) -> list[Grader]:
    """Install the graders below `cache` and return them. `judge`: the language model for graders that need one. `run`:
    the settings for graders that run code. Raises ConfigError or PreparationError."""
    graders = [CATALOG.load(name) for name in names]
    graders = [grader.asking(judge) if judge and isinstance(grader, Judging) else grader for grader in graders]
    graders = [grader.running(run) if run and isinstance(grader, Executing) else grader for grader in graders]
    for grader in graders:
        if isinstance(grader, Installed):
            grader.prepare(cache)
    return graders
