"""The command line, run within the test's own process."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from ci_eval.cli import main

BUG = 70
"""The exit code of ci-eval for an exception that nobody expected."""


def raise_bug(code: object, printed: str) -> None:
    """Raise AssertionError with the traceback that a program printed, if it ended with BUG."""
    assert code != BUG, printed


def command(*arguments: object) -> tuple[int, str, str]:
    """The exit code, and what went to standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.object(sys, "argv", ["ci-eval", *map(str, arguments)]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            raise_bug(ended.code, err.getvalue())
            return int(ended.code or 0), out.getvalue(), err.getvalue()
    raise AssertionError("main returned")
