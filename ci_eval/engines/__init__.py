"""The catalog of engines, one file each."""

from ci_eval.catalog import Catalog
from ci_eval.contracts import Engine


def _hyphenate(module: str) -> str:
    """Return the word that users write: `jedi_language_server` → `jedi-language-server`."""
    return module.replace("_", "-")


CATALOG: Catalog[Engine] = Catalog(__name__, "ENGINE", spelling=_hyphenate, group="engines", kind=Engine)
names = CATALOG.names
