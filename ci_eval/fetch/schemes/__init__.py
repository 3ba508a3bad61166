"""The sources of target projects, one file each. Users write the file's name before a colon."""

from ci_eval.catalog import Catalog
from ci_eval.fetch.contract import Scheme

CATALOG: Catalog[Scheme] = Catalog(__name__, "SCHEME", group="schemes", kind=Scheme)
names = CATALOG.names
