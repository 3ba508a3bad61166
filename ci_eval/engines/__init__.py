"""The engines: one file each."""

from ci_eval.catalog import Catalog
from ci_eval.contracts import Engine


def _hyphenated(module: str) -> str:
    return module.replace("_", "-")


CATALOG: Catalog[Engine] = Catalog(__name__, "ENGINE", spelling=_hyphenated)
names = CATALOG.names
