"""The apis by which an endpoint is asked; one file each."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.plugins.adapters.endpoints.contract import Api

CATALOG: Catalog[Api] = Catalog(__name__, "API", group="endpoints", kind=Api)
