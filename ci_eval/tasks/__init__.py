"""The tasks: what engines are asked to do, and when they have done it; one file each."""

from ci_eval.catalog import Catalog
from ci_eval.contracts import Task

CATALOG: Catalog[Task] = Catalog(
    __name__, "TASK", spelling=lambda module: module.replace("_", "-"), group="tasks", kind=Task
)


def names() -> list[str]:
    """As users write them, sorted."""
    return CATALOG.names()
