"""A predictor that averages the tokens around the caret, in vectors of sub-tokens that are learned from the project
itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Annotated

from msgspec import Meta

from ci_eval.core.base.chance import draw
from ci_eval.core.contracts import Surroundings
from ci_eval.plugins.adapters.predicting import Predictor, PredictorOptions
from ci_eval.plugins.learning.code import classify_token, tokenize_lines
from ci_eval.plugins.learning.embedding import Embedding
from ci_eval.plugins.learning.filling import Filler, Filling
from ci_eval.plugins.learning.surrounding import Surrounding

Many = Annotated[int, Meta(ge=1, le=20_000)]
Weight = Annotated[float, Meta(ge=0, le=1000)]


class EmbeddingOptions(PredictorOptions, frozen=True, kw_only=True):
    """The options of the predictor `embedding`."""

    dimensions: Many = 100
    """The number of dimensions of the vectors."""
    window: Annotated[int, Meta(ge=1, le=100)] = 8
    """Sub-tokens on each side that a sub-token is near to, in training."""
    vocabulary: Many = 4000
    """Sub-tokens that have a vector: the most frequent ones. Memory grows with the square: 4,000 take 200 MB."""
    context: Annotated[int, Meta(ge=1, le=1000)] = 10
    """Tokens on each side that are averaged."""
    patterns: Many = 20
    """The likeliest patterns of parts, which are filled."""
    slot: Annotated[int, Meta(ge=1, le=100)] = 4
    """Sub-tokens that are tried in each slot of a pattern."""
    sharpness: Weight = 5.0
    """The weight of nearness to the context; 0 = nearness does not count at all."""
    prior: Weight = 1.0
    """The weight of a sub-token's frequency; 0 = frequency does not count at all, and nearness alone decides."""
    folds: Annotated[int, Meta(ge=2, le=1000)] = 5
    """The number of parts of the project; predictions in one part are learned from the others."""
    seed: int = 0
    """The seed of the SVD."""


class ByAverage(Predictor[EmbeddingOptions]):
    """A predictor that learns from the files of the other folds, when the first file of a fold is opened."""

    def __init__(self, options: EmbeddingOptions, surroundings: Surroundings) -> None:
        super().__init__(options, surroundings)
        self._around = Surrounding(surroundings.language, 1, self.asked)
        # A cache per predictor: as a decorator of the method, it would keep every predictor alive.
        self._of_fold = lru_cache(maxsize=options.folds)(self._train)
        self._filling = Filling(
            patterns=options.patterns, slot=options.slot, sharpness=options.sharpness, prior=options.prior
        )

    def begin(self) -> None:
        self._around.forget()
        self._filler = self._of_fold(self._fold(self.path))

    def _fold(self, path: str) -> int:
        # Drawn from the path alone, so a file is in the same fold in each worker and each run.
        return int(draw(0, path) * self.options.folds)

    def _train(self, fold: int) -> Filler:
        language, options = self.surroundings.language, self.options
        # The open file is in the fold that is left out: its text on disk holds the token that is asked for.
        texts = [text for path, text in sorted(self.files.items()) if self._fold(path) != fold]
        files = [list(tokenize_lines(text, language)) for text in texts]
        filler = Filler(files, lambda token: classify_token(token, self.surroundings.keywords), self.asked)
        filler.embed(
            Embedding.trained(
                map(filler.vector_units, files),
                vocabulary=options.vocabulary,
                dimensions=options.dimensions,
                window=options.window,
                seed=options.seed,
            )
        )
        return filler

    def predict(self, before: str, after: str) -> Iterable[str]:
        left, right = self._sides(before, after)
        return self._filler.filled(left, right, self._filling)

    def scores(self, before: str, after: str, texts: Sequence[str]) -> list[float]:
        left, right = self._sides(before, after)
        return self._filler.scores(left, right, texts, self._filling)

    def _sides(self, before: str, after: str) -> tuple[list[str], list[str] | None]:
        """Return the tokens before the caret and behind it, the nearest first. The second list is None if there is no
        text behind the caret."""
        self._around.read(before, after)
        left, right = (self._nearest(side.tokens) for side in (self._around.before, self._around.after))
        # With `context: LEFT` nothing is known of the text behind the caret, which is not the same as an empty text.
        return left, right if after else None

    def _nearest(self, tokens: list[str]) -> list[str]:
        return list(islice((token for token in reversed(tokens) if token.strip()), self.options.context))
