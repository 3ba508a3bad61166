"""The languages: one file each."""

from ci_eval.contracts import Language
from ci_eval.support.catalog import Catalog

CATALOG: Catalog[Language] = Catalog(__name__, "LANGUAGE")
names = CATALOG.names
