"""The completion types: one file each; the name a user writes is the file's in capitals."""

from ci_eval.contracts import Ranker
from ci_eval.support.catalog import Catalog

CATALOG: Catalog[Ranker] = Catalog(__name__, "RANKER", spelling=str.upper)
names = CATALOG.names
