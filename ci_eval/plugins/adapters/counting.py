"""The predictors that count tokens, in the open file around the caret and in the project's other files."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from msgspec import Meta

from ci_eval.core.contracts import Surroundings
from ci_eval.plugins.adapters.predicting import Predictor, PredictorOptions
from ci_eval.plugins.learning.nested import Project, Surrounding


class CountingOptions(PredictorOptions, frozen=True, kw_only=True):
    """The options of predictors that count single tokens."""

    project: bool = True
    """A flag: the project's other files count if the file has too few tokens."""


class Counting(Predictor[CountingOptions]):
    """A predictor that knows the tokens on both sides of the caret, and the frequency of each in other files."""

    def __init__(self, options: CountingOptions, surroundings: Surroundings) -> None:
        super().__init__(options, surroundings)
        self.around = Surrounding(surroundings.language, 1, self.asked)
        self.elsewhere: dict[str, int] = {}
        """The tokens of the project's other files with their frequencies, the most frequent first."""

    @cached_property
    def _project(self) -> Project:
        return Project(self.files if self.options.project else {}, self.surroundings.language, 1, self.asked)

    def begin(self) -> None:
        self.around.forget()
        self.elsewhere = dict(self._project.frequent(self.path))


class CacheOptions(PredictorOptions, frozen=True, kw_only=True):
    """The options of predictors that nest n-gram caches."""

    scopes: Annotated[tuple[Literal["file", "folder", "project"], ...], Meta(min_length=1)] = (
        "file",
        "folder",
        "project",
    )
    """The scopes that have a cache of their own."""
    weight: Annotated[float, Meta(gt=0, lt=1)] = 0.5
    """The weight of a context beside all shorter ones."""
