"""The formats of logs: one file each."""

from ci_eval.catalog import Catalog
from ci_eval.learning.logs.contract import LogFormat

CATALOG: Catalog[LogFormat] = Catalog(__name__, "FORMAT")
names = CATALOG.names
