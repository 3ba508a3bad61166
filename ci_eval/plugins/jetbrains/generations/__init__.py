"""The generations of the plugin's workspaces, one module each."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.plugins.jetbrains.generation import Generation

CATALOG: Catalog[Generation] = Catalog(__name__, "GENERATION")
names = CATALOG.names
