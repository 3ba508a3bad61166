"""Whether a test runs, passes, fails where the function does nothing, and what share of its mutants it kills."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ci_eval.adapters.confinement import NOTHING_OPEN
from ci_eval.adapters.place import confinement_of
from ci_eval.adapters.testruns.trials import Trial, Trials
from ci_eval.contracts import Grader, Pairing, RunSettings
from ci_eval.errors import ConfigError, PreparationError


class Execution:
    """Runs a test, see `adapters/testruns`. The expected test is only run to see whether the record can be run here."""

    name = "execution"
    summary = "whether a test runs, passes, fails on a stub, and the share of mutants it kills (needs `run.tests`)"

    def __init__(self, settings: RunSettings | None = None) -> None:
        self._settings = settings
        self._trials: Trials | None = None

    def running(self, settings: RunSettings) -> Grader:
        """See `graders.Executing`."""
        return Execution(settings)

    def prepare(self, cache: Path) -> None:
        """See `graders.Installed`. What a language takes is installed when its first test is run. Raises ConfigError,
        or PreparationError where this machine cannot keep a test from doing harm."""
        if self._settings is None:
            raise ConfigError(
                "the grader execution runs other people's code: add `run: {tests: true}` to say that it may"
            )
        if self._trials is None:
            _refuse_if_open(self._settings)
            self._trials = Trials(self._settings, cache)

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        """See Grader: `runs`, `passes`, `failsOnStub` and `mutantsKilled`. A test that does not pass has 0 of the last
        two; a function without a stub or without mutants has none of it. Of a record whose tests are not run,
        `notRunnable` alone. Raises PreparationError, EngineFailure."""
        trial = self._trial(pairing)
        if not trial.runnable:
            return {"notRunnable": 1.0}
        scores = {"runs": float(trial.runs), "passes": float(trial.passes)}
        if trial.fails_on_stub is not None:
            scores["failsOnStub"] = float(trial.fails_on_stub)
        if trial.mutants:
            scores["mutantsKilled"] = trial.killed / trial.mutants
        return scores

    def remark(self, pairing: Pairing) -> str:
        """See `graders.Remarking`: why it does not pass, or which mutants it lets live."""
        return self._trial(pairing).said

    def _trial(self, pairing: Pairing) -> Trial:
        assert self._trials, "prepare comes first"
        return self._trials.of(pairing.record, pairing.language, pairing.hypothesis)


def _refuse_if_open(settings: RunSettings) -> None:
    if settings.confine == "off":
        return
    offered = confinement_of(settings.confine)
    if not offered.endswith(NOTHING_OPEN):
        raise PreparationError(
            f"tests that engines write are run within whole walls only, and here they would be: {offered}. See "
            "`ci-eval doctor`; without `run.tests` nothing is run; with `interpret.confine: off` they may do "
            "whatever you may"
        )


GRADER: Grader = Execution()
