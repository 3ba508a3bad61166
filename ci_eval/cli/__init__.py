"""The command line: one command per job and stage, and the one place that catches errors."""

from __future__ import annotations

import errno
import os
import sys
import traceback

import click

from ci_eval import __version__
from ci_eval.cli import ci, evaluating, judging, learning, looking
from ci_eval.cli.group import cli
from ci_eval.cli.options import DEMO
from ci_eval.errors import CiEvalError, WorkspaceError
from ci_eval.support.ci import Screen

__all__ = ["DEMO", "ci", "cli", "evaluating", "judging", "learning", "looking", "main"]

INTERRUPTED = 130
BUG = 70
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
"""What the system says where a disk is full or cannot be written, wherever that is noticed."""


def main() -> None:
    """Run the command line, and turn what goes wrong into one message and one exit code."""
    try:
        code = cli.main(standalone_mode=False)
    except CiEvalError as error:
        Screen().fail(str(error))
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = 2
    except (KeyboardInterrupt, click.Abort):
        Screen().fail("interrupted; the workspace is kept: repeat with --resume --output and its folder")
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001  the last line of defence: whatever it is, it is a bug of ours
        code = _unforeseen(error)
    sys.stdout.flush()
    sys.exit(code if isinstance(code, int) else os.EX_OK)


def _unforeseen(error: Exception) -> int:
    if isinstance(error, OSError) and error.errno in FULL:
        Screen().fail(f"cannot write: {error}; make room, or choose another place")
        return WorkspaceError.exit_code
    Screen().fail(
        f"this is a bug in ci-eval {__version__}; please report it with these lines:\n{traceback.format_exc()}"
    )
    return BUG
