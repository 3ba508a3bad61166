"""A grader that runs a test: whether it passes, whether it fails on a stub, and how many mutants it kills."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ci_eval.core.base.errors import ConfigError, PreparationError
from ci_eval.core.contracts import Grader, Pairing, RunSettings
from ci_eval.plugins.adapters.place import measure_confinement
from ci_eval.plugins.adapters.process import NOTHING_OPEN
from ci_eval.plugins.adapters.testruns.trials import Trial, Trials


class Execution:
    """A grader that runs the suggested test, see `adapters/testruns`. A sample can be run if its expected test can."""

    name = "execution"
    summary = "whether a test runs, passes, fails on a stub, and the share of mutants it kills (needs `run.tests`)"

    def __init__(self, settings: RunSettings | None = None) -> None:
        self._settings = settings
        self._trials: Trials | None = None

    def running(self, settings: RunSettings) -> Grader:
        return Execution(settings)

    def prepare(self, cache: Path) -> None:
        """Prepare the sandbox for tests; see `graders.Installed`. The test runner of a language is installed
        on first use. Raises ConfigError without settings, PreparationError if this machine's sandbox has gaps."""
        if self._settings is None:
            raise ConfigError("the grader execution runs other people's code: add `run: {tests: true}` to allow that")
        if self._trials is None:
            # Engines write the tests, so a sandbox with gaps is not enough.
            offered = "" if self._settings.confine == "off" else measure_confinement(self._settings.confine)
            if offered and not offered.endswith(NOTHING_OPEN):
                raise PreparationError(
                    f"ci-eval runs tests of engines only in a sandbox without gaps, and this sandbox is {offered}: see "
                    "`ci-eval doctor`. Without `run.tests`, no test is run; with `interpret.confine: off`, tests have "
                    "all your rights"
                )
            self._trials = Trials(self._settings, cache)

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        """Return `runs`, `passes`, `failsOnStub` and `mutantsKilled`; see `Grader`.

        If the test does not pass, the last two scores are 0. Without a stub or without mutants, the score for them is
        missing. If the sample cannot be run, `notRunnable` is the only score. Raises PreparationError, EngineFailure.
        """
        return self._trial(pairing).scores

    def remark(self, pairing: Pairing) -> str:
        return self._trial(pairing).said

    def _trial(self, pairing: Pairing) -> Trial:
        assert self._trials, "prepare comes first"
        return self._trials.of(pairing.record, pairing.language, pairing.hypothesis)


GRADER: Grader = Execution()
