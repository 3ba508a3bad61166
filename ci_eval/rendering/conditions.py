"""Writes down what engines were told, and how that differs between two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ci_eval.model.sent import Condition

MOST = 3
"""Differences that a sentence names."""
LONGEST = 100
"""Characters of a value in a sentence."""


def sentence(differences: Sequence[Condition], shown: Callable[[str], str] = str) -> str:
    """Return the differences in words, such as "base was told `autoImport: off`, new was not"; "" without any.

    `shown` makes foreign text safe there.
    """
    said = [_said(each, shown) for each in differences[:MOST]]
    if (more := len(differences) - MOST) > 0:
        said.append(f"and {more:,} more, which the report lists")
    return "; ".join(said)


def _said(each: Condition, shown: Callable[[str], str]) -> str:
    base, new = (shown(f"`{each.name}: {_short(value)}`") for value in (each.base or "", each.new or ""))
    if each.base is None:
        return f"new was told {new}, base was not"
    if each.new is None:
        return f"base was told {base}, new was not"
    return f"base was told {base}, new {new}"


def _short(value: str) -> str:
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"


def conditions_line(differences: Sequence[Condition], *, only_told: bool, shown: Callable[[str], str] = str) -> str:
    """Return the sentence of a comparison's headline about what the engines were told; "" where that is the same."""
    if not differences:
        return ""
    lead = "The engine is the same, the runs differ only in what it was told" if only_told else "Not told the same"
    return f"{lead}: {sentence(differences, shown)}."
