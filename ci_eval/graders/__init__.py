"""The graders: how close a suggestion is to what was expected; one file each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from ci_eval.catalog import Catalog
from ci_eval.contracts import Grader, Pairing, RunSettings
from ci_eval.model.endpoints import EndpointConfig

CATALOG: Catalog[Grader] = Catalog(
    __name__, "GRADER", spelling=lambda module: module.replace("_", "-"), group="graders", kind=Grader
)


@runtime_checkable
class OfTexts(Protocol):
    """A grader that looks at nothing but the two texts."""

    def grade_texts(self, reference: str, hypothesis: str) -> Mapping[str, float]:
        """As `grade` of a pairing that has them, but faster: no pairing is made."""


@runtime_checkable
class Installed(Protocol):
    """A grader that needs more than ci-eval brings."""

    def prepare(self, cache: Path) -> None:
        """Make that ready below `cache`, unless it is; called in each process before it grades. Raises
        PreparationError."""


@runtime_checkable
class Judging(Protocol):
    """A grader that asks a language model."""

    def asking(self, settings: EndpointConfig) -> Grader:
        """The one that asks this model."""


@runtime_checkable
class Executing(Protocol):
    """A grader that runs what it grades."""

    def running(self, settings: RunSettings) -> Grader:
        """The one that does so under these settings."""


@runtime_checkable
class Remarking(Protocol):
    """A grader that has words for people beside its scores."""

    def remark(self, pairing: Pairing) -> str:
        """What there is to say about a pairing that it has graded; empty where that is nothing."""


@runtime_checkable
class Priced(Protocol):
    """A grader whose grades cost money."""

    def cost(self, pairing: Pairing) -> float | None:
        """Return the price of a grade that it gave; None where prices or tokens are not known."""


def names() -> list[str]:
    """As users write them, sorted."""
    return CATALOG.names()


def ready(
    names: Sequence[str], cache: Path, judge: EndpointConfig | None = None, run: RunSettings | None = None
) -> list[Grader]:
    """The graders of these names, installed below `cache`; the model that those ask who judge, and how those run
    things who do.

    Raises ConfigError, PreparationError.
    """
    found = [CATALOG.load(name) for name in names]
    found = [each.asking(judge) if judge and isinstance(each, Judging) else each for each in found]
    found = [each.running(run) if run and isinstance(each, Executing) else each for each in found]
    for grader in found:
        if isinstance(grader, Installed):
            grader.prepare(cache)
    return found
