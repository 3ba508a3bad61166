"""A reader of the reports of test runners. A report is the words of a program that may mean harm."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from ci_eval.core.base.quoting import quote
from ci_eval.plugins.adapters.testruns.contract import Ended, Outcome

LARGEST = 16 << 20
"""Bytes of a report; a larger one is none."""
LINES = 6
"""The number of lines that are left of the beginning and of the end of a program's output."""
LONGEST_LINE = 300


def read_junit(
    path: Path, ended: Ended, *, errors_run: bool, counts: Callable[[str], bool] = lambda _: True
) -> Outcome:
    """Return the outcome by a report in JUnit's XML and the exit code, which must be 0 if all passes: neither is
    believed alone.

    `errors_run`: whether a test that is an `<error>` has run (JUnit: any exception), or not (pytest: it could not be
    imported or set up). `counts`: whether a test of that name is one.
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
    # A test may write a report by itself, or end the process: both must agree.
    passes = bool(whole) and not troubles and ended.code == 0
    return Outcome(
        runs=bool(whole),
        passes=passes,
        said="" if passes else _explain(troubles or ([] if whole else reasons), ended, runs=bool(whole)),
    )


def _explain(elements: list[ElementTree.Element], ended: Ended, *, runs: bool) -> str:
    """Return the reason why the tests did not pass. `elements`: those in the report about tests that did not pass."""
    if not elements:
        why = "the test runner failed behind its tests" if runs else "no test was run to its end"
        return f"{why} (exit code {ended.code})"
    first = elements[0]
    lines = telling_lines(first.text or first.get("message") or first.get("type") or "")
    return "\n".join(["it was skipped", *lines] if first.tag == "skipped" else lines)


def _xml(path: Path) -> str:
    """Return the text of a report. Raises OSError, or ValueError if it is none."""
    # The test may have put a link or a pipe there: neither is followed or waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is no file")
        data = file.read(LARGEST + 1)
    text = data.decode()
    # A few entities within each other can fill the memory.
    if len(data) > LARGEST or "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("it is no report")
    return text


def telling_lines(text: str) -> list[str]:
    """Return the lines that are not blank, each cut to LONGEST_LINE. Of many lines, the first and the last are left."""
    lines = [quote(line.rstrip(), LONGEST_LINE) for line in text.splitlines() if line.strip()]
    return lines if len(lines) <= 2 * LINES else [*lines[:LINES], "…", *lines[-LINES:]]
