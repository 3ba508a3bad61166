"""The command line: one command per job and stage, and the only place that catches all errors."""

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
from ci_eval.ci import Screen
from ci_eval.cli.group import NAMES, Bash, cli, find_command
from ci_eval.core import machine
from ci_eval.core.base.errors import CiEvalError, ConfigError, GateFailed, Interrupted, PreparationError, WorkspaceError

INTERRUPTED = 130
UNREAD = 141
"""The exit code if nobody reads the output any longer: 128 + SIGPIPE."""
COMPLETING = "_CI_EVAL_COMPLETE"
"""The variable in which a shell asks for completions, or for the script that sets them up."""
BUG = 70
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
"""The error numbers of a full or read-only disk."""
EXHAUSTED = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
"""The error numbers of a machine or container that has no more processes, memory or open files."""


def main() -> None:
    machine.collect_rarely()
    # A character that the user's encoding lacks is replaced by `?`, so that it cannot end a run.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if COMPLETING in os.environ:
        add_completion_class(Bash)
    try:
        code = cli.main(standalone_mode=False)
    except CiEvalError as error:
        Screen().detail(traceback.format_exc().rstrip())
        # Broken gates were already reported one by one.
        Screen().fail(str(error), None if isinstance(error, GateFailed) else identify_problem(error))
        code = error.exit_code
    except click.ClickException as error:
        message = io.StringIO()
        error.show(message)
        screen = Screen()
        # The message repeats what the user typed, which might look like a command to the CI.
        screen.explain(message.getvalue().rstrip())
        screen.host.fail(identify_problem(error), error.format_message())
        code = ConfigError.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        # The cause of click's Abort is the exception that interrupted the command.
        cause = error.__cause__
        command = again(sys.argv[1:], cause.folder) if isinstance(cause, Interrupted) else None
        text = "interrupted; resume with:" if command else "interrupted; the command cannot be resumed: start it again"
        Screen().fail(text, "ci_eval_interrupted", command or "")
        code = INTERRUPTED
    except SystemExit as ended:
        # click ends a shell completion with SystemExit. click and rich also raise it, with the exit code of a broken
        # gate, if nobody reads the output any longer.
        code = ended.code if COMPLETING in os.environ else UNREAD
    except Exception as error:  # noqa: BLE001  the last line of defence: whatever it is, it is a bug of ours
        code = _report_bug(error)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at exit. That must not fail again, so the output goes to the null device.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = UNREAD
    # click returns the return value of the command, which need not be an exit code.
    sys.exit(code if isinstance(code, int) else os.EX_OK)


def identify_problem(error: Exception) -> str:
    """Return a name for the kind of error. Unlike the error's text, it is the same in each run."""
    return f"ci_eval_{type(error).__name__}"


def again(arguments: Sequence[str], folder: Path) -> str | None:
    """Return the command that resumes the run in `folder`; None if the run cannot be resumed."""
    name = next((word for word in arguments if word in NAMES), "")
    # `interpret` has no --resume: it always continues in its workspace.
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
