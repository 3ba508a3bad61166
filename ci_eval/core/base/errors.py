"""The errors that ci-eval raises on purpose, each with the exit code of the command; other exceptions are bugs (70).

Trouble in one file or session is data (a counted status); only set-up problems reach the user as an error. A message
says what happened, why, and what to try.
"""

from __future__ import annotations

from pathlib import Path


class CiEvalError(Exception):
    exit_code = 70


class GateFailed(CiEvalError):
    """A broken gate; the evaluation and its reports are complete."""

    exit_code = 1


class ConfigError(CiEvalError):
    """The configuration or the command line asks for something that does not exist or does not fit."""

    exit_code = 2


class WorkspaceError(CiEvalError):
    """A workspace folder cannot be read, resumed or written."""

    exit_code = 2


class NothingToEvaluate(CiEvalError):
    """The run would produce a report without a single session."""

    exit_code = 3


class PreparationError(CiEvalError):
    """The target project or the engine could not be prepared."""

    exit_code = 4


class DownloadError(PreparationError):
    """A download failed, or is larger than allowed."""


class ChecksumError(PreparationError):
    """A download has another checksum than the configuration pins."""


class ArchiveError(PreparationError):
    """An archive is broken, or would write outside its folder, or unpacks to too much."""


class InstallError(PreparationError):
    """A package client failed; its last words are in the message."""


class Interrupted(KeyboardInterrupt):
    """An interrupt (Ctrl-C) while a workspace was being made; a run can resume the workspace in `folder`."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder


class EngineFailure(CiEvalError):
    """The engine failed; within a session this becomes the session's status."""

    exit_code = 5

    def __init__(self, message: str, *, restart: bool = True) -> None:
        """`restart`: whether the engine must be started again before it can be asked."""
        super().__init__(message)
        self.restart = restart


class EngineTimeout(EngineFailure):
    """The engine did not answer in time."""


class EngineCrash(EngineFailure):
    """The engine's process ended by itself."""


class EngineUnstarted(EngineCrash):
    """The engine did not start within its time limit."""


class EngineMisbehaved(EngineFailure):
    """The engine sent a response that does not follow the protocol."""


class EngineRaised(EngineFailure):
    """The engine answered with an error; it still runs."""

    def __init__(self, message: str) -> None:
        super().__init__(message, restart=False)


class ContextTooLong(EngineRaised):
    """The prompt was longer than the language model's context window."""


class BudgetSpent(EngineFailure):
    """The engine was not asked, since the budget is spent."""

    def __init__(self, message: str) -> None:
        super().__init__(message, restart=False)


class TooManyFailures(EngineFailure):
    """More sessions failed than the configuration allows; the workspace and its reports are complete."""


class NothingSuggested(EngineFailure):
    """The engine answered without suggestions, so it probably did not see the project; the reports are complete."""


class TooManyUnreadable(EngineFailure):
    """More answers of the language model could not be read than the configuration allows; the reports are complete."""


class TooMuchUnread(EngineFailure):
    """The share of the source that the grammar could not read is larger than the configuration allows."""
