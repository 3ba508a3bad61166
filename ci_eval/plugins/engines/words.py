"""A baseline that needs nothing: it suggests the words of the open file and the language's keywords, for any
language."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Engine, Query
from ci_eval.plugins.adapters.closure import Closure
from ci_eval.plugins.adapters.controls import Control, ControlEngine


class Words(Control):
    """A control that suggests the nearest word before the caret first, then those after it, then keywords."""

    def words(self, query: Query) -> Sequence[str]:
        begin = query.offset - len(query.prefix)
        pattern = self.surroundings.word
        before = [match[0] for match in pattern.finditer(self.text, 0, begin)]
        after = [match[0] for match in pattern.finditer(self.text, query.offset)]
        words = [text for text in (*reversed(before), *after) if not text[0].isdigit()]
        # The order of a set would differ from process to process.
        return list(dict.fromkeys([*words, *sorted(self.surroundings.keywords)]))


ENGINE: Engine = ControlEngine(
    "words",
    "baseline: words of the open file, nearest first, then keywords; any language, and the night of PHP and Ruby",
    Words,
    closure=Closure.FILE,
)
