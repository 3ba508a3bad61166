"""The catalog of languages, with one module each."""

from ci_eval.catalog import Catalog
from ci_eval.contracts import Language

CATALOG: Catalog[Language] = Catalog(__name__, "LANGUAGE", group="languages", kind=Language)
names = CATALOG.names
