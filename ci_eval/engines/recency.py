"""A baseline: the tokens nearest to the caret, on either side, then the most frequent ones of the project."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import chain, zip_longest

from ci_eval.adapters.predicting import Predictor, PredictorOptions, predictor
from ci_eval.contracts import Engine, Surroundings
from ci_eval.learning.nested import Project
from ci_eval.learning.surrounding import Surrounding


class RecencyOptions(PredictorOptions, frozen=True, kw_only=True):
    """The options of `recency`."""

    project: bool = True
    """Whether the project's other files count where the file has too few tokens."""


class Recency(Predictor[RecencyOptions]):
    """Of two that are equally near, the one before the caret comes first."""

    def __init__(self, options: RecencyOptions, surroundings: Surroundings) -> None:
        super().__init__(options, surroundings)
        self._around = Surrounding(surroundings.language, 1, self.asked)

    @cached_property
    def _project(self) -> Project:
        return Project(self.files if self.options.project else {}, self.surroundings.language, 1, self.asked)

    def begin(self) -> None:
        self._around.forget()
        self._elsewhere = dict(self._project.frequent(self.path))

    def predict(self, before: str, after: str) -> Iterable[str]:
        self._around.read(before, after)
        sides = zip_longest(reversed(self._around.before.tokens), reversed(self._around.after.tokens))
        near = (text for pair in sides for text in pair if text and text.strip() and self.asked(text))
        return chain(self._first(near), self._elsewhere)

    def _first(self, near: Iterable[str]) -> Iterable[str]:
        """As many different ones as are shown."""
        found: dict[str, None] = {}
        for text in near:
            found[text] = None
            if len(found) >= self.options.limit:
                break
        return found


ENGINE: Engine = predictor(
    "recency",
    "baseline: the tokens nearest to the caret, then the most frequent ones of the project; any language",
    Recency,
    RecencyOptions(),
)
