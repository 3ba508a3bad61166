"""The completion types: one file each; the name a user writes is the file's in capitals."""

from ci_eval.catalog import Catalog
from ci_eval.contracts import Ranker

CATALOG: Catalog[Ranker] = Catalog(__name__, "RANKER", spelling=str.upper, group="rankers", kind=Ranker)
names = CATALOG.names
