"""The reporters: one file each."""

from ci_eval.contracts import Reporter
from ci_eval.support.catalog import Catalog

CATALOG: Catalog[Reporter] = Catalog(__name__, "REPORTER")
names = CATALOG.names
