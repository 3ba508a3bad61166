"""The samples of datasets, object usages in them, and the figures of usage queries.

A usage consists of the methods that a piece of code calls on an object, and the object's definition. It is defined as
in Proksch et al., "Evaluating the evaluations of code recommender systems" (ASE 2016).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath

from ci_eval.core.model.tokens import Number, Value


class Definition(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The definition of an object, such as the constructor call or parameter that the object comes from."""

    kind: str = "UNKNOWN"
    """NEW, RETURN, WITH, PARAM, FIELD, CONSTANT, LOOP, EXCEPT, UNPACK, CAST, GLOBAL, THIS, UNKNOWN. Miners add more."""
    member: str = ""
    """The class for the kind NEW, the function for RETURN, WITH and PARAM, the attribute for FIELD."""
    argument: int | None = None


class ObjectUsage(Value, frozen=True, kw_only=True, omit_defaults=True, rename={"class_": "class"}):
    """The calls that one method makes on objects of one type."""

    type: str
    class_: str = ""
    method: str = ""
    definition: Definition = Definition()
    calls: tuple[str, ...] = ()


class CallPlace(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The location of a call on an object in a text. Offsets are in code points."""

    name: str
    receiver: str = ""
    begin: Number
    """The end offset of the receiver."""
    end: Number
    statement: tuple[Number, Number] | None = None
    """The begin and end of the statement around the call, if the statement can be removed: it contains no other
    statement and no definition of the object, and the grammar allows its absence. None otherwise."""
    line: Number | None = None
    """The end of the line before the statement, if a line may be inserted there; None otherwise."""
    indent: str = ""


class ObjectPlace(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The location in a text at which the next call on an object would be written."""

    text: str = ""
    """The SHA-256 (hex) of the text. The dataset stores each text once."""
    receiver: str
    line: Number
    """The offset after which a new line with `receiver.` would be inserted."""
    indent: str = ""
    calls: tuple[CallPlace, ...] = ()
    """The calls on all objects of the usage, in the order of the text."""


class StoredText(Value, frozen=True, kw_only=True):
    """A text of a dataset. Histories refer to the text by its SHA-256, so that it is stored once."""

    text: str
    packed: bytes
    """The text in UTF-8, compressed by zlib; Base64 in JSON."""


class History(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The states of one object usage in the order in which a user edited it."""

    project: str = ""
    file: str = ""
    user: str = ""
    type: str
    method: str = ""
    states: tuple[ObjectUsage | None, ...]
    """The states, the earliest first; None if the usage did not exist."""
    places: tuple[ObjectPlace | None, ...] = ()
    """The location of each state; None if a state has none. Empty if the texts are not known."""


REGISTRIES = ("pypi", "npm", "maven", "go", "debian")
"""The registries from which the project of a sample may come. A dataset must not refer to local folders."""


class Stretch(Value, frozen=True, kw_only=True):
    path: str
    begin: Number
    end: Number

    def __post_init__(self) -> None:
        """Raise ValueError if the path is invalid, or the end is before the begin."""
        check_path(self.path)
        if self.begin > self.end:
            raise ValueError(f"{self.path}: the end {self.end} is before the begin {self.begin}")


class Runnable(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The files that are needed to run a test of a function, and the locations of function and test."""

    files: dict[str, str] = {}
    project: str = ""
    """The SPEC of a project whose files and dependencies are needed as well; "" if `files` are sufficient."""
    focal: Stretch
    test: Stretch
    """The text that is replaced by the test to run. Its file contains no other tests."""

    def __post_init__(self) -> None:
        """Raise ValueError if a path leads out of the folder, or an offset is beyond the end of its file."""
        for path in self.files:
            check_path(path)
        if self.project and self.project.partition(":")[0] not in REGISTRIES:
            raise ValueError(f"`run.project` is {self.project!r}; expected a SPEC of one of {', '.join(REGISTRIES)}")
        if self.focal.path == self.test.path:
            raise ValueError(f"{self.test.path} holds the function and its test: put them into separate files")
        for part in (self.focal, self.test):
            text = self.files.get(part.path)
            if text is None and not self.project:
                raise ValueError(f"run.files has no {part.path}")
            if text is not None and part.end > len(text):
                raise ValueError(f"{part.path} has {len(text)} characters, so nothing in it can end at {part.end}")


def check_path(path: str) -> None:
    """Raise ValueError unless the path is relative and stays below its folder on every system."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or "\0" in path or ".." in parts or path.endswith("/"):
        raise ValueError(f"{path!r} is not the path of a file below a folder: write a path such as src/shop/cart.py")


class Caret(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A location in a text at which completion engines are asked, since only recommenders answer the record itself."""

    path: str
    text: str
    """The SHA-256 (hex) of the file's text."""
    edits: tuple[tuple[Number, Number, str], ...] = ()
    """Edits before asking, in order: offset, number of code points deleted there, text inserted there."""
    offset: Number


class Record(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A sample of a dataset: a question for an engine, and the right answers."""

    language: str = ""
    instruction: str = ""
    """The question, in which `{name}` stands for the text `context["name"]`; "" = the task's usual question."""
    context: dict[str, str] = {}
    references: tuple[str, ...] = ()
    """The right answers; empty if only a judge can grade an answer."""
    run: Runnable | None = None
    queries: tuple[ObjectUsage, ...] = ()
    next_references: tuple[str, ...] = ()
    """The calls that the next state of the history adds; () unless the strategy is REAL and the goal is not `next`."""
    carets: tuple[Caret | None, ...] = ()
    """The location for completion engines of each of `queries`; None or missing for a query without a location."""


class QueryRow(Value, frozen=True, kw_only=True):
    """The mean F1 of a group of query cases by strategy."""

    name: str
    cases: Number
    f1: dict[str, float]


class Optimism(Value, frozen=True, kw_only=True):
    """The difference in F1 between the strategies `more` and `less`, over the cases that have queries of both."""

    more: str
    less: str
    part: str
    cases: Number
    difference: float
    low: float | None = None
    high: float | None = None
    """The 95 % interval for other code, with files or projects as the sample, is from `low` to `high`."""
    effective: float = 0.0


class Contribution(Value, frozen=True, kw_only=True):
    """The number of a user's histories, of the states and pairs of states in them, and of evaluated pairs."""

    histories: Number = 0
    states: Number = 0
    pairs: Number = 0
    evaluated: Number = 0

    def __add__(self, other: Contribution) -> Contribution:
        return Contribution(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})


class Histories(Value, frozen=True, kw_only=True):
    """Statistics of the histories of a dataset."""

    users: dict[str, Contribution] = {}
    """Digest of a user's name ("" if unknown) → contribution. A digest does not hide a name that can be guessed."""
    lengths: dict[int, Number] = {}


def sum_histories(parts: Iterable[Histories]) -> Histories:
    users, lengths = defaultdict[str, Contribution](Contribution), Counter[int]()
    for part in parts:
        lengths.update(part.lengths)
        for user, contribution in part.users.items():
            users[user] += contribution
    return Histories(users=dict(users), lengths=dict(lengths))


class Steps(Value, frozen=True, kw_only=True):
    """The mean F1 of real queries about the goal and about the next state, over the cases that have both."""

    cases: Number
    goal: float
    next: float
    difference: float
    low: float | None = None
    high: float | None = None
    effective: float = 0.0
    u: float
    """Mann and Whitney's U, which treats the two samples as independent. `p` is the two-sided p-value."""
    p: float


class QueryFigures(Value, frozen=True, kw_only=True):
    """The figures of all usage queries of an evaluation."""

    figure: str = "F1"
    """"F1", or "R-precision" if the length of an engine's lists has no meaning."""
    pairs: dict[str, Number]
    transitions: dict[str, dict[str, Number]]
    scenarios: tuple[QueryRow, ...]
    evolutions: tuple[QueryRow, ...]
    types: tuple[QueryRow, ...]
    all_types: Number
    optimism: tuple[Optimism, ...]
    steps: Steps | None = None
    histories: Histories | None = None
