"""The exceptions that ci-eval raises on purpose, with the exit code of the command. Any other exception is a bug (70).

A failure in one file or session does not end the command: it is stored and counted as a status. A message says what
happened, why, and what to try.
"""

from __future__ import annotations

from pathlib import Path


class CiEvalError(Exception):
    exit_code = 70


class GateFailed(CiEvalError):
    """A gate is broken. The evaluation and its reports are complete."""

    exit_code = 1


class ConfigError(CiEvalError):
    """The configuration or the command line is invalid."""

    exit_code = 2


class WorkspaceError(CiEvalError):
    """A workspace folder cannot be read, resumed or written."""

    exit_code = 2


class NothingToEvaluate(CiEvalError):
    """A run or a report has no sessions."""

    exit_code = 3


class PreparationError(CiEvalError):
    """The target project or the engine could not be prepared."""

    exit_code = 4


class DownloadError(PreparationError):
    """A download failed or is larger than allowed."""


class ChecksumError(PreparationError):
    """The checksum of a download is not the one in the configuration."""


class ArchiveError(PreparationError):
    """An archive is broken, contains a path outside its folder, or unpacks to too many bytes."""


class InstallError(PreparationError):
    """A package manager failed. The message contains the end of its output."""


class Interrupted(KeyboardInterrupt):
    """The user pressed Ctrl-C during a run. The run can be resumed from the workspace in `folder`."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder


class EngineFailure(CiEvalError):
    """The engine failed. A failure in a session becomes the status of the session."""

    exit_code = 5

    def __init__(self, message: str, *, restart: bool = True) -> None:
        """`restart`: whether the engine must be restarted before the next request."""
        super().__init__(message)
        self.restart = restart


class EngineTimeout(EngineFailure):
    """The engine did not answer in time."""


class EngineCrash(EngineFailure):
    """The engine's process exited unexpectedly."""


class EngineUnstarted(EngineCrash):
    """The engine did not start within its time limit."""


class EngineMisbehaved(EngineFailure):
    """The engine sent a response that does not follow the protocol."""


class EngineRaised(EngineFailure):
    """The engine answered with an error, and is still running."""

    def __init__(self, message: str) -> None:
        super().__init__(message, restart=False)


class ContextTooLong(EngineRaised):
    """The prompt is longer than the language model's context window."""


class BudgetSpent(EngineFailure):
    """The engine was not asked because the budget is spent."""

    def __init__(self, message: str) -> None:
        super().__init__(message, restart=False)


class TooManyFailures(EngineFailure):
    """More sessions failed than the configuration allows. The workspace and its reports are complete."""


class NothingSuggested(EngineFailure):
    """Too many answers are empty: probably the engine does not see the project. The reports are complete."""


class TooManyUnreadable(EngineFailure):
    """More answers of the language model are unreadable than the configuration allows. The reports are complete."""


class TooMuchUnread(EngineFailure):
    """The grammar could not parse a larger share of the source than the configuration allows."""
