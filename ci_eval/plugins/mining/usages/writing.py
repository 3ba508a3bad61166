"""The object that a call is just being written on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from ci_eval.core.grammar.document import NotText
from ci_eval.core.model import ObjectUsage
from ci_eval.plugins.mining.usages.contract import Dialect, MinedText, Surroundings
from ci_eval.plugins.mining.usages.languages import CATALOG
from ci_eval.plugins.mining.usages.reading import mine

MARK = "ciEvalWritesHere"
"""Stands for the name that is being written."""
MEMBER = re.compile(r"\.\s*\Z")
ARGUMENTS = re.compile(r"\s*\(")
DEEPEST = 10
"""Classes between a type and the furthest one that it inherits from."""


def find_dialect(path: str) -> Dialect | None:
    """Return the language of a file by its extension, None if no usages are mined of it."""
    return next((dialect for dialect in CATALOG.all() if path.endswith(tuple(dialect.grammars))), None)


def infer_usages(before: str, after: str, path: str, dialect: Dialect) -> list[ObjectUsage]:
    """Return the usage of the object whose member is written between these texts, as far as local rules know it.

    The same usage follows for each type that the file declares as a base of the object's type. The list is empty if no
    member is written, or if the object's type is unknown.
    """
    if not MEMBER.search(before):
        return []
    # Only calls make usages, so a name without brackets gets some.
    call = MARK if ARGUMENTS.match(after) else f"{MARK}() "
    try:
        mined_text = mine(f"{before}{call}{after}", path, dialect, Surroundings())
    except NotText:
        return []
    usage = next((mined_usage.usage for mined_usage in mined_text.usages if MARK in mined_usage.usage.calls), None)
    if usage is None:
        return []
    usage = replace(usage, calls=tuple(name for name in usage.calls if name != MARK))
    return [usage, *(replace(usage, type=base) for base in _base_types(usage.type, mined_text))]


def _base_types(type_: str, mined_text: MinedText) -> Iterator[str]:
    """Yield the types that a type inherits from, the nearest first, each once."""
    seen, level = {type_}, [type_]
    for _ in range(DEEPEST):
        level = [base for subtype in level for base in mined_text.bases.get(subtype, ()) if base not in seen]
        seen.update(level)
        yield from dict.fromkeys(level)
