"""The catalog of completion engines."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.contracts import Engine


def _hyphenate(module: str) -> str:
    """Return the word that users write: `jedi_language_server` → `jedi-language-server`."""
    return module.replace("_", "-")


CATALOG: Catalog[Engine] = Catalog(
    "ci_eval.plugins.engines", "ENGINE", spelling=_hyphenate, group="engines", kind=Engine
)
names = CATALOG.names
