"""The languages whose object usages can be mined, one module each."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.plugins.mining.usages.dialect import Dialect

CATALOG: Catalog[Dialect] = Catalog(__name__, "DIALECT")
names = CATALOG.names
