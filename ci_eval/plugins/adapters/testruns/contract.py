"""The contract of a language: how tests in it are run, and how the function that they test is changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.adapters.place import Place


@dataclass(frozen=True, kw_only=True)
class Work:
    """A run of tests, whose folders are new and deleted afterwards."""

    place: Place
    """The place of the run. Its `folder` is what `Runner.install` made; in its `scratch`, the run may write."""
    test: str
    """The path of the test's file below `files`."""

    @property
    def kit(self) -> Path:
        """Return the folder that `Runner.install` made."""
        return self.place.folder

    @property
    def files(self) -> Path:
        """Return the folder with the files of the record."""
        return self.place.scratch / "files"

    @property
    def report(self) -> Path:
        """Return the file into which the test runner writes its report."""
        return self.place.scratch / "report.xml"


@dataclass(frozen=True, kw_only=True)
class Step:
    """A program that is run to its end, in the folder with the files."""

    argv: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    compiles: bool = False
    """A flag: the program only compiles. If it fails, the steps behind it are not run."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A program that has ended by itself."""

    code: int
    output: str
    """The last part of its standard output."""
    trouble: str
    """The last lines of its standard error."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of one run of tests."""

    compiled: bool = True
    """A flag: no compiler refused the code."""
    runs: bool = False
    """A flag: a test was found and came to a result."""
    passes: bool = False
    """A flag: a test passed, and none failed."""
    said: str = ""
    """The last words of a run that did not pass."""
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Syntax:
    """The names in a language's grammar of the nodes that mutants change. Leaves are named by their text."""

    functions: frozenset[str]
    """The nodes with a `body` that are functions."""
    operations: frozenset[str]
    """The nodes that have an operator among their children."""
    swaps: Mapping[str, str]
    """The operator → the one in its place."""
    negations: frozenset[str]
    """The nodes of `not x` and `!x`; for `!x`, the operator is a child."""
    numbers: frozenset[str]
    strings: frozenset[str]
    booleans: Mapping[str, str]
    """The node of a truth value → the text of the opposite value."""
    returned: str = ""
    """The text that `return` returns in place of its value; "" = it is left alone."""
    removed: Mapping[str, str]
    """The statement that may go → the text in its place; "PARENT NODE" for one that is a statement below that node
    only."""
    left_alone: frozenset[str] = frozenset()
    """The nodes in which nothing is changed, such as types."""


SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "&": "|", "|": "&", "<<": ">>", ">>": "<<",
    "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "%=": "*=", "&=": "|=", "|=": "&=",
}  # fmt: skip
"""The operators that most languages have → the ones in their place."""
SWAPS_AS_IN_C = {**SWAPS, "&&": "||", "||": "&&", "++": "--", "--": "++"}


@dataclass(frozen=True, kw_only=True)
class Runner:
    """A language whose tests are run."""

    name: str
    grammar: str
    """The name of the language in the grammar bundles."""
    programs: tuple[str, ...] = ()
    """The programs of this machine that are needed."""
    install: Callable[[Path], Path]
    """A function that takes the cache and returns the folder in it with everything that the machine does not bring.
    Raises PreparationError."""
    steps: Callable[[Work], Sequence[Step]]
    read: Callable[[Work, Ended], Outcome]
    """A function that returns the outcome of a run, by the report of the test runner."""
    dependencies: str = ""
    """The kind of environment for a project's dependencies: a name of `adapters/environments.py`; "" = only records
    that bring all their files are run."""
    runs_own: bool = False
    """A flag: the compiled program in the scratch folder must be started there."""
    syntax: Syntax
    stub: Callable[[Node, bytes], tuple[int, int, str] | None]
    """A function that takes a function's node and the file, and returns the change that makes the function return
    nothing at once: the begin of the change in the file, the end of the text that it replaces, and the new text. The
    code behind it stays, so that imports are used. Returns None if that cannot be."""
    whole: re.Pattern[str] | None = None
    """The beginning of an answer that is all of the test's file, and so stands in its place."""
    heading: re.Pattern[str] | None = None
    """The text that such an answer gets from the record's file if the answer lacks it, such as the name of its
    package."""
