"""The languages whose tests are paired with functions, one module each."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.plugins.mining.unit_tests.pairing import Dialect

CATALOG: Catalog[Dialect] = Catalog(__name__, "DIALECT")
names = CATALOG.names
