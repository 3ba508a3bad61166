"""The console: what a person, or the log of a CI, sees while a job runs and at its end."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import IO, TextIO, cast

from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ci_eval.ci.github import GitHub
from ci_eval.ci.host import Guarded, Host, Problem
from ci_eval.ci.inputs import JOB, advise
from ci_eval.ci.teamcity import TeamCity
from ci_eval.core.rendering import plaintext

HOSTS: tuple[type[Host], ...] = (TeamCity, GitHub)
OUTPUT = "CI_EVAL_OUTPUT"
"""The variable that says how much is printed: `quiet` or `verbose`; anything else is the usual."""
WIDTH = 120
"""Columns of a log whose width is not known."""
TEXT = 30
"""Columns that a column of text must have to be read with ease."""
UNBOUNDED = 10**6
"""Columns, more than any table has."""
NO_STYLES: Mapping[str, str] = {}
PAUSE = 10.0
"""Seconds between two lines of progress in a log."""
FIRST_PAUSE = 5.0
"""Seconds until the first of them, which says how long the rest takes."""


class Screen:
    """The console of a job: standard output for results, standard error for progress and warnings. On a terminal
    progress is a bar with rate and time left; in a log it is a line every ten seconds."""

    def __init__(self, host: Host | None = None) -> None:
        self.host = host or detect_host(os.environ)
        self.quiet, self.verbose = (os.environ.get(OUTPUT) == level for level in ("quiet", "verbose"))
        self._out = _console(sys.stdout, self.host)
        self._err = _console(sys.stderr, self.host)

    def say(self, text: str) -> None:
        if not self.quiet:
            self._err.print(Text(plaintext.lines(text)))

    def advise(self, text: str) -> None:
        """Print a line of what a person does next. It is never wrapped, so that a command in it can be pasted."""
        if not self.quiet:
            self._err.print(Text(plaintext.line(text)), soft_wrap=True)

    def detail(self, text: str) -> None:
        """Print what only a user who asked for details wants to know."""
        if self.verbose:
            self._err.print(Text(plaintext.lines(text), style="dim"))

    def explain(self, text: str) -> None:
        """Print why the command cannot begin, in the words of the command-line library."""
        self._err.print(Text(plaintext.lines(text)))

    def warn(self, text: str) -> None:
        text = advise(text, os.environ.get(JOB, ""))
        self._err.print(Text.assemble(("warning: ", "bold yellow"), plaintext.lines(text)))
        self.host.annotate("warning", plaintext.lines(text))

    def fail(self, text: str, identity: str | None, command: str = "") -> None:
        """Print why the command ends, and the `command` that helps, on an own line that is never wrapped. Reports
        the reason to the CI under `identity`, unless that is None because the CI knows already."""
        text = advise(text, os.environ.get(JOB, ""))
        self._err.print(Text.assemble(("error: ", "bold red"), plaintext.lines(text)))
        if command:
            self._err.print(Text(f"  {plaintext.line(command)}"), soft_wrap=True)
        if identity:
            self.host.fail(Problem(identity=identity, text=plaintext.lines(text)))

    def result(self, text: str) -> None:
        """Print a line of the result, never wrapped."""
        self._out.print(Text(plaintext.line(text)), soft_wrap=True)

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        numbers: int = 0,
        title: str = "",
        styles: Mapping[str, str] = NO_STYLES,
        spare: Sequence[str] = (),
    ) -> None:
        """Print a table; `numbers`: how many of the columns after the first hold numbers; `styles`: cell → its style.

        A terminal that is too narrow gets it without the columns named in `spare`, as many as it takes and the first of
        them first, and says which ones, unless -v asks for all. Where that is not enough, each cell has a line. What is
        no terminal gets each row on one line, for programs that read lines.
        """
        if not self._out.is_terminal:
            for line in _lines(_table(title, columns, rows, numbers, styles)):
                self.result(line)
            return
        listed = [list(row) for row in rows]
        left, absent = list(columns), list[str]()
        for column in (None, *(() if self.verbose else spare)):
            if column is not None:
                place = left.index(column)
                if place <= numbers:
                    numbers -= 1
                absent.append(left.pop(place))
                for row in listed:
                    row.pop(place)
            table = _table(title, left, listed, numbers, styles, whole=bool(spare))
            if Measurement.get(self._out, self._out.options.update(width=UNBOUNDED), table).minimum <= self._out.width:
                self._out.print(table)
                if names := [name for name in absent if name]:
                    self.say(f"Left out, since the terminal is narrow: {', '.join(names)} (-v shows all)")
                return
        self._blocks(title, left, [_cells(row, styles) for row in listed])

    def _blocks(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[Text]]) -> None:
        """Print a table too wide for the terminal, row by row: the first cell, and below it the others with their
        columns."""
        if title:
            self._out.print(Text(plaintext.line(title), style="italic"))
        for first, *others in rows:
            self._out.print(first, style="bold", overflow="fold")
            for column, cell in zip(columns[1:], others, strict=True):
                label = f"{plaintext.line(column)} " if column else ""
                if cell:
                    self._out.print(Text.assemble(f"  {label}", cell), overflow="fold")

    def steps(self, label: str, unit: str) -> Steps:
        return Steps(self._err, label, unit, self.host, quiet=self.quiet)


class Steps:
    def __init__(self, console: Console, label: str, unit: str, host: Host, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._console, self._label, self._unit, self._host = console, label, unit, host
        self._begin = self._said = time.monotonic()
        self._first: int | None = None
        self._estimated = False
        self._bar: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Steps:
        self._host.begin(self._label)
        if self._console.is_terminal and not self._quiet:
            columns = (
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[note]}"),
            )
            progress = Progress(*columns, console=self._console, transient=True)
            progress.start()
            self._bar = progress, progress.add_task(self._label, total=None, rate="", note="")
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        if self._bar:
            self._bar[0].stop()
        self._host.end(self._label)

    def show(self, done: int, total: int, note: str = "") -> None:
        if self._first is None or done <= self._first:
            # The speed counts neither what an earlier run had done, nor the time that the engine took to start.
            self._first, self._begin = done, time.monotonic()
        elapsed = time.monotonic() - self._begin
        rate = (done - self._first) / elapsed if elapsed else 0.0
        if self._bar:
            progress, task = self._bar
            progress.update(
                task, completed=done, total=total, rate=f"{done:,}/{total:,} {self._unit}, {rate:.1f}/s", note=note
            )
        elif time.monotonic() - self._said >= (PAUSE if self._estimated else FIRST_PAUSE):
            self._estimated = True
            self._said = time.monotonic()
            left = f", {(total - done) / rate:.0f} s left" if rate else ""
            more = f", {note}" if note else ""
            said = f"{self._label}: {done:,} of {total:,} {self._unit}, {rate:.1f}/s{left}{more}"
            if not self._quiet:
                self._console.print(Text(said))
            self._host.progress(said)


def detect_host(environment: Mapping[str, str]) -> Host:
    """Return the CI that the environment variables name. CI_EVAL_CI (github, teamcity, none) overrides them."""
    name = environment.get("CI_EVAL_CI", "auto")
    for host in HOSTS:
        if name == host.name or (name == "auto" and environment.get(host.variable, "") not in {"", "false"}):
            return host(sys.stdout)
    return Host(sys.stdout)


def _table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: int,
    styles: Mapping[str, str],
    *,
    whole: bool = False,
) -> Table:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    table = Table(
        title=Text(plaintext.line(title)) if title else None,
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 3, 0, 0),
    )
    for i, column in enumerate(columns):
        table.add_column(
            Text(plaintext.line(column)),
            justify="right" if 0 < i <= numbers else "left",
            header_style="bold",
            no_wrap=i == 0 or (whole and i < len(columns) - 1),
            min_width=(widths[i] if i < len(columns) - 1 else min(TEXT, widths[i])) if whole else None,
        )
    for row in rows:
        table.add_row(*_cells(row, styles))
    return table


def _cells(row: Sequence[str], styles: Mapping[str, str]) -> list[Text]:
    return [Text(plaintext.line(cell), style=styles.get(cell, "")) for cell in row]


def _lines(table: Table) -> list[str]:
    """Return the lines of a table in which no cell is wrapped or cut."""
    unbounded = Console(file=io.StringIO(), width=UNBOUNDED, highlight=False, color_system=None)
    with unbounded.capture() as rendered:
        unbounded.print(table)
    return [line.rstrip() for line in rendered.get().splitlines()]


def _console(stream: TextIO, host: Host) -> Console:
    if host.name == "none":
        return Console(file=stream, width=None if stream.isatty() else WIDTH, highlight=False, soft_wrap=False)
    # rich writes any text, and no text may act as a command to the CI.
    guarded = cast("IO[str]", Guarded(stream, host.harmless))
    return Console(file=guarded, width=WIDTH, highlight=False, soft_wrap=False, force_terminal=False)
