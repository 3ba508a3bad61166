"""The engines that predict tokens from the open file and the project's other files, in the worker's own process."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace as with_values

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.base.files import NOT_SOURCE, below
from ci_eval.core.contracts import Answer, Engine, Installation, Query, Running, Surroundings
from ci_eval.core.grammar.document import NotText, read_text
from ci_eval.core.logs.names import START_OF_LINE
from ci_eval.core.model import Kind, Suggestion
from ci_eval.plugins.adapters.controls import ControlEngine, OpenText
from ci_eval.plugins.learning.ngrams import Class, classify_token

CLASSES: Mapping[Kind, Class] = {
    Kind.KEYWORD: "keyword",
    Kind.LITERAL: "literal",
    Kind.OPERATOR: "operator",
    Kind.PUNCTUATION: "punctuation",
}
"""The class of the tokens of a kind; tokens of all other kinds are names."""


class PredictorOptions(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    limit: Annotated[int, Meta(ge=1, le=1000)] = 10
    """The largest number of predictions for a token."""


Options = TypeVar("Options", bound=PredictorOptions)


class Predictor(OpenText, Generic[Options]):
    def __init__(self, options: Options, surroundings: Surroundings) -> None:
        super().__init__()
        self.options = options
        self.surroundings = surroundings
        self.path = ""
        kinds = surroundings.kinds
        # The same few tokens are asked about at each caret, so their classes are remembered.
        self._asked: dict[str, bool] = {}
        self._classes = None if kinds is None else {CLASSES.get(kind, "name") for kind in kinds}

    def open(self, path: str, text: str) -> None:
        super().open(path, text)
        self.path = path
        self.begin()

    def begin(self) -> None:
        """Prepare for another open file, or for the same one again."""

    def complete(self, query: Query) -> Answer:
        """Return the first predictions that begin with the prefix, and the milliseconds they took."""
        started = perf_counter()
        begin = query.offset - len(query.prefix)
        # The predictor does not see the typed prefix, which only filters its predictions.
        predictions = self.predict(self.text[:begin], self.text[query.offset :])
        fitting = dict.fromkeys(text for text in predictions if text.startswith(query.prefix))
        suggestions = [Suggestion(text=text) for text in list(fitting)[: self.options.limit]]
        return Answer(suggestions=suggestions, latency=(perf_counter() - started) * 1000)

    @abstractmethod
    def predict(self, before: str, after: str) -> Iterable[str]:
        """Return tokens that may stand between these texts, the likeliest first. A text may come twice."""

    def asked(self, token: str) -> bool:
        """Return whether tokens that look like this one are asked for in this run."""
        is_asked = self._asked.get(token)
        if is_asked is None:
            classes = self._classes
            is_asked = token != START_OF_LINE and (
                classes is None or classify_token(token, self.surroundings.keywords) in classes
            )
            self._asked[token] = is_asked
        return is_asked

    @cached_property
    def files(self) -> dict[str, str]:
        """Return path → text of all files of the language in the project, as they are on disk. Files that are no text
        are left out."""
        root = self.surroundings.root
        ignored = NOT_SOURCE | self.surroundings.ignored
        texts = {path: self._text(path) for path in below(root, root, self.surroundings.suffixes, ignored)}
        return {path: text for path, text in texts.items() if text is not None}

    def _text(self, path: str) -> str | None:
        try:
            # If such a file has sessions, they report why it cannot be read.
            return read_text(self.surroundings.root, path)
        except (NotText, OSError):
            return None


Started = Callable[[Any, Surroundings], Running]
"""A function that takes options and surroundings and returns the started predictor."""


@dataclass(frozen=True, kw_only=True)
class PredictorEngine(ControlEngine):
    # Two functions made by `partial` are never equal, and a worker keeps its engine for the next file only if it is.
    control: Callable[[Surroundings], Running] = field(compare=False)
    predictor: Started
    options: PredictorOptions
    is_function: bool = True

    @property
    def described(self) -> str:
        defaults, values = msgspec.to_builtins(type(self.options)()), msgspec.to_builtins(self.options)
        return ", ".join(f"{key} {_short(value)}" for key, value in values.items() if value != defaults[key])

    def install(self, version: str | None, cache: Path) -> Installation:
        """Return the installation; see `Engine.install`. Options that differ from the defaults become part of its
        version in reports."""
        installation, described = super().install(version, cache), self.described
        return (
            Installation(info=with_values(installation.info, version=f"{installation.info.version} ({described})"))
            if described
            else installation
        )

    def configured(self, options: Mapping[str, object]) -> Engine:
        """Return the engine with these options. Raises ConfigError if an option is unknown or has a wrong value."""
        try:
            return predictor(
                self.name, self.summary, self.predictor, msgspec.convert(dict(options), type(self.options))
            )
        except msgspec.ValidationError as error:
            known = ", ".join(msgspec.to_builtins(type(self.options)()))
            raise ConfigError(f"`engine.options` of {self.name}: {error}; known are {known}") from error


def _short(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def predictor(name: str, summary: str, started: Started, options: PredictorOptions) -> PredictorEngine:
    control = partial(started, options)
    return PredictorEngine(name=name, summary=summary, control=control, predictor=started, options=options)
