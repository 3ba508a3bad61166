"""The catalog of completion engines."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.contracts import Engine

CATALOG: Catalog[Engine] = Catalog("ci_eval.plugins.engines", "ENGINE", group="engines", kind=Engine)
names = CATALOG.names
