"""A baseline that needs nothing: the words of the open file and the language's keywords, for any language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ci_eval.adapters.closure import Closure
from ci_eval.adapters.controls import Control, ControlEngine
from ci_eval.contracts import Engine, Query

_WORD = re.compile(r"[^\W\d]\w*")


class Words(Control):
    """The nearest word before the caret first, then those after it, then keywords."""

    def words(self, query: Query) -> Sequence[str]:
        begin = query.offset - len(query.prefix)
        before = _WORD.findall(self.text, 0, begin)
        after = _WORD.findall(self.text, query.offset)
        return list(dict.fromkeys([*reversed(before), *after, *sorted(self.surroundings.keywords)]))


ENGINE: Engine = ControlEngine(
    "words",
    "baseline: words of the open file, nearest first, then keywords; any language, and the night of PHP and Ruby",
    Words,
    closure=Closure.FILE,
)
