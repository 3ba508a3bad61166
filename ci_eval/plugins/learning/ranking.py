"""The completion types (which order suggestions) that need nothing but the suggestions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.contracts import CaretContext, FileContext, Ordering, Ranker
from ci_eval.core.model import Suggestion


@dataclass(frozen=True, kw_only=True)
class ByText:
    """A completion type whose order is a function of the list alone; `arrange` returns it in that order."""

    name: str
    summary: str
    arrange: Callable[[Sequence[Suggestion]], Sequence[Suggestion]]
    needs_names: bool = False

    def configured(self, model: Path | None) -> Ranker:  # noqa: ARG002
        return self

    def open(self, context: FileContext) -> Ordering:  # noqa: ARG002
        return self._order

    def _order(self, suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:  # noqa: ARG002
        return self.arrange(suggestions)
