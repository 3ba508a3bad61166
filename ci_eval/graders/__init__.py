"""The graders: how close a suggestion is to what was expected; one file each."""

from ci_eval.catalog import Catalog
from ci_eval.contracts import Grader

CATALOG: Catalog[Grader] = Catalog(__name__, "GRADER", spelling=lambda module: module.replace("_", "-"))


def names() -> list[str]:
    """As users write them, sorted."""
    return CATALOG.names()
