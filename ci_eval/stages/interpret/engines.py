"""The engine of one worker process."""

from __future__ import annotations

from ci_eval.contracts import Running
from ci_eval.errors import CiEvalError, EngineCrash, EngineFailure
from ci_eval.stages.interpret.assignments import Setup


class KeptEngine:
    """Started for the first question, kept for the next ones and the next files."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self._running: Running | None = None

    def running(self) -> Running:
        """The engine. Raises EngineCrash if it cannot be started."""
        if self._running is None:
            try:
                self._running = self.setup.engine.start(self.setup.installation, self.setup.surroundings)
            except (CiEvalError, OSError) as error:
                raise EngineCrash(f"the engine could not be started: {error}") from error
        return self._running

    def restart(self) -> None:
        """A fresh process."""
        if self._running is None:
            return
        try:
            self._running.restart()
        except (EngineFailure, OSError):
            # It is started for the next question, which fails if that does.
            self.close()

    @property
    def confined(self) -> str:
        """See Running."""
        try:
            return self._running.confined if self._running else ""
        except EngineFailure:
            # It is about to fail; a question will tell.
            return ""

    def close(self) -> None:
        """End it."""
        running, self._running = self._running, None
        if running:
            running.close()
