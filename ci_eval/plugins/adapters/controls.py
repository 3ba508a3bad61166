"""The controls: engines that run inside the worker process, with nothing to install or start."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from ci_eval import __version__
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.contracts import Answer, Edit, Installation, Query, Running, Surroundings
from ci_eval.core.model import EngineInfo, Suggestion
from ci_eval.plugins.adapters.closure import Closure


class OpenText:
    """The text of the open file, the state of a started engine without a process of its own."""

    def __init__(self) -> None:
        self.text = ""

    @property
    def confined(self) -> str:
        """Return "", since there is no process that could be confined."""
        return ""

    def open(self, _path: str, text: str) -> None:
        self.text = text

    def edit(self, edits: Sequence[Edit]) -> None:
        for offset, deleted, inserted in edits:
            self.text = self.text[:offset] + inserted + self.text[offset + deleted :]

    def restart(self) -> None:
        self.text = ""

    def close(self) -> None:
        self.text = ""


class Control(OpenText, ABC):
    """A started control, which suggests words without a process."""

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__()
        self.surroundings = surroundings

    def complete(self, query: Query) -> Answer:
        """Return the candidates of `words`, and the milliseconds it took to find them."""
        started = perf_counter()
        suggestions = [Suggestion(text=word) for word in self.words(query)]
        return Answer(suggestions=suggestions, latency=(perf_counter() - started) * 1000)

    @abstractmethod
    def words(self, query: Query) -> Sequence[str]:
        """Return the candidates, the best first."""


@dataclass(frozen=True)
class ControlEngine:
    """The engine for a control; its version is that of ci-eval."""

    name: str
    summary: str
    control: Callable[[Surroundings], Running]
    languages: frozenset[str] | None = None
    version: str = __version__
    source: str = "ci-eval"
    licence: str = "Apache-2.0"
    verified: bool = True
    toolchains: Mapping[str, str] = field(default_factory=dict)
    needs_dependencies: bool = False
    takes_records: bool = False
    needs: tuple[str, ...] = ()
    own_process: bool = False
    is_function: bool = False
    """True if its lists are a function of the question, so that figures over all sessions are exact."""
    # Predictors share this class, and read the project's other files.
    closure: Closure = Closure.PROJECT

    def is_ready(self, _cache: Path) -> bool | None:
        return None

    def install(self, version: str | None, _cache: Path) -> Installation:
        """Return the installation of the only version. Raises ConfigError if another version is asked for."""
        if version is not None and version != __version__:
            raise ConfigError(f"engine {self.name!r} is part of ci-eval {__version__} and has no version {version!r}")
        is_baseline = self.summary.startswith("baseline")
        return Installation(info=EngineInfo(name=self.name, version=__version__, baseline=is_baseline))

    def start(self, _installation: Installation, surroundings: Surroundings) -> Running:
        return self.control(surroundings)
