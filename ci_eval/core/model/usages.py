"""The object usages: which methods a piece of code calls on an object, and how that came to be.

The definitions follow Proksch et al., "Evaluating the evaluations of code recommender systems" (ASE 2016).
"""

from __future__ import annotations

from ci_eval.core.model.tokens import Number, Value


class Definition(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The origin of an object. Two definitions are equal if all three fields are."""

    kind: str = "UNKNOWN"
    """The kind of the definition: NEW, RETURN, WITH, PARAM, FIELD, CONSTANT, LOOP, EXCEPT, UNPACK, CAST, GLOBAL, THIS
    or UNKNOWN; usages that other tools have mined may have kinds of their own."""
    member: str = ""
    """The class of NEW, the function of RETURN, WITH or PARAM, the attribute of FIELD."""
    argument: int | None = None
    """The index of the parameter, from 0 on, if the kind is PARAM."""


class ObjectUsage(Value, frozen=True, kw_only=True, omit_defaults=True, rename={"class_": "class"}):
    """The use that one method makes of the objects of one type."""

    type: str
    """The fully qualified name of the type."""
    class_: str = ""
    """The enclosing class, or the one it inherits from."""
    method: str = ""
    """The enclosing method, fully qualified."""
    definition: Definition = Definition()
    calls: tuple[str, ...] = ()
    """The names of the methods that are called, each once, in the order of the source."""


class CallPlace(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The location of a call on an object in a text; offsets count code points."""

    name: str
    """The name of the method."""
    receiver: str = ""
    """The spelling of the object; "" if that is no name, but an expression."""
    begin: Number
    """The offset behind the receiver."""
    end: Number
    """The offset behind the call."""
    statement: tuple[Number, Number] | None = None
    """The begin and end of the surrounding statement, if it can be removed as a whole: it holds no other statements and
    no definition of the object, and the code is complete without it."""
    line: Number | None = None
    """The end of the line in front of the statement, behind which a separate line may be written; None if there is
    none."""
    indent: str = ""
    """The indentation of the statement."""


class ObjectPlace(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The location of an object in a text, at which the next call on it would be written."""

    text: str = ""
    """The SHA-256 of the text, which the dataset stores once (hex)."""
    receiver: str
    """The spelling of the object."""
    line: Number
    """The offset behind which `receiver.` would be written on a line of its own."""
    indent: str = ""
    """The indentation of that line."""
    calls: tuple[CallPlace, ...] = ()
    """The calls on all objects of the usage, in the order of the text."""


class StoredText(Value, frozen=True, kw_only=True):
    """A text that histories of a dataset refer to; it is stored once, on a line of its own."""

    text: str
    """The SHA-256 of the text, as hex."""
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
    """The states, the earliest first; None: not there at that time."""
    places: tuple[ObjectPlace | None, ...] = ()
    """The location in each state; None if there is no such location. Empty if the texts are not known."""
