"""The catalog of programming languages."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.contracts import Language

CATALOG: Catalog[Language] = Catalog("ci_eval.plugins.languages", "LANGUAGE", group="languages", kind=Language)
names = CATALOG.names

OF_HOLES = {"csharp": (".cs", "c_sharp"), "c": (".c", "c")}
"""The languages of which only holes of a dataset are asked: end of a file's name, grammar."""


def list_grammars(first: str = "") -> dict[str, str]:
    """Return the grammar for each end of a file's name, of all languages; those of the language `first` come first."""
    own = dict(CATALOG.load(first).grammars) if first in names() else {}
    others = {ending: grammar for language in CATALOG.all() for ending, grammar in language.grammars.items() if ending}
    return own | others | dict(OF_HOLES.values())


def list_endings() -> dict[str, str]:
    """Return the end of the names of a language's files, for each language that holes of a dataset can be in."""
    own = {language.name: next(iter(language.grammars)) for language in CATALOG.all()}
    return own | {"text": ".txt"} | {language: ending for language, (ending, _) in OF_HOLES.items()}
