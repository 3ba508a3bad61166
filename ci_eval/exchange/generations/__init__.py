"""The generations of the plugin's workspaces: one file each."""

from ci_eval.catalog import Catalog
from ci_eval.exchange.contract import Generation

CATALOG: Catalog[Generation] = Catalog(__name__, "GENERATION")
names = CATALOG.names
