"""Base classes of engines that run in the worker process: controls, and predictors of tokens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from time import perf_counter
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import Meta

from ci_eval import __version__
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.base.files import NOT_SOURCE, below
from ci_eval.core.contracts import Answer, Edit, Engine, Installation, Query, Running, Surroundings
from ci_eval.core.grammar.document import NotText, read_text
from ci_eval.core.logs.names import START_OF_LINE
from ci_eval.core.model import EngineInfo, Kind, Suggestion
from ci_eval.plugins.adapters.engine import Closure
from ci_eval.plugins.learning.ngrams import Class, classify_token


class OpenText:
    def __init__(self) -> None:
        self.path = self.text = ""

    @property
    def confined(self) -> str:
        return ""

    def open(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    def edit(self, edits: Sequence[Edit]) -> None:
        for offset, deleted, inserted in edits:
            self.text = self.text[:offset] + inserted + self.text[offset + deleted :]

    def restart(self) -> None:
        self.text = ""

    def close(self) -> None:
        self.text = ""


class Control(OpenText, ABC):
    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__()
        self.surroundings = surroundings

    def complete(self, query: Query) -> Answer:
        started = perf_counter()
        suggestions = [Suggestion(text=word) for word in self.words(query)]
        return Answer(suggestions=suggestions, latency=(perf_counter() - started) * 1000)

    @abstractmethod
    def words(self, query: Query) -> Sequence[str]:
        """Return the candidates, best first."""


@dataclass(frozen=True)
class ControlEngine:
    name: str
    summary: str
    control: Callable[..., Running]
    """A function that takes the engine's `Surroundings` and returns the running engine."""
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
    """True if a suggestion list depends only on the question. Figures over all sessions are then exact."""
    closure: Closure = Closure.PROJECT

    def is_ready(self, _cache: Path) -> bool | None:
        return None

    def install(self, version: str | None, _cache: Path) -> Installation:
        """Return an installation with ci-eval's version. Raises ConfigError if another version is requested."""
        if version is not None and version != __version__:
            raise ConfigError(f"engine {self.name!r} is part of ci-eval {__version__} and has no version {version!r}")
        is_baseline = self.summary.startswith("baseline")
        return Installation(info=EngineInfo(name=self.name, version=__version__, baseline=is_baseline))

    def start(self, _installation: Installation, surroundings: Surroundings) -> Running:
        return self.control(surroundings)


CLASSES: Mapping[Kind, Class] = {
    Kind.KEYWORD: "keyword",
    Kind.LITERAL: "literal",
    Kind.OPERATOR: "operator",
    Kind.PUNCTUATION: "punctuation",
}


class EngineOptions(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The base class of an engine's options, which the configuration sets in `engine.options`."""


class PredictorOptions(EngineOptions, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=1000)] = 10


Options = TypeVar("Options", bound=PredictorOptions)


class Predictor(Control, Generic[Options]):
    def __init__(self, options: Options, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        self.options = options
        kinds = surroundings.kinds
        # `asked` is called with the same few tokens at each caret.
        self.asked = lru_cache(maxsize=None)(self._is_asked)
        self._classes = None if kinds is None else {CLASSES.get(kind, "name") for kind in kinds}

    def open(self, path: str, text: str) -> None:
        super().open(path, text)
        self.begin()

    def begin(self) -> None:
        """Prepare for the open file."""

    def words(self, query: Query) -> Sequence[str]:
        begin = query.offset - len(query.prefix)
        # The predictor does not see the typed prefix, which only filters its predictions.
        predictions = self.predict(self.text[:begin], self.text[query.offset :])
        fitting = dict.fromkeys(text for text in predictions if text.startswith(query.prefix))
        return list(fitting)[: self.options.limit]

    @abstractmethod
    def predict(self, before: str, after: str) -> Iterable[str]:
        """Return tokens that may come between `before` and `after`, likeliest first. A token may occur twice."""

    def _is_asked(self, token: str) -> bool:
        if token == START_OF_LINE:
            return False
        return self._classes is None or classify_token(token, self.surroundings.keywords) in self._classes

    @cached_property
    def files(self) -> dict[str, str]:
        """Return path → text for all source files of the language. Binary files are skipped."""
        root = self.surroundings.root
        ignored = NOT_SOURCE | self.surroundings.ignored
        texts = {}
        for path in below(root, root, self.surroundings.suffixes, ignored):
            with suppress(NotText, OSError):
                texts[path] = read_text(root, path)
        return texts


@dataclass(frozen=True, kw_only=True)
class ConfigurableEngine(ControlEngine):
    """An engine whose `control` also takes options. The engine's version names the options that are not defaults."""

    options: EngineOptions
    is_function: bool = True

    @property
    def described(self) -> str:
        usual, current = msgspec.to_builtins(type(self.options)()), msgspec.to_builtins(self.options)
        # A model is described by its digest, not by its path.
        changed = {key: value for key, value in current.items() if key != "model" and value != usual[key]}
        texts = {key: "+".join(value) if isinstance(value, tuple | list) else value for key, value in changed.items()}
        return ", ".join(f"{key} {text}" for key, text in texts.items())

    def configured(self, options: Mapping[str, object]) -> Engine:
        try:
            parsed = msgspec.convert(dict(options), type(self.options))
        except msgspec.ValidationError as error:
            known = ", ".join(msgspec.to_builtins(type(self.options)()))
            raise ConfigError(f"`engine.options` of {self.name}: {error}; known are {known}") from error
        return replace(self, options=parsed)

    def install(self, version: str | None, cache: Path) -> Installation:
        info = super().install(version, cache).info
        shown = f"{info.version} ({self.described})" if self.described else info.version
        return Installation(info=msgspec.structs.replace(info, version=shown))

    def start(self, _installation: Installation, surroundings: Surroundings) -> Running:
        return self.control(self.options, surroundings)
