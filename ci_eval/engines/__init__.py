"""The engines: one file each."""

from ci_eval.contracts import Engine
from ci_eval.support.catalog import Catalog

CATALOG: Catalog[Engine] = Catalog(__name__, "ENGINE")
names = CATALOG.names
