"""A baseline that predicts tokens by nested n-gram caches of file, folder and project."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Annotated

from msgspec import Meta

from ci_eval.core.contracts import Engine, Surroundings
from ci_eval.plugins.adapters.counting import CacheOptions
from ci_eval.plugins.adapters.predicting import Predictor, predictor
from ci_eval.plugins.learning.nested import Nested, Project, Surrounding


class NgramOptions(CacheOptions, frozen=True, kw_only=True):
    """The options of the engine `ngram`."""

    order: Annotated[int, Meta(ge=1, le=20)] = 6
    """The tokens of the longest sequences that are counted: up to five of context, and the one that follows."""
    capacity: Annotated[int, Meta(ge=1)] = 5_000
    """The number of tokens before the caret that the file's cache holds."""
    candidates: Annotated[int, Meta(ge=1)] = 20
    """The number of tokens that get a probability for each side of the caret: those that follow the longest
    contexts."""


class Ngram(Predictor[NgramOptions]):
    """A predictor that mixes the probabilities of the caches."""

    def __init__(self, options: NgramOptions, surroundings: Surroundings) -> None:
        super().__init__(options, surroundings)
        self._around = Surrounding(surroundings.language, options.order, self.asked, options.capacity)

    @cached_property
    def _project(self) -> Project:
        # Without these scopes the project's files need not be read.
        wider = {"folder", "project"} & set(self.options.scopes)
        return Project(self.files if wider else {}, self.surroundings.language, self.options.order, self.asked)

    def begin(self) -> None:
        self._around.forget()
        options = self.options
        self._model = Nested(self._project, self.path, options.scopes, options.weight, options.candidates)

    def predict(self, before: str, after: str) -> Iterable[str]:
        self._around.read(before, after)
        return [text for text, _ in self._model.likely(self._around)]


ENGINE: Engine = predictor(
    "ngram", "baseline: n-gram caches of file, folder and project, any language", Ngram, NgramOptions()
)
