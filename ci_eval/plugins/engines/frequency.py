"""A baseline that suggests the most frequent tokens of the open file, then those of the project's other files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.counting import Counting, CountingOptions
from ci_eval.plugins.adapters.predicting import predictor


class Frequency(Counting):
    """A predictor that sorts the file's tokens by their frequency there, then by that in the project, then by text."""

    def predict(self, before: str, after: str) -> Iterable[str]:
        self.around.read(before, after)
        here = Counter(self.around.before.following(())) + Counter(self.around.after.following(()))
        # Ties are ordered by text, so that answers do not depend on the order of reading.
        ranked = sorted(here, key=lambda text: (-here[text], -self.elsewhere.get(text, 0), text))
        return chain(ranked, self.elsewhere)


ENGINE: Engine = predictor(
    "frequency",
    "baseline: the most frequent tokens of the open file, then of the project; any language",
    Frequency,
    CountingOptions(),
)
