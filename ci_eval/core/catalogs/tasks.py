"""The catalog of tasks. A task says what engines are asked to do, and when they have done it."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.contracts import Task

CATALOG: Catalog[Task] = Catalog("ci_eval.plugins.tasks", "TASK", group="tasks", kind=Task)

names = CATALOG.names
