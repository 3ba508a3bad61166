"""A baseline that suggests the tokens nearest to the caret, on either side, then the most frequent ones of the
project."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice, zip_longest

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.counting import Counting, CountingOptions
from ci_eval.plugins.adapters.predicting import predictor
from ci_eval.plugins.learning.code import distinct


class Recency(Counting):
    """A predictor that puts the token before the caret first if two are equally near."""

    def predict(self, before: str, after: str) -> Iterable[str]:
        self.around.read(before, after)
        sides = zip_longest(reversed(self.around.before.tokens), reversed(self.around.after.tokens))
        near = (text for pair in sides for text in pair if text and self.asked(text))
        return chain(islice(distinct(near), self.options.limit), self.elsewhere)


ENGINE: Engine = predictor(
    "recency",
    "baseline: the tokens nearest to the caret, then the most frequent ones of the project; any language",
    Recency,
    CountingOptions(),
)
