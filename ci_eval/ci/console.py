"""Write the output of a job to a terminal or to the log of a CI, while the job runs and at its end."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from types import TracebackType
from typing import IO, TextIO, cast

import msgspec
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from ci_eval.ci.host import HOSTS, Guarded, Host
from ci_eval.ci.inputs import JOB, advise
from ci_eval.rendering import plaintext

OUTPUT = "CI_EVAL_OUTPUT"
"""The variable that sets how much is printed: `quiet`, `verbose`, or the normal amount for anything else."""
WIDTH = 120
"""The assumed width of a log whose width is unknown, in characters."""
TEXT = 24
GAP = 3
"""The space between two columns of a table, in characters."""
UNBOUNDED = 10**6
NO_STYLES: Mapping[str, str] = {}
PAUSE = 10.0
"""The time between two lines of progress in a log, in seconds."""
FIRST_PAUSE = 5.0
"""The time before the first line of progress, in seconds. This line estimates how long the job takes."""


class Screen:
    """The console of a job. Results go to standard output, progress and warnings to standard error. On a terminal,
    progress is a bar with rate and time left; in a log, it is a line every ten seconds."""

    def __init__(self, host: Host | None = None) -> None:
        self.host = host or detect_host(os.environ)
        self.quiet, self.verbose = (os.environ.get(OUTPUT) == level for level in ("quiet", "verbose"))
        self._out = _console(sys.stdout, self.host)
        self._err = _console(sys.stderr, self.host)
        self._left_out = ""
        self._is_fitted = self._out.is_terminal or os.environ.get("COLUMNS", "").isdigit()

    def say(self, text: str) -> None:
        if not self.quiet:
            _print(self._err, text)

    def advise(self, text: str) -> None:
        """Print a line to standard error, never wrapped, so that a command in the line can be copied."""
        if not self.quiet:
            self._err.print(Text(plaintext.line(text)), soft_wrap=True)

    def detail(self, text: str) -> None:
        """Print a text, but only with -v."""
        if self.verbose:
            _print(self._err, text, style="dim")

    def explain(self, text: str) -> None:
        _print(self._err, text)

    def warn(self, text: str) -> None:
        text = advise(text, os.environ.get(JOB, ""))
        _print(self._err, text, "warning: ", "bold yellow")
        self.host.annotate("warning", plaintext.lines(text))

    def fail(self, text: str, identity: str | None, command: str = "") -> None:
        text = advise(text, os.environ.get(JOB, ""))
        _print(self._err, text, "error: ", "bold red")
        if command:
            self._err.print(Text(f"  {plaintext.line(command)}"), soft_wrap=True)
        if identity:
            self.host.fail(identity, plaintext.lines(text))

    def result(self, text: str) -> None:
        """Print a text. If the width of the console is known, the text is wrapped between words."""
        if self._is_fitted:
            _print(self._out, plaintext.line(text))
        else:
            self.line(text)

    def line(self, text: str) -> None:
        """Print a line, never wrapped, so that it can be copied or read by a program."""
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
        """Print a table. `numbers` is how many columns after the first hold numbers; `styles` maps cells to styles.

        If a terminal, or a log whose width COLUMNS sets, is too narrow, the columns in `spare` are dropped one by one,
        unless -v asks for all. If that is not enough, the table is printed in parts below each other, each with the
        first column. In other logs, each row is on one line, for programs that read lines.
        """
        whole = _Grid(columns, [list(row) for row in rows], numbers, styles)
        if not self._is_fitted:
            whole.print(self._out, title, UNBOUNDED)
            return
        left, absent = list(range(len(columns))), list[str]()
        for name in () if self.verbose else spare:
            if whole.pick(left).widths(self._out.width):
                break
            absent.append(name)
            left = [place for place in left if columns[place] != name]
        first, *others = left
        while True:
            count = len(others)
            while count > 1 and not whole.pick([first, *others[:count]]).widths(self._out.width):
                count -= 1
            part = whole.pick([first, *others[:count]])
            part.print(self._out, title, self._out.width)
            title, others = "", others[count:]
            if not others:
                break
        names = ", ".join(filter(None, absent))
        # Several tables of a command often lack the same columns, which is said only once.
        if names and names != self._left_out:
            self._left_out = names
            self.say(f"Left out, since the terminal is narrow: {names} (-v shows all)")

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
            # The rate excludes what an earlier run had done, and the time that the engine took to start.
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
    """Return the CI that the environment variables show. CI_EVAL_CI (github, teamcity, none) overrides them."""
    name = environment.get("CI_EVAL_CI", "auto")
    for host in HOSTS:
        if name == host.name or (name == "auto" and environment.get(host.variable, "") not in {"", "false"}):
            return host(sys.stdout)
    return Host(sys.stdout)


class _Grid(msgspec.Struct, frozen=True):
    """A table for a console. `numbers` is how many columns after the first are right-aligned."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int
    styles: Mapping[str, str]

    def pick(self, places: Sequence[int]) -> _Grid:
        numbers = sum(0 < place <= self.numbers for place in places)
        rows = [[row[place] for place in places] for row in self.rows]
        return _Grid([self.columns[place] for place in places], rows, numbers, self.styles)

    def widths(self, available: int) -> list[int]:
        widest, least = list[int](), list[int]()
        for place, column in enumerate(zip(self.columns, *self.rows, strict=True)):
            widest.append(max(1, *map(cell_len, column)))
            words = (cell_len(word) for cell in column for word in cell.split())
            is_number = 0 < place <= self.numbers
            least.append(widest[place] if is_number else max(min(TEXT, widest[place]), *words, 1))
        available -= GAP * (len(widest) - 1)
        if sum(least) > available:
            return []
        while sum(widest) > available:
            longest = max(
                (place for place in range(len(widest)) if widest[place] > least[place]), key=widest.__getitem__
            )
            widest[longest] -= 1
        return widest

    def print(self, console: Console, title: str, width: int) -> None:
        """Print each row on one line. If the rows do not fit into `width`, print each cell on a separate line."""
        if title:
            console.print(Text(plaintext.line(title), style="italic"), soft_wrap=True)
        widths = self.widths(width)
        if not widths:
            for first, *others in self.rows:
                console.print(Text(plaintext.line(first), style="bold"), soft_wrap=True)
                for column, cell in zip(self.columns[1:], others, strict=True):
                    _print(console, f"{column} {cell}".strip(), "  ")
            return
        for number, row in enumerate([self.columns, *self.rows]):
            lists = []
            for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
                text = Text(plaintext.line(cell), style=self.styles.get(cell, "") if number else "bold")
                justify: JustifyMethod = "right" if 0 < place <= self.numbers else "left"
                lists.append(list(text.wrap(console, width, justify=justify)))
            # A cell with fewer lines than others of its row is blank in the last lines of the row.
            for texts in zip_longest(*lists):
                pairs = zip(texts, widths, strict=True)
                line = Text(" " * GAP).join(text or Text(" " * width) for text, width in pairs)
                line.rstrip()
                console.print(line, soft_wrap=True)


def _print(console: Console, text: str, before: str = "", style: str = "") -> None:
    """Wrap between words; rich would break long words. `style` is for `before` or, if that is "", the whole text."""
    for number, line in enumerate(plaintext.lines(text).split("\n")):
        start = "" if number else before
        wrapped = wrap(start + line, console.width, break_long_words=False, break_on_hyphens=False) or [""]
        for place, part in enumerate(wrapped):
            shown = Text(part, style="" if before else style)
            if start and not place:
                shown.stylize(style, 0, len(before))
            console.print(shown, soft_wrap=True)


def _console(stream: TextIO, host: Host) -> Console:
    if host.name == "none":
        # If the width is None, rich reads COLUMNS or asks the terminal. Some programs set COLUMNS to 0 for "not known".
        columns = os.environ.get("COLUMNS", "")
        known = columns.strip("0") != "" if columns.isdigit() else stream.isatty()
        return Console(file=stream, width=None if known else WIDTH, highlight=False, soft_wrap=False)
    # Text from other programs must not act as a command to the CI.
    guarded = cast("IO[str]", Guarded(stream, host.harmless))
    return Console(file=guarded, width=WIDTH, highlight=False, soft_wrap=False, force_terminal=False)
