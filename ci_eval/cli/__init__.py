"""The command line: one command per job and stage, and the one place that catches errors."""

from __future__ import annotations

import errno
import io
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click
from click.shell_completion import add_completion_class

from ci_eval import __version__
from ci_eval.ci import Problem, Screen
from ci_eval.cli.group import NAMES, Bash, cli, find_command
from ci_eval.core import machine
from ci_eval.core.base.errors import CiEvalError, ConfigError, GateFailed, Interrupted, PreparationError, WorkspaceError

INTERRUPTED = 130
UNREAD = 141
"""The exit code if nobody reads the output: 128 + SIGPIPE."""
COMPLETING = "_CI_EVAL_COMPLETE"
"""The variable in which a shell asks for completions, or for the script that sets them up."""
BUG = 70
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
"""System errors of a full or read-only disk."""
EXHAUSTED = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
"""System errors of a machine or container without more processes, memory or open files."""


def main() -> None:
    machine.collect_rarely()
    # A character that the user's encoding lacks becomes `?`, so that it cannot end a run.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if COMPLETING in os.environ:
        add_completion_class(Bash)
    try:
        code = cli.main(standalone_mode=False)
    except CiEvalError as error:
        Screen().detail(traceback.format_exc().rstrip())
        # Broken gates have been reported one by one already.
        Screen().fail(str(error), None if isinstance(error, GateFailed) else identify_problem(error))
        code = error.exit_code
    except click.ClickException as error:
        message = io.StringIO()
        error.show(message)
        screen = Screen()
        # The message holds what the user typed, which might look like a command to the CI.
        screen.explain(message.getvalue().rstrip())
        screen.host.fail(Problem(identity=identify_problem(error), text=error.format_message()))
        code = ConfigError.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        # click raises its Abort from the exception that interrupted the command.
        cause = error.__cause__
        command = again(sys.argv[1:], cause.folder) if isinstance(cause, Interrupted) else None
        text = "interrupted; resume with:" if command else "interrupted; nothing can be resumed: start again"
        Screen().fail(text, "ci_eval_interrupted", command or "")
        code = INTERRUPTED
    except SystemExit as ended:
        # click ends a completion for a shell by SystemExit. click and rich also end a command by it when nobody reads
        # its output any longer, and then with the code of a broken gate.
        code = ended.code if COMPLETING in os.environ else UNREAD
    except Exception as error:  # noqa: BLE001  the last line of defence: whatever it is, it is a bug of ours
        code = _report_bug(error)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = UNREAD
    # click returns what the command returned, which is no exit code.
    sys.exit(code if isinstance(code, int) else os.EX_OK)


def identify_problem(error: Exception) -> str:
    """Return the kind of error, which is the same from run to run, unlike its text."""
    return f"ci_eval_{type(error).__name__}"


def again(arguments: Sequence[str], folder: Path) -> str | None:
    """Return the command that resumes the run in a folder; None if it cannot be resumed."""
    name = next((word for word in arguments if word in NAMES), "")
    # `interpret` has no --resume: it always goes on in its workspace.
    if name == "interpret":
        return shlex.join(["ci-eval", name, str(folder), *(["--trust"] if "--trust" in arguments else [])])
    if not name or not any(option.name == "resume" for option in find_command(name).params):
        return None
    resumed = [] if "--resume" in arguments else ["--resume"]
    placed = any(word == "--output" or word.startswith("--output=") for word in arguments)
    return shlex.join(["ci-eval", *arguments, *resumed, *([] if placed else ["--output", str(folder)])])


def _report_bug(error: Exception) -> int:
    if isinstance(error, OSError) and error.errno in FULL:
        Screen().fail(f"cannot write: {error}; make room, or choose another place", "ci_eval_cannot_write")
        return WorkspaceError.exit_code
    exhausted = isinstance(error, OSError) and error.errno in EXHAUSTED
    if exhausted or isinstance(error, MemoryError) or str(error) == "can't start new thread":
        text = (
            f"the machine has no more processes, threads, open files or memory ({error}): raise its limits (ulimit, "
            "the container's pids and memory), or add --jobs 1"
        )
        Screen().fail(text, "ci_eval_exhausted")
        return PreparationError.exit_code
    Screen().fail(
        f"this is a bug in ci-eval {__version__}; please report it with these lines:\n{traceback.format_exc()}",
        identify_problem(error),
    )
    return BUG
