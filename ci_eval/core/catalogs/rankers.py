"""The catalog of completion types. Users write the name of the module in capitals."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.contracts import Ranker

CATALOG: Catalog[Ranker] = Catalog(
    "ci_eval.plugins.rankers", "RANKER", spelling=str.upper, group="rankers", kind=Ranker
)
names = CATALOG.names

ENGINE_ORDER = "BASIC"
