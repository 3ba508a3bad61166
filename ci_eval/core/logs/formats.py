"""The catalog of formats of logs."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.logs.contract import LogFormat

CATALOG: Catalog[LogFormat] = Catalog("ci_eval.plugins.log_formats", "FORMAT")
names = CATALOG.names
