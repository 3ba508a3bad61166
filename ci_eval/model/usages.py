"""Object usages: which methods a piece of code calls on an object, and how that came to be.

After Proksch et al., "Evaluating the evaluations of code recommender systems" (ASE 2016).
"""

from __future__ import annotations

from ci_eval.model.tokens import Value


class Definition(Value, frozen=True, kw_only=True, omit_defaults=True):
    """Where an object comes from. Two are equal where all three are."""

    kind: str = "UNKNOWN"
    """NEW, RETURN, WITH, PARAM, FIELD, CONSTANT, LOOP, EXCEPT, UNPACK, CAST, GLOBAL, THIS or UNKNOWN; usages that other
    tools have mined may have kinds of their own."""
    member: str = ""
    """The class of NEW, the function of RETURN, WITH or PARAM, the attribute of FIELD."""
    argument: int | None = None
    """Of PARAM: which one, from 0 on."""


class ObjectUsage(Value, frozen=True, kw_only=True, omit_defaults=True, rename={"class_": "class"}):
    """What one method does with the objects of one type."""

    type: str
    """Fully qualified."""
    class_: str = ""
    """The enclosing class, or what it inherits from."""
    method: str = ""
    """The enclosing method, fully qualified."""
    definition: Definition = Definition()
    calls: tuple[str, ...] = ()
    """Names of the methods that are called, each once, in the order of the source."""


class History(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The states of one usage over time: of one type in one method of a file, as one user edited it."""

    project: str = ""
    file: str = ""
    user: str = ""
    type: str
    method: str = ""
    states: tuple[ObjectUsage | None, ...]
    """The earliest first; None: not there at that time."""
