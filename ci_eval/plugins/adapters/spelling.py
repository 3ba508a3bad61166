"""A predictor that spells names sub-token by sub-token, by nested n-gram caches, and keeps the likeliest names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from math import log
from typing import Annotated

from msgspec import Meta

from ci_eval.core.base.subtokens import pieces
from ci_eval.core.contracts import Surroundings
from ci_eval.core.logs.names import START_OF_LINE
from ci_eval.plugins.adapters.counting import CacheOptions
from ci_eval.plugins.adapters.predicting import Predictor
from ci_eval.plugins.learning.code import classify_token
from ci_eval.plugins.learning.nested import Nested, Project
from ci_eval.plugins.learning.surrounding import Surrounding

END = "\0"
"""A mark behind the last piece of a name."""
NEVER = 1e-9
"""The likelihood of a piece that was never seen in its context."""


class BeamOptions(CacheOptions, frozen=True, kw_only=True):
    """The options of the predictor `subtoken-beam`."""

    order: Annotated[int, Meta(ge=2, le=40)] = 10
    """The number of pieces in the longest sequences that are counted; the end of a name counts as one."""
    width: Annotated[int, Meta(ge=1, le=1000)] = 8
    """The number of beginnings of names that are kept at each step."""
    longest: Annotated[int, Meta(ge=1, le=100)] = 12
    """The largest number of pieces in a name."""


class SubtokenBeam(Predictor[BeamOptions]):
    """A predictor that reads only the text before the caret: the text behind it says nothing of how a name goes on."""

    def __init__(self, options: BeamOptions, surroundings: Surroundings) -> None:
        super().__init__(options, surroundings)
        self._around = Surrounding(surroundings.language, options.order, _any_piece, split=self._split)

    @cached_property
    def _project(self) -> Project:
        wider = {"folder", "project"} & set(self.options.scopes)
        language = self.surroundings.language
        return Project(self.files if wider else {}, language, self.options.order, _any_piece, self._split)

    def _split(self, line: Sequence[str]) -> list[str]:
        return list(chain.from_iterable(self._pieces(token) for token in line))

    def _pieces(self, token: str) -> Sequence[str]:
        return [*pieces(token), END] if classify_token(token, self.surroundings.keywords) == "name" else [token]

    def begin(self) -> None:
        self._around.forget()
        self._model = Nested(self._project, self.path, self.options.scopes, self.options.weight, 60)

    def predict(self, before: str, after: str) -> Iterable[str]:  # noqa: ARG002
        self._around.read(before, "")
        open_: list[tuple[float, tuple[str, ...]]] = [(0.0, ())]
        done: dict[str, float] = {}
        # The end of a name takes a step of its own.
        for _ in range(self.options.longest + 1):
            longer = []
            for score, begun in open_:
                for text, chance in self._model.likely_after(self._around, begun):
                    sequence, total = (*begun, text), score + log(chance)
                    # Only names have pieces: another token is complete with its first one.
                    if text == END or (not begun and classify_token(text, self.surroundings.keywords) != "name"):
                        whole = "".join(sequence).removesuffix(END)
                        if whole and self.asked(whole):
                            done[whole] = max(done.get(whole, total), total)
                    elif not begun or classify_token("".join(begun), self.surroundings.keywords) == "name":
                        longer.append((total, sequence))
            open_ = sorted(longer, key=lambda beginning: -beginning[0])[: self.options.width]
            if not open_ or self._is_final(done, open_[0][0]):
                break
        return sorted(done, key=lambda text: -done[text])

    def scores(self, before: str, after: str, texts: Sequence[str]) -> list[float]:  # noqa: ARG002
        self._around.read(before, "")
        spelled = [tuple(self._pieces(text)) for text in texts]
        next_of: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
        for whole in spelled:
            for position, piece in enumerate(whole):
                next_of[whole[:position]][piece] = 0.0
        for begun, following in next_of.items():
            chances = self._model.chances_after(self._around, begun, following)
            following.update((piece, log(max(chance, NEVER))) for piece, chance in chances.items())
        return [sum(next_of[whole[:position]][piece] for position, piece in enumerate(whole)) for whole in spelled]

    def _is_final(self, done: dict[str, float], best_open: float) -> bool:
        # A longer name is never likelier than its beginning, so no open beginning can get past the ones that are done.
        limit = self.options.limit
        return len(done) >= limit and sorted(done.values(), reverse=True)[limit - 1] >= best_open


def _any_piece(piece: str) -> bool:
    return piece != START_OF_LINE
