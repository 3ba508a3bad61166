"""The catalog of programming languages."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.contracts import Language

CATALOG: Catalog[Language] = Catalog("ci_eval.plugins.languages", "LANGUAGE", group="languages", kind=Language)
names = CATALOG.names

OF_HOLES = {"csharp": (".cs", "c_sharp"), "c": (".c", "c")}
"""Language that occurs only in holes of a dataset → file ending and grammar."""


def list_grammars(first: str = "") -> dict[str, str]:
    """Return the grammars of all languages by file ending, the language `first` first."""
    own = dict(CATALOG.load(first).grammars) if first in names() else {}
    others = {ending: grammar for language in CATALOG.all() for ending, grammar in language.grammars.items() if ending}
    return own | others | dict(OF_HOLES.values())


def list_endings() -> dict[str, str]:
    """Return the file ending of each language in which a dataset may have holes."""
    own = {language.name: next(iter(language.grammars)) for language in CATALOG.all()}
    return own | {"text": ".txt"} | {language: ending for language, (ending, _) in OF_HOLES.items()}
