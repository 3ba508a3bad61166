"""The apis by which an endpoint is asked; one file each."""

from ci_eval.adapters.endpoints.contract import Api
from ci_eval.catalog import Catalog

CATALOG: Catalog[Api] = Catalog(__name__, "API")
