"""The completion types that order any engine's list by a predictor's score for each suggestion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.contracts import CaretContext, FileContext, Ordering, Ranker, Surroundings
from ci_eval.core.model import Kind, Suggestion
from ci_eval.plugins.adapters.predicting import PredictorOptions

_NAME = re.compile(r"[\w$@]+")
KINDS = frozenset({Kind.VARIABLE, Kind.KEYWORD})
"""The kinds of tokens that suggestions are: names and keywords."""


class Scorer(Protocol):
    """A predictor that can tell how likely given tokens are."""

    path: str

    def __init__(self, options: Any, surroundings: Surroundings) -> None: ...

    def begin(self) -> None:
        """Prepare for the file at `path`, which is open now."""

    def scores(self, before: str, after: str, texts: Sequence[str]) -> list[float]:
        """Return how likely each text is between `before` and `after`, as a logarithm."""


@dataclass(frozen=True)
class ByScore:
    """A ranker that orders suggestions by score. Suggestions with equal scores stay in the engine's order."""

    name: str
    summary: str
    scorer: type[Scorer]
    options: PredictorOptions
    needs_names: bool = False

    def configured(self, model: Path | None) -> Ranker:  # noqa: ARG002
        return self

    def open(self, context: FileContext) -> Ordering:
        """Return the ordering for a file; see `Ranker.open`. Raises ConfigError if the project's files cannot be
        read."""
        if context.surroundings is None:
            raise ConfigError(
                f"completion type {self.name} reads the project's files, which are not in a workspace: evaluate with "
                f"`--completion-type {self.name}` instead"
            )
        # What is suggested does not depend on the kinds of tokens that are evaluated.
        scorer = _start(self.scorer, self.options, replace(context.surroundings, kinds=KINDS))
        scorer.path = context.path
        scorer.begin()
        return _Ordered(scorer)


@dataclass(frozen=True)
class _Ordered:
    scorer: Scorer

    def __call__(self, suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        if len(suggestions) < 2:
            return suggestions
        scores = self.scorer.scores(caret.before, caret.after, [_name(suggestion.text) for suggestion in suggestions])
        return [suggestions[index] for index in sorted(range(len(scores)), key=lambda index: -scores[index])]


def _name(text: str) -> str:
    """Return the name that a suggestion begins with, or the whole of it if it begins with none."""
    match = _NAME.match(text)
    return match[0] if match else text


# A worker keeps one scorer, with what it has read of the project, from file to file.
@lru_cache(maxsize=1)
def _start(scorer: type[Scorer], options: PredictorOptions, surroundings: Surroundings) -> Scorer:
    return scorer(options, surroundings)
