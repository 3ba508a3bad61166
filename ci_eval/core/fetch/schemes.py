"""The catalog of sources of target projects."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.fetch.contract import Scheme

CATALOG: Catalog[Scheme] = Catalog("ci_eval.plugins.schemes", "SCHEME", group="schemes", kind=Scheme)
names = CATALOG.names
