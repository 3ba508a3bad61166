"""The object that a call is just being written on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from ci_eval.grammar.document import NotText
from ci_eval.mining.usages.contract import Dialect, MinedText, Surroundings
from ci_eval.mining.usages.languages import CATALOG
from ci_eval.mining.usages.reading import mine
from ci_eval.model import ObjectUsage

MARK = "ciEvalWritesHere"
"""Stands for the name that is being written."""
MEMBER = re.compile(r"\.\s*\Z")
ARGUMENTS = re.compile(r"\s*\(")
DEEPEST = 10
"""Classes between a type and the furthest one that it inherits from."""


def dialect_of(path: str) -> Dialect | None:
    """The language of a file by the end of its name; None where no usages are mined of it."""
    return next((each for each in CATALOG.all() if path.endswith(tuple(each.grammars))), None)


def usages_at(before: str, after: str, path: str, dialect: Dialect) -> list[ObjectUsage]:
    """What the method around does with the object whose member is written between these texts, as far as local rules
    tell; then the same as a usage of each type that this file says the object's type inherits from.

    There is none where no member is written, or the object's type is not known.
    """
    if not MEMBER.search(before):
        return []
    call = MARK if ARGUMENTS.match(after) else f"{MARK}() "
    try:
        found = mine(f"{before}{call}{after}", path, dialect, Surroundings())
    except NotText:
        return []
    usage = next((each.usage for each in found.usages if MARK in each.usage.calls), None)
    if usage is None:
        return []
    usage = replace(usage, calls=tuple(name for name in usage.calls if name != MARK))
    return [usage, *(replace(usage, type=base) for base in _inherited(usage.type, found))]


def _inherited(type_: str, found: MinedText) -> Iterator[str]:
    """The nearest first, each once."""
    seen, level = {type_}, [type_]
    for _ in range(DEEPEST):
        level = [base for each in level for base in found.bases.get(each, ()) if base not in seen]
        seen.update(level)
        yield from dict.fromkeys(level)
