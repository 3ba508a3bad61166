"""The engines: one file each."""

from ci_eval.contracts import Engine
from ci_eval.support.catalog import Catalog


def _hyphenated(module: str) -> str:
    return module.replace("_", "-")


CATALOG: Catalog[Engine] = Catalog(__name__, "ENGINE", spelling=_hyphenated)
names = CATALOG.names
