"""The formats of recordings of editing, one module each."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.plugins.mining.usages.histories import Stream

CATALOG: Catalog[Stream] = Catalog(__name__, "STREAM", spelling=lambda name: name.replace("_", "-"))
names = CATALOG.names
