"""The engines: one file each."""

from ci_eval.catalog import Catalog
from ci_eval.contracts import Engine


def _hyphenated(module: str) -> str:
    """The word that users write: `jedi_language_server` → `jedi-language-server`."""
    return module.replace("_", "-")


CATALOG: Catalog[Engine] = Catalog(__name__, "ENGINE", spelling=_hyphenated, group="engines", kind=Engine)
names = CATALOG.names
