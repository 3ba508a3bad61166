"""What a language must tell for tests in it to be run, and the function they test to be changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ci_eval.adapters.place import Place
from ci_eval.grammar.syntax import Node


@dataclass(frozen=True, kw_only=True)
class Work:
    """One run: its folders are new, and nothing of them remains."""

    place: Place
    """Its `folder` is what `Runner.install` made; in its `scratch`, the run may write."""
    test: str
    """Path of the test's file below `files`."""

    @property
    def kit(self) -> Path:
        """What `Runner.install` made."""
        return self.place.folder

    @property
    def files(self) -> Path:
        """The folder with the files of the record."""
        return self.place.scratch / "files"

    @property
    def report(self) -> Path:
        """Where the test runner writes its report."""
        return self.place.scratch / "report.xml"


@dataclass(frozen=True, kw_only=True)
class Step:
    """A program that is run to its end, in the folder with the files."""

    argv: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    compiles: bool = False
    """Whether it only compiles: where it fails, the steps behind it are not run."""


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
    """What came of one run."""

    compiled: bool = True
    """False where a compiler refused it."""
    runs: bool = False
    """Whether a test was found and came to a result."""
    passes: bool = False
    """Whether a test passed, and none failed."""
    said: str = ""
    """The last words of what did not pass."""
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Syntax:
    """The names that the grammar of a language has for what mutants change. Leaves are named by their text."""

    functions: frozenset[str]
    """Nodes with a `body` that are functions."""
    operations: frozenset[str]
    """Nodes that have an operator among their children."""
    swaps: Mapping[str, str]
    """Operator → the one in its place."""
    negations: frozenset[str]
    """Nodes of `not x` and `!x`; of the second, the operator is a child."""
    numbers: frozenset[str]
    strings: frozenset[str]
    booleans: Mapping[str, str]
    """Node → the text of the other one."""
    returned: str = ""
    """What `return` returns in place of its value; "" = it is left alone."""
    removed: Mapping[str, str]
    """Statement that may go → what is in its place; "PARENT NODE" for one that is a statement below that node only."""
    left_alone: frozenset[str] = frozenset()
    """Nodes in which nothing is changed, such as types."""


SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "&": "|", "|": "&", "<<": ">>", ">>": "<<",
    "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "%=": "*=", "&=": "|=", "|=": "&=",
}  # fmt: skip
"""Operators that most languages have, and the ones in their place."""
SWAPS_AS_IN_C = {**SWAPS, "&&": "||", "||": "&&", "++": "--", "--": "++"}


@dataclass(frozen=True, kw_only=True)
class Runner:
    """A language whose tests are run."""

    name: str
    grammar: str
    """Its name in the bundles."""
    programs: tuple[str, ...] = ()
    """Those of this machine that it takes."""
    install: Callable[[Path], Path]
    """The cache → the folder in it with what the machine does not bring. Raises PreparationError."""
    steps: Callable[[Work], Sequence[Step]]
    read: Callable[[Work, Ended], Outcome]
    """What came of it, by the report of the test runner."""
    dependencies: str = ""
    """How what a project needs is installed: a name of `adapters/environments.py`; "" = only records that bring all
    their files are run."""
    runs_own: bool = False
    """Whether what is compiled in its scratch folder is a program that must be started there."""
    syntax: Syntax
    stub: Callable[[Node, bytes], tuple[int, int, str] | None]
    """A function's node, the file → what makes it return nothing at once: where in the file that begins, where what
    it takes the place of ends, and the text. What is behind it stays, so that imports are used. None where that cannot
    be."""
    whole: re.Pattern[str] | None = None
    """How an answer begins that is all of the test's file, and so stands in its place."""
    heading: re.Pattern[str] | None = None
    """What such an answer gets from the record's file where it lacks it, such as the name of its package."""
