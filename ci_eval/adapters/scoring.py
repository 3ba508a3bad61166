"""Completion types that order any engine's list by what a predictor takes each suggestion to be worth."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from ci_eval.adapters.predicting import PredictorOptions
from ci_eval.contracts import CaretContext, FileContext, Ordering, Ranker, Surroundings
from ci_eval.errors import ConfigError
from ci_eval.model import Kind, Suggestion

_NAME = re.compile(r"[\w$@]+")
KINDS = frozenset({Kind.VARIABLE, Kind.KEYWORD})
"""Names and keywords: what suggestions are."""


class Scorer(Protocol):
    """A predictor that can say of given tokens how likely they are."""

    path: str

    def __init__(self, options: Any, surroundings: Surroundings) -> None: ...

    def begin(self) -> None:
        """The file at `path` is open now."""

    def scores(self, before: str, after: str, texts: Sequence[str]) -> list[float]:
        """Of each text, how likely it is between these, as a logarithm."""


@dataclass(frozen=True)
class ByScore:
    """Equal ones stay in the engine's order."""

    name: str
    summary: str
    scorer: type[Scorer]
    options: PredictorOptions
    needs_names: bool = False

    def configured(self, model: Path | None) -> Ranker:  # noqa: ARG002
        """See Ranker."""
        return self

    def open(self, context: FileContext) -> Ordering:
        """See Ranker. Raises ConfigError where the project's files cannot be read."""
        if context.surroundings is None:
            raise ConfigError(
                f"completion type {self.name} reads the project's files, which are not in a workspace: evaluate with "
                f"`--completion-type {self.name}` instead"
            )
        scorer = _made(self.scorer, self.options, replace(context.surroundings, kinds=KINDS))
        scorer.path = context.path
        scorer.begin()
        return _Ordered(scorer)


@dataclass(frozen=True)
class _Ordered:
    scorer: Scorer

    def __call__(self, suggestions: Sequence[Suggestion], caret: CaretContext) -> Sequence[Suggestion]:
        if len(suggestions) < 2:
            return suggestions
        scores = self.scorer.scores(caret.before, caret.after, [_name(each.text) for each in suggestions])
        return [suggestions[place] for place in sorted(range(len(scores)), key=lambda place: -scores[place])]


def _name(text: str) -> str:
    """The name that a suggestion begins with, or the whole of it."""
    found = _NAME.match(text)
    return found[0] if found else text


@lru_cache(maxsize=1)
def _made(scorer: type[Scorer], options: PredictorOptions, surroundings: Surroundings) -> Scorer:
    """What it has read of a project is kept from file to file of a worker."""
    return scorer(options, surroundings)
