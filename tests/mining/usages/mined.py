"""Usages of a short text, by their types."""

from __future__ import annotations

from textwrap import dedent

from ci_eval.core.model import Definition, ObjectUsage
from ci_eval.plugins.mining.usages.dialect import Infer, MinedText, ProjectContext
from ci_eval.plugins.mining.usages.languages import CATALOG
from ci_eval.plugins.mining.usages.texts import mine

PATHS = {"python": "shop/cart.py", "java": "src/main/java/shop/Cart.java"}


def text(
    code: str, language: str = "python", own: frozenset[str] = frozenset(["shop"]), infer: Infer | None = None
) -> MinedText:
    """What is in the text of one file."""
    around = ProjectContext(own=own, infer=infer)
    return mine(dedent(code), PATHS[language], CATALOG.load(language), around)


def usages(code: str, language: str = "python", infer: Infer | None = None) -> dict[str, ObjectUsage]:
    """Of the text's only method: type → usage."""
    return {each.usage.type: each.usage for each in text(code, language, infer=infer).usages}


def only(code: str, type_: str, language: str = "python") -> tuple[Definition, tuple[str, ...]]:
    """Of the usage of that type: its definition and its calls."""
    found = usages(code, language)[type_]
    return found.definition, found.calls
