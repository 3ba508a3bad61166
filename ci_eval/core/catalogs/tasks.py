"""The catalog of tasks. A task defines what an engine is asked, and when an answer is right."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.contracts import Task

CATALOG: Catalog[Task] = Catalog("ci_eval.plugins.tasks", "TASK", group="tasks", kind=Task)
names = CATALOG.names
