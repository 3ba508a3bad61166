"""Trials of tests. A test is run on the right function, on a stub that does nothing, and on mutants."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from textwrap import dedent, indent

import msgspec

from ci_eval.core.contracts import RunSettings
from ci_eval.core.grammar.document import NotText, read_text
from ci_eval.core.model import Record, Runnable
from ci_eval.fetch import project
from ci_eval.plugins.adapters import environments
from ci_eval.plugins.adapters.codebleu import LANGUAGES
from ci_eval.plugins.adapters.testruns.languages import RUNNERS
from ci_eval.plugins.adapters.testruns.mutants import Mutant, find_function, mutants, stub
from ci_eval.plugins.adapters.testruns.sandbox import Box, Outcome, Runner

ATTEMPTS = 3
"""The number of mutants that are tried for each mutant needed, since some mutants do not compile."""
PATIENCE_S, SLOWER = 3.0, 10.0
"""The time limit for a mutant is `PATIENCE_S` seconds plus `SLOWER` times the time of the right function."""


class NotRunnable(Exception):
    """The tests of a record cannot be run here, for the reason in the message."""


class Trial(msgspec.Struct, frozen=True):
    scores: Mapping[str, float]
    """See `grade` of the grader `execution`."""
    said: str
    """The reason why the test does not pass, or the mutants that the test does not kill."""


class Trials:
    def __init__(self, settings: RunSettings, cache: Path) -> None:
        self._settings = settings
        self._cache = cache
        # Small caches are enough, since a grader explains its scores right after it has computed them.
        self._tried = lru_cache(4)(self._try)
        self._benches = lru_cache(4)(self._bench)

    def of(self, record: Record | None, language: str, test: str) -> Trial:
        """Return the trial of a test. Raises PreparationError if the test runner cannot be installed, or
        EngineFailure."""
        if record is None or record.run is None:
            return Trial({"notRunnable": 1.0}, "The test is not run: the record has no `run`.")
        # The key of a cache must be hashable.
        return self._tried(msgspec.json.encode((record.run, record.references, language)), test)

    def _try(self, task: bytes, test: str) -> Trial:
        try:
            return self._benches(task).trial(test)
        except NotRunnable as reason:
            return Trial({"notRunnable": 1.0}, f"The test is not run: {reason}")

    def _bench(self, task: bytes) -> _Bench:
        run, references, name = msgspec.json.decode(task, type=tuple[Runnable, tuple[str, ...], str])
        language = LANGUAGES.get(name.lower(), name)
        if language not in RUNNERS:
            raise NotRunnable(f"ci-eval runs tests in {', '.join(RUNNERS)}, not in {language or 'no language'}")
        runner = RUNNERS[language]
        for program in runner.programs:
            if shutil.which(program) is None:
                raise NotRunnable(f"{program} is not installed")
        root = environment = None
        if run.project:
            if not runner.dependencies:
                raise NotRunnable(
                    "in this language, a record must contain all files: use `run.files` instead of `run.project`"
                )
            prepared = project.prepare(run.project, cache=self._cache)
            root = prepared.root
            needs = environments.prepare(runner.dependencies, root, prepared.info, dependencies=True, cache=self._cache)
            environment = needs.folder if needs else None
        kit = runner.install(self._cache)
        box = Box(runner=runner, kit=kit, settings=self._settings, project=root, environment=environment)
        bench = _Bench(box, run, self._settings)
        # If even the record's own test fails on this machine, every engine would fail.
        if references and not (outcome := bench.right(references[0])).passes:
            raise NotRunnable(f"the expected test does not pass here:\n{outcome.said}")
        return bench


class _Bench:
    def __init__(self, box: Box, run: Runnable, settings: RunSettings) -> None:
        """Prepare the stub and the mutants. Raises NotRunnable if a file or the function is missing."""
        self._box = box
        self._run = run
        self._timeout = settings.wanted.timeout
        self._most = settings.wanted.mutants
        self._focal = self._text(run.focal.path)
        self._around = self._text(run.test.path)
        runner = box.runner
        if find_function(runner, self._focal, run.focal) is None:
            raise NotRunnable(f"there is no function with a body in {run.focal.path} at {run.focal.begin}")
        self._stub = stub(runner, self._focal, run.focal)
        self._mutants = mutants(runner, self._focal, run.focal) if self._most else []
        self.right = lru_cache(2)(self.outcome)

    def _text(self, path: str) -> str:
        if path in self._run.files:
            return self._run.files[path]
        assert self._box.project, "Runnable sees to it"
        try:
            return read_text(self._box.project, path)
        except (OSError, ValueError, NotText) as error:
            raise NotRunnable(f"{path} of {self._run.project} cannot be read: {error}") from error

    def outcome(self, test: str, focal: str | None = None, timeout: float | None = None) -> Outcome:
        """Run a test. `focal`: a text that replaces the function's file, or None for the file as it is."""
        own = insert_test(test, self._around, self._run, self._box.runner)
        focal = self._focal if focal is None else focal
        texts = {**self._run.files, self._run.focal.path: focal, self._run.test.path: own}
        return self._box.run(texts, self._run.test.path, self._timeout if timeout is None else timeout)

    def trial(self, test: str) -> Trial:
        right = self.right(test) if test.strip() else Outcome(said="there is no test")
        scores = {"runs": float(right.runs), "passes": float(right.passes)}
        if not right.passes:
            scores |= {"failsOnStub": 0.0} if self._stub is not None else {}
            scores |= {"mutantsKilled": 0.0} if self._mutants else {}
            return Trial(scores, right.said)
        # A mutant may loop for ever, so a mutant that is much slower than the right function counts as killed.
        patience = min(self._timeout, PATIENCE_S + SLOWER * right.seconds)
        on_stub = None if self._stub is None else self.outcome(test, self._stub, patience)
        killed, living, source = 0, list[Mutant](), self._focal.encode()
        for mutant in self._mutants[: ATTEMPTS * self._most]:
            outcome = self.outcome(test, mutant.apply_mutation(source), patience)
            # A mutant that does not compile says nothing about the test.
            if not outcome.compiled:
                continue
            killed += not outcome.passes
            living += [mutant] if outcome.passes else []
            if killed + len(living) == self._most:
                break
        words = ["It passes."]
        if on_stub and on_stub.compiled:
            scores["failsOnStub"] = float(not on_stub.passes)
            words[0] += " It also passes where the function does nothing." if on_stub.passes else ""
        if killed or living:
            scores["mutantsKilled"] = killed / (killed + len(living))
            words[0] += f" It kills {killed} of {killed + len(living)} mutants."
        if living:
            words.append("These mutants live (lines of the function):")
            words += [mutant.described(self._focal, self._run.focal) for mutant in living]
        return Trial(scores, "\n".join(words))


def insert_test(test: str, around: str, run: Runnable, runner: Runner) -> str:
    """Return the text of the test file with `test` in the range `run.test`, indented as there. A `test` that is a whole
    file replaces the test file."""
    if runner.whole and runner.whole.match(test.lstrip()):
        heading = runner.heading.search(around) if runner.heading and not runner.heading.search(test) else None
        return f"{heading[0]}\n{test}" if heading else test
    begin, end = run.test.begin, run.test.end
    before = around[around.rfind("\n", 0, begin) + 1 : begin]
    shifted = indent(dedent(test).strip("\n"), before).removeprefix(before) if not before.strip() else test
    return around[:begin] + shifted + around[end:]
