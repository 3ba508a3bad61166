"""The uses of imported names, whose imports can be taken out of the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ci_eval.core.actions.files import Source
from ci_eval.core.base.chance import draw
from ci_eval.core.import_syntax import Import
from ci_eval.core.model import Kind, Token

LONGEST = 1_000_000_000
LENGTHS = (3, LONGEST)
"""The numbers of letters that are typed: with one, no engine has the name near the top."""


class Use(NamedTuple):
    token: Token
    imported: Import


def uses(source: Source, tokens: Sequence[Token]) -> list[Use]:
    """Return a use of each name that the file imports by itself, in order of offset. Of several uses, the seed picks
    one. Left out are names that another import brings as well, and uses in front of the import or of something else
    with the same name."""
    syntax = source.language.import_syntax
    candidates: list[Use] = []
    for imported in syntax.read(source.text) if syntax else ():
        fitting = [token for token in tokens if imported.removable and _uses(token, imported, source.text)]
        if fitting:
            chance = draw(source.seed, f"{source.project}\0{source.path}\0{imported.name}")
            candidates.append(Use(fitting[int(chance * len(fitting))], imported))
    return sorted(candidates, key=lambda use: use.token.offset)


def _uses(token: Token, imported: Import, text: str) -> bool:
    """Return whether the token is the imported name, and not a member or a local variable of that name."""
    known, offset = token.properties, token.offset
    return (
        token.text == imported.name
        and known.kind != Kind.IMPORT
        and offset >= imported.end
        and text[offset - 1 : offset] != "."
        and known.is_static is True
        and known.package is not None
    )
