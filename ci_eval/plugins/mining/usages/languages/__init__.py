"""The languages that object usages are mined from: one each."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.plugins.mining.usages.dialect import Dialect

CATALOG: Catalog[Dialect] = Catalog(__name__, "DIALECT")
names = CATALOG.names
