"""Runs tests in a fresh folder, confined and without network, and reads the reports of test runners."""

from __future__ import annotations

import os
import re
import selectors
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import EngineTimeout
from ci_eval.core.base.quoting import quote
from ci_eval.core.contracts import RunSettings
from ci_eval.core.grammar.syntax import Node
from ci_eval.fetch.clients import ClientEnd
from ci_eval.plugins.adapters.place import Place, bare_surroundings, variables
from ci_eval.plugins.adapters.process import EngineProcess


class Work(msgspec.Struct, frozen=True, kw_only=True):
    place: Place
    """The workspace. Its `folder` is the one from `Runner.install`; the run may write to `scratch`."""
    test: str

    @property
    def files(self) -> Path:
        return self.place.scratch / "files"

    @property
    def report(self) -> Path:
        return self.place.scratch / "report.xml"


class Step(msgspec.Struct, frozen=True, kw_only=True):
    argv: Sequence[str]
    variables: Mapping[str, str] = msgspec.field(default_factory=dict)
    compiles: bool = False
    """True if the program is a compiler. If it fails, later steps are not run."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    compiled: bool = True
    """False if a compiler refused the code."""
    runs: bool = False
    passes: bool = False
    """True if a test passed, and none failed."""
    said: str = ""
    seconds: float = 0.0


class Syntax(msgspec.Struct, frozen=True, kw_only=True):
    """The types of the grammar's nodes that mutants change. The type of a leaf is its text."""

    functions: frozenset[str]
    """Types of function nodes, which have a field `body`."""
    operations: frozenset[str]
    """Types of nodes with an operator among their children."""
    swaps: Mapping[str, str]
    negations: frozenset[str] = frozenset({"unary_expression"})
    """Types of the nodes of `not x` and `!x`, whose first child is the operator."""
    numbers: frozenset[str]
    strings: frozenset[str]
    booleans: Mapping[str, str] = msgspec.field(default_factory=lambda: {"true": "false", "false": "true"})
    """Type of the node of a truth value → the text of the opposite value."""
    returned: str = ""
    """The value that replaces a returned value, or "" if returned values are not changed."""
    removed: Mapping[str, str] = msgspec.field(
        default_factory=lambda: dict.fromkeys(("expression_statement", "throw_statement", "continue_statement"), ";")
    )
    """Type of a statement's node → the text that replaces the statement. The key "PARENT NODE" means a NODE
    that is a statement only below PARENT."""
    left_alone: frozenset[str] = frozenset()


SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "&": "|", "|": "&", "<<": ">>", ">>": "<<",
    "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "%=": "*=", "&=": "|=", "|=": "&=",
}  # fmt: skip
SWAPS_AS_IN_C = {**SWAPS, "&&": "||", "||": "&&", "++": "--", "--": "++"}


class Runner(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """The name of the language and of its grammar."""
    programs: tuple[str, ...] = ()
    install: Callable[[Path], Path]
    """Takes the cache's folder and returns a folder in it with everything that the machine lacks. Raises
    PreparationError."""
    steps: Callable[[Work], Sequence[Step]]
    read: Callable[[Work, ClientEnd], Outcome]
    dependencies: str = ""
    """The kind of environment (`adapters/environments.py`) for the project's dependencies. If empty, only records that
    bring all their files are run."""
    runs_own: bool = False
    syntax: Syntax
    stub: Callable[[Node, Node, bytes], tuple[int, int, str] | None]
    """Takes the function's node, its body and the file. Returns begin, end and new text of a change that makes the
    function return nothing at once. The code after the change stays, so that imports are used."""
    whole: re.Pattern[str] | None = None
    """Matches the beginning of an answer that replaces the whole test file."""
    heading: re.Pattern[str] | None = None
    """Matches a part of the test file, such as its package, that is added if an answer for the whole file has none."""


KEPT_BYTES = 1 << 18
"""Only this many bytes at the end of a program's output are kept."""
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


class Program(EngineProcess):
    def finish(self, timeout: float) -> ClientEnd:
        """Wait for the program's end. Raises EngineTimeout after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        assert self._process.stdin
        # Without this, a program that reads its input would wait.
        self._process.stdin.close()
        printed = b""
        while True:
            self._await(self._stdout, selectors.EVENT_READ, deadline)
            chunk = os.read(self._stdout, 1 << 20)
            if not chunk:
                break
            printed = (printed + chunk)[-KEPT_BYTES:]
        try:
            # The program may close its output and go on.
            code = self._process.wait(max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired as error:
            raise EngineTimeout(f"{self.name} did not end in time") from error
        self._listener.join(timeout=1)
        output, trouble = printed.decode(errors="replace"), "\n".join(self.last_words())
        return ClientEnd(name=self.name, code=code, output=output, trouble=trouble)


class Box(msgspec.Struct, frozen=True, kw_only=True):
    runner: Runner
    kit: Path
    settings: RunSettings
    project: Path | None = None
    environment: Path | None = None

    def run(self, files: Mapping[str, str], test: str, timeout: float) -> Outcome:
        """Run a test. `timeout`: seconds for all steps. Raises EngineCrash if the runner cannot be started."""
        # Strangers' code runs in the complete sandbox or in none: `prepare` of the grader has checked that.
        confine = "off" if self.settings.confine == "off" else "required"
        surroundings = bare_surroundings(
            self.kit, timeout=timeout, memory=self.settings.memory, environment=self.environment, confine=confine
        )
        started = time.monotonic()
        with Place.temporary(self.kit, surroundings) as place:
            work = Work(place=place, test=test)
            if self.project:
                shutil.copytree(self.project, work.files, ignore=_links_and_git)
            for path, text in files.items():
                (work.files / path).parent.mkdir(parents=True, exist_ok=True)
                (work.files / path).write_bytes(text.encode())
            outcome = self._run_steps(work, timeout)
        # The names of folders and the addresses of objects differ from run to run.
        words = outcome.said.replace(f"{work.files}/", "").replace(str(place.scratch), "…").replace(str(self.kit), "…")
        words = ADDRESS.sub("0x…", words)
        return replace(outcome, said=words, seconds=time.monotonic() - started)

    def _run_steps(self, work: Work, timeout: float) -> Outcome:
        deadline = time.monotonic() + timeout
        place, ended = work.place, ClientEnd(name="", code=0, output="", trouble="")
        for step in self.runner.steps(work):
            walls = place.walls(step.argv[0], *self.runner.programs)
            if self.runner.runs_own:
                walls = replace(walls, runs=(*walls.runs, place.scratch))
            environment = {**variables(place), **step.variables}
            with closing(Program(step.argv, cwd=work.files, environment=environment, walls=walls)) as process:
                try:
                    ended = process.finish(max(deadline - time.monotonic(), 0.1))
                except EngineTimeout:
                    return Outcome(said=f"the test did not end within {timeout:g} s")
            if step.compiles and ended.code:
                return Outcome(compiled=False, said="\n".join(telling_lines(ended.trouble or ended.output)))
        return self.runner.read(work, ended)


def _links_and_git(folder: str, names: list[str]) -> list[str]:
    # A link may lead out of the project, and CI systems store tokens in .git.
    return [name for name in names if name == ".git" or Path(folder, name).is_symlink()]


LARGEST = 16 << 20
"""A report with more bytes is refused."""
LINES = 6
LONGEST_LINE = 300


def read_junit(
    path: Path, ended: ClientEnd, *, errors_run: bool, counts: Callable[[str], bool] = lambda _: True
) -> Outcome:
    """Read a report in JUnit's XML, and check the exit code against it.

    `errors_run`: whether a test with an `<error>` has run (JUnit: any exception) or not (pytest: the test could
    not be imported or set up). `counts`: returns whether a name belongs to a test.
    """
    try:
        root = ElementTree.fromstring(_xml(path))  # noqa: S314  `_xml` lets no entities through
    except (OSError, ValueError, ElementTree.ParseError):
        why = f"the test runner ended without a report (exit code {ended.code})"
        return Outcome(said="\n".join([why, *telling_lines(ended.output or ended.trouble)]))
    cases = [case for case in root.iter("testcase") if counts(case.get("name", ""))]
    troubles = [element for case in cases for kind in ("failure", "error") for element in case.findall(kind)]
    skipped = [case for case in cases if case.find("skipped") is not None]
    reasons = [element for case in skipped for element in case.findall("skipped")]
    whole = [case for case in cases if case not in skipped and (errors_run or case.find("error") is None)]
    # A test may write a report itself, or end the process, so the report and the exit code must agree.
    passes = bool(whole) and not troubles and ended.code == 0
    if passes:
        return Outcome(runs=True, passes=True)
    why = "the test runner failed after its tests" if whole else "no test was run to its end"
    said = f"{why} (exit code {ended.code})"
    for first in (troubles or ([] if whole else reasons))[:1]:
        lines = telling_lines(first.text or first.get("message") or first.get("type") or "")
        said = "\n".join(["it was skipped", *lines] if first.tag == "skipped" else lines)
    return Outcome(runs=bool(whole), said=said)


def _xml(path: Path) -> str:
    """Return the text of a report. Raises OSError, or ValueError if the file is not a report."""
    # The test may have put a link or a pipe at this path. Links are not followed, and nothing waits for a pipe.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a file")
        data = file.read(LARGEST + 1)
    text = data.decode()
    # A few entities within each other can fill the memory.
    if len(data) > LARGEST or "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("it is not a report")
    return text


def telling_lines(text: str) -> list[str]:
    """Return the lines that are not blank, each cut to `LONGEST_LINE`; of many lines, only the first and last ones."""
    lines = [quote(line.rstrip(), LONGEST_LINE) for line in text.splitlines() if line.strip()]
    return lines if len(lines) <= 2 * LINES else [*lines[:LINES], "…", *lines[-LINES:]]
