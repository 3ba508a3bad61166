"""The tasks, one file each. A task says what engines are asked to do, and when they have done it."""

from ci_eval.catalog import Catalog
from ci_eval.contracts import Task

CATALOG: Catalog[Task] = Catalog(
    __name__, "TASK", spelling=lambda module: module.replace("_", "-"), group="tasks", kind=Task
)


def names() -> list[str]:
    """Return the names of the tasks as users write them, sorted."""
    return CATALOG.names()
