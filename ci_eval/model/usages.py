"""Object usages: which methods a piece of code calls on an object, and how that came to be.

After Proksch et al., "Evaluating the evaluations of code recommender systems" (ASE 2016).
"""

from __future__ import annotations

from ci_eval.model.tokens import Number, Value


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


class CallPlace(Value, frozen=True, kw_only=True, omit_defaults=True):
    """Where a call on an object stands in a text; offsets count code points."""

    name: str
    """Of the method."""
    receiver: str = ""
    """How the object is spelled there; "" where that is no name, but an expression."""
    begin: Number
    """Behind the receiver."""
    end: Number
    """Behind the call."""
    statement: tuple[Number, Number] | None = None
    """Begin and end of the statement around, where it can go as a whole: it holds no other statements and no definition
    of the object, and the code is whole without it."""
    line: Number | None = None
    """End of the line in front of the statement, behind which a line of its own may be written; None where there is
    none."""
    indent: str = ""
    """Of the statement."""


class ObjectPlace(Value, frozen=True, kw_only=True, omit_defaults=True):
    """Where an object is in a text, and where the next call on it would be written."""

    text: str = ""
    """SHA-256 of the text, which the dataset holds once (hex)."""
    receiver: str
    """How the object is spelled."""
    line: Number
    """Offset behind which `receiver.` would be written on a line of its own."""
    indent: str = ""
    """Of that line."""
    calls: tuple[CallPlace, ...] = ()
    """All calls on objects of the usage, in the order of the text."""


class StoredText(Value, frozen=True, kw_only=True):
    """A text that histories of a dataset refer to; it is there once, on a line of its own."""

    text: str
    """Its SHA-256, as hex."""
    packed: bytes
    """The UTF-8 text, packed by zlib; in JSON as Base64."""


class History(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The states of one usage over time: of one type in one method of a file, as one user edited it."""

    project: str = ""
    file: str = ""
    user: str = ""
    type: str
    method: str = ""
    states: tuple[ObjectUsage | None, ...]
    """The earliest first; None: not there at that time."""
    places: tuple[ObjectPlace | None, ...] = ()
    """One for each state; None where there is no such place. Empty where the texts are not known."""
