"""The samples of a dataset, the object usages in them, and the figures of usage queries.

A usage is the methods that a piece of code calls on an object, and their origin, defined as in Proksch et al.,
"Evaluating the evaluations of code recommender systems" (ASE 2016).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath

from ci_eval.core.model.tokens import Number, Value


class Definition(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The origin of an object. Two definitions are equal if all three fields are."""

    kind: str = "UNKNOWN"
    """NEW, RETURN, WITH, PARAM, FIELD, CONSTANT, LOOP, EXCEPT, UNPACK, CAST, GLOBAL, THIS, UNKNOWN, or a miner's."""
    member: str = ""
    """The class of NEW, the function of RETURN, WITH or PARAM, the attribute of FIELD."""
    argument: int | None = None


class ObjectUsage(Value, frozen=True, kw_only=True, omit_defaults=True, rename={"class_": "class"}):
    """The calls that one method makes on the objects of one type."""

    type: str
    class_: str = ""
    method: str = ""
    definition: Definition = Definition()
    calls: tuple[str, ...] = ()


class CallPlace(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The location of a call on an object in a text; offsets count code points."""

    name: str
    receiver: str = ""
    begin: Number
    """The offset after the receiver."""
    end: Number
    statement: tuple[Number, Number] | None = None
    """Begin and end of the surrounding statement if it can be removed: it holds no other statement and no definition of
    the object, and the code is complete without it."""
    line: Number | None = None
    """The end of the line before the statement, at which a line may be inserted; None if no line may."""
    indent: str = ""


class ObjectPlace(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The location of an object in a text, at which the next call on it would be written."""

    text: str = ""
    """The SHA-256 (hex) of the text, which the dataset stores once."""
    receiver: str
    line: Number
    """The offset after which `receiver.` would be written on a new line."""
    indent: str = ""
    calls: tuple[CallPlace, ...] = ()
    """Calls on all objects of the usage, in the order of the text."""


class StoredText(Value, frozen=True, kw_only=True):
    """A text that histories of a dataset refer to by its hash, so that it is stored once."""

    text: str
    packed: bytes
    """UTF-8, packed by zlib; in JSON as Base64."""


class History(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The states of the usage of one type in one method, as one user edited it."""

    project: str = ""
    file: str = ""
    user: str = ""
    type: str
    method: str = ""
    states: tuple[ObjectUsage | None, ...]
    """The states, the earliest first; None: there was no usage."""
    places: tuple[ObjectPlace | None, ...] = ()
    """Locations by state; None if a state has none. Empty if the texts are not known."""


REGISTRIES = ("pypi", "npm", "maven", "go", "debian")
"""The registries that the project of a sample may come from: a dataset must not name local folders."""


class Stretch(Value, frozen=True, kw_only=True):
    path: str
    begin: Number
    end: Number

    def __post_init__(self) -> None:
        """Raise ValueError unless path and offsets can be those of a file."""
        check_path(self.path)
        if self.begin > self.end:
            raise ValueError(f"{self.path}: the end {self.end} is before the begin {self.begin}")


class Runnable(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The material to run a test of a function."""

    files: dict[str, str] = {}
    project: str = ""
    """The SPEC of the project whose files and dependencies are needed; "" = `files` alone."""
    focal: Stretch
    test: Stretch
    """Replaced by the test. No other test is in that file."""

    def __post_init__(self) -> None:
        """Raise ValueError if a path leads outside the folder, or an offset is beyond the end of its file."""
        for path in self.files:
            check_path(path)
        if self.project and self.project.partition(":")[0] not in REGISTRIES:
            raise ValueError(f"run.project is {self.project!r}: only {', '.join(REGISTRIES)} may be named there")
        if self.focal.path == self.test.path:
            raise ValueError(f"{self.test.path} holds the function and its test: put them into separate files")
        for part in (self.focal, self.test):
            text = self.files.get(part.path)
            if text is None and not self.project:
                raise ValueError(f"run.files has no {part.path}")
            if text is not None and part.end > len(text):
                raise ValueError(f"{part.path} has {len(text)} characters, so nothing in it can end at {part.end}")


def check_path(path: str) -> None:
    """Raise ValueError unless the path leads below the folder it is relative to, on every system."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or "\0" in path or ".." in parts or path.endswith("/"):
        raise ValueError(f"{path!r} is not the path of a file below a folder: write one such as src/shop/cart.py")


class Caret(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A location in a text at which a completion engine is asked in place of a recommender."""

    path: str
    text: str
    """The SHA-256 (hex) of the file's text."""
    edits: tuple[tuple[Number, Number, str], ...] = ()
    """Edits in order: offset, code points deleted there, text inserted there."""
    offset: Number


class Record(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A sample of a dataset: the question to an engine, and right answers."""

    language: str = ""
    instruction: str = ""
    """The question, in which `{name}` stands for that part of the context; "" = the task's usual question."""
    context: dict[str, str] = {}
    references: tuple[str, ...] = ()
    """Right answers; empty if only a judge can decide."""
    run: Runnable | None = None
    queries: tuple[ObjectUsage, ...] = ()
    next_references: tuple[str, ...] = ()
    """The calls that the next state adds, for a real query whose goal may be a later state."""
    carets: tuple[Caret | None, ...] = ()
    """Locations for completion engines, by object; empty or None if there is no location."""


class QueryRow(Value, frozen=True, kw_only=True):
    """The figures of a group of query cases."""

    name: str
    cases: Number
    f1: dict[str, float]


class Optimism(Value, frozen=True, kw_only=True):
    """The advantage of one strategy over another in the cases that both asked about."""

    more: str
    less: str
    part: str
    cases: Number
    difference: float
    low: float | None = None
    high: float | None = None
    """The 95 % interval for other code like this, whose files are the sample; None if there are too few."""
    effective: float = 0.0


class Contribution(Value, frozen=True, kw_only=True):
    """The number of one user's histories, of their states, of pairs of states, and of pairs that are evaluated."""

    histories: Number = 0
    states: Number = 0
    pairs: Number = 0
    evaluated: Number = 0

    def __add__(self, other: Contribution) -> Contribution:
        return Contribution(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})


class Histories(Value, frozen=True, kw_only=True):
    """The histories of a dataset."""

    users: dict[str, Contribution] = {}
    """Digest of the user's name ("" if unknown) → contribution. Whoever guesses a name can recognise its digest."""
    lengths: dict[int, Number] = {}


def sum_histories(parts: Iterable[Histories]) -> Histories:
    users, lengths = defaultdict[str, Contribution](Contribution), Counter[int]()
    for part in parts:
        lengths.update(part.lengths)
        for user, contribution in part.users.items():
            users[user] += contribution
    return Histories(users=dict(users), lengths=dict(lengths))


class Steps(Value, frozen=True, kw_only=True):
    """The F1 of real queries about the goal and about the next state, in cases that have both."""

    cases: Number
    goal: float
    next: float
    difference: float
    low: float | None = None
    high: float | None = None
    effective: float = 0.0
    u: float
    """Mann and Whitney's U, which takes the two as figures of different cases, and its two-sided p-value."""
    p: float


class QueryFigures(Value, frozen=True, kw_only=True):
    """The figures of all usage queries of an evaluation."""

    figure: str = "F1"
    """F1, or R-precision if an engine's lists have no end."""
    pairs: dict[str, Number]
    transitions: dict[str, dict[str, Number]]
    scenarios: tuple[QueryRow, ...]
    evolutions: tuple[QueryRow, ...]
    types: tuple[QueryRow, ...]
    all_types: Number
    optimism: tuple[Optimism, ...]
    steps: Steps | None = None
    histories: Histories | None = None
