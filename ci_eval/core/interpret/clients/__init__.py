"""The clients, which stand between engine and person; one in each file."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.interpret.contract import Client

CATALOG: Catalog[Client] = Catalog(__name__, "CLIENT")
