"""The catalog of programming languages."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.contracts import Language

CATALOG: Catalog[Language] = Catalog("ci_eval.plugins.languages", "LANGUAGE", group="languages", kind=Language)
names = CATALOG.names
