"""The baselines that predict tokens from counts in the open file and in the project's other files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import chain, islice, zip_longest
from typing import Annotated, Literal

from msgspec import Meta

from ci_eval.core.contracts import Engine, Surroundings
from ci_eval.plugins.adapters.controls import ConfigurableEngine, Predictor, PredictorOptions
from ci_eval.plugins.learning.nested import Nested, Project, Surrounding
from ci_eval.plugins.learning.ngrams import distinct


class CountingOptions(PredictorOptions, frozen=True, kw_only=True):
    project: bool = True
    """True if the tokens of the project's other files are suggested after those of the open file."""


class Counting(Predictor[CountingOptions]):
    """A predictor that knows the tokens before and after the caret, and the frequency of tokens in other files."""

    def __init__(self, options: CountingOptions, surroundings: Surroundings) -> None:
        super().__init__(options, surroundings)
        self.around = Surrounding(surroundings.language, 1, self.asked)
        self.elsewhere: dict[str, int] = {}
        """The tokens of the project's other files → their frequencies, the most frequent token first."""

    @cached_property
    def _project(self) -> Project:
        return Project(self.files if self.options.project else {}, self.surroundings.language, 1, self.asked)

    def begin(self) -> None:
        self.around.forget()
        self.elsewhere = dict(self._project.frequent(self.path))


class Frequency(Counting):
    """A predictor that sorts the file's tokens by their frequency in the file, then in the project, then by text."""

    def predict(self, before: str, after: str) -> Iterable[str]:
        self.around.read(before, after)
        here = Counter(self.around.before.following(())) + Counter(self.around.after.following(()))
        # Sort ties by text, so that answers do not depend on the order in which files are read.
        ranked = sorted(here, key=lambda text: (-here[text], -self.elsewhere.get(text, 0), text))
        return chain(ranked, self.elsewhere)


class Recency(Counting):
    """A predictor that sorts the file's tokens by distance to the caret. At equal distance, the token before the caret
    comes first."""

    def predict(self, before: str, after: str) -> Iterable[str]:
        self.around.read(before, after)
        sides = zip_longest(reversed(self.around.before.tokens), reversed(self.around.after.tokens))
        near = (text for pair in sides for text in pair if text and self.asked(text))
        return chain(islice(distinct(near), self.options.limit), self.elsewhere)


Scope = Literal["file", "folder", "project"]


class NgramOptions(PredictorOptions, frozen=True, kw_only=True):
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1)] = ("file", "folder", "project")
    weight: Annotated[float, Meta(gt=0, lt=1)] = 0.5
    """The weight of a context relative to all shorter contexts."""
    order: Annotated[int, Meta(ge=1, le=20)] = 6
    """The length in tokens of the longest counted sequences: the context and the token after it."""
    capacity: Annotated[int, Meta(ge=1)] = 5_000
    """The number of tokens before the caret that the file's cache keeps."""
    candidates: Annotated[int, Meta(ge=1)] = 20
    """The number of tokens per side of the caret that get a probability, from the longest contexts."""


class Ngram(Predictor[NgramOptions]):
    """A predictor that mixes the probabilities of nested n-gram caches for the file, its folder and the project."""

    def __init__(self, options: NgramOptions, surroundings: Surroundings) -> None:
        super().__init__(options, surroundings)
        self._around = Surrounding(surroundings.language, options.order, self.asked, options.capacity)

    @cached_property
    def _project(self) -> Project:
        # Only the scopes `folder` and `project` need the project's files.
        wider = {"folder", "project"} & set(self.options.scopes)
        return Project(self.files if wider else {}, self.surroundings.language, self.options.order, self.asked)

    def begin(self) -> None:
        self._around.forget()
        options = self.options
        self._model = Nested(self._project, self.path, options.scopes, options.weight, options.candidates)

    def predict(self, before: str, after: str) -> Iterable[str]:
        self._around.read(before, after)
        return [text for text, _ in self._model.likely(self._around)]


_PREDICTORS = (
    ConfigurableEngine(
        "frequency",
        "baseline: the most frequent tokens of the open file, then of the project; any language",
        Frequency,
        options=CountingOptions(),
    ),
    ConfigurableEngine(
        "ngram", "baseline: n-gram caches of file, folder and project, any language", Ngram, options=NgramOptions()
    ),
    ConfigurableEngine(
        "recency",
        "baseline: the tokens nearest to the caret, then the most frequent ones of the project; any language",
        Recency,
        options=CountingOptions(),
    ),
)
ENGINES: dict[str, Engine] = {engine.name: engine for engine in _PREDICTORS}
