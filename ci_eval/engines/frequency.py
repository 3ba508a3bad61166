"""A baseline: the tokens that stand most often in the file around the caret, then in the project's other files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import chain

from ci_eval.adapters.predicting import Predictor, PredictorOptions, predictor
from ci_eval.contracts import Engine, Surroundings
from ci_eval.learning.nested import Project
from ci_eval.learning.surrounding import Surrounding


class FrequencyOptions(PredictorOptions, frozen=True, kw_only=True):
    """The options of `frequency`."""

    project: bool = True
    """Whether the project's other files count where the file has too few tokens, and between equal ones."""


class Frequency(Predictor[FrequencyOptions]):
    """Of equal ones in the file, those that are more frequent in the project, then by their text."""

    def __init__(self, options: FrequencyOptions, surroundings: Surroundings) -> None:
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
        here = Counter(self._around.before.following(())) + Counter(self._around.after.following(()))
        elsewhere = self._elsewhere
        ranked = sorted(here, key=lambda text: (-here[text], -elsewhere.get(text, 0), text))
        return chain(ranked, elsewhere)


ENGINE: Engine = predictor(
    "frequency",
    "baseline: the most frequent tokens of the open file, then of the project; any language",
    Frequency,
    FrequencyOptions(),
)
