"""The languages that object usages are mined from: one each."""

from ci_eval.catalog import Catalog
from ci_eval.mining.usages.contract import Dialect

CATALOG: Catalog[Dialect] = Catalog(__name__, "DIALECT")
names = CATALOG.names
