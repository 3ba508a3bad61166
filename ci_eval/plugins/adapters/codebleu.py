"""A grader that computes CodeBLEU in a separate process, with grammars of fixed versions."""

from __future__ import annotations

import atexit
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from ci_eval.core.base.errors import ConfigError, EngineFailure
from ci_eval.core.contracts import Pairing
from ci_eval.plugins.adapters.driven import Reply, RunningProcess
from ci_eval.plugins.adapters.place import DRIVERS, Place, bare_surroundings
from ci_eval.plugins.adapters.process import PACKAGE, interpreter
from ci_eval.plugins.adapters.recipes import install_wheels

WHEELS = (
    "tree-sitter==0.26.1",
    "tree-sitter-python==0.25.0",
    "tree-sitter-java==0.23.5",
    "tree-sitter-go==0.25.0",
    "tree-sitter-javascript==0.25.0",
    "tree-sitter-c-sharp==0.23.5",
)
"""The versions are fixed, since the scores of Go code change with the version of the Go grammar."""
ALIASES = {
    "python": "python py python3",
    "java": "java",
    "go": "go golang",
    "javascript": "javascript js node ecmascript",
    "csharp": "csharp c# cs c_sharp c-sharp",
}
LANGUAGES = {alias: name for name, aliases in ALIASES.items() for alias in aliases.split()}
START = (
    # -I and -S keep site-packages off `sys.path`. The grammars' packages come first, ci-eval last.
    "import sys; folder, package = sys.argv[1:]; sys.path[:] = [folder, *sys.path, package]; "
    "from ci_eval.plugins.drivers.codebleu.main import main; main()"
)
PAIR_TIMEOUT = 300.0
"""The time limit for one pair on a busy machine, in seconds. Pairs that are too large are refused anyway."""
MEMORY = 2 << 30  # bytes


class _Reply(Reply):
    scores: dict[str, float] = {}


class CodeBleu:
    def __init__(self, variant: Literal["mera", "strict"], summary: str) -> None:
        self.name = f"codebleu-{variant}"
        self.summary = summary
        self._variant = variant
        self._folder: Path | None = None
        self._running: _Grading | None = None

    def prepare(self, cache: Path) -> None:
        if self._folder is None:
            self._folder = install_wheels("codebleu", WHEELS, cache)

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        language = LANGUAGES.get(pairing.language.lower())
        if language is None:
            known = ", ".join(ALIASES)
            raise ConfigError(f"{self.name} reads {known}, not {pairing.language!r}: give the language of the code")
        if self._running is None:
            assert self._folder is not None, "prepare comes first"
            surroundings = bare_surroundings(DRIVERS, timeout=PAIR_TIMEOUT, memory=MEMORY)
            self._running = _Grading(self._folder, surroundings)
            atexit.register(self.close)
        question = (self._variant, language, pairing.reference, pairing.hypothesis)
        try:
            return self._running.ask(question, PAIR_TIMEOUT, _Reply).scores
        except EngineFailure as failure:
            # If the process stayed open, a late answer would be taken for the answer to the next question.
            if failure.restart:
                self.close()
            raise

    def close(self) -> None:
        atexit.unregister(self.close)
        running, self._running = self._running, None
        if running:
            running.close()


class _Grading(RunningProcess):
    reads = (PACKAGE,)

    def command(self, place: Place) -> Sequence[str]:
        return [interpreter(), "-I", "-S", "-c", START, str(place.folder), str(PACKAGE)]
