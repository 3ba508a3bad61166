"""The completion type FREQUENCY: by occurrences in the file before the caret, then in the project's other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ci_eval.core.contracts import CaretContext, FileContext, Ordering, Ranker
from ci_eval.core.logs.features import NAMES, Reader
from ci_eval.core.model import Suggestion

FILE, PROJECT = NAMES.index("in_file"), NAMES.index("in_project")


@dataclass(frozen=True)
class Frequency:
    """A ranker by frequency. Equally frequent suggestions stay in the engine's order."""

    name: str = "FREQUENCY"
    summary: str = "by how often a name stands in the file so far, then in the project"
    needs_names: bool = True

    def configured(self, model: Path | None) -> Ranker:  # noqa: ARG002
        return self

    def open(self, context: FileContext) -> Ordering:
        return _ByFrequency(Reader.of(context))


@dataclass(frozen=True)
class _ByFrequency:
    reader: Reader

    def __call__(self, suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        rows = self.reader.rows(caret, suggestions)
        # lexsort sorts by its last key first.
        order = np.lexsort((-rows[:, PROJECT], -rows[:, FILE]))
        return [suggestions[place] for place in order]


RANKER: Ranker = Frequency()
