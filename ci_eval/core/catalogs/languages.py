"""The catalog of programming languages."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.contracts import Language

CATALOG: Catalog[Language] = Catalog("ci_eval.plugins.languages", "LANGUAGE", group="languages", kind=Language)
names = CATALOG.names

OF_HOLES = {"csharp": (".cs", "c_sharp"), "c": (".c", "c")}
"""Language that occurs only in datasets of source files with holes → file suffix and grammar."""


def list_grammars(first: str = "") -> dict[str, str]:
    """Return file suffix → grammar for all languages. The suffixes of the language `first` come first."""
    own = dict(CATALOG.load(first).grammars) if first in names() else {}
    others = {ending: grammar for language in CATALOG.all() for ending, grammar in language.grammars.items() if ending}
    return own | others | dict(OF_HOLES.values())


def list_endings() -> dict[str, str]:
    """Return language → file suffix, for the languages that datasets of source files with holes may use."""
    own = {language.name: next(iter(language.grammars)) for language in CATALOG.all()}
    return own | {"text": ".txt"} | {language: ending for language, (ending, _) in OF_HOLES.items()}
