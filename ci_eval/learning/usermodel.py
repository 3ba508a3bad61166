"""A modelled user: what is typed before asking, what is taken from the list, and when one gives up.

Algorithm 2 of the thesis: the length of the first prefix is drawn; at each query, where the expected text stands at
place k of the list, it is taken with P_select(k, j), j being the number of the query; where it is not taken, the user
gives up with P_cancel(j) and types the rest, or types one more character and asks again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeVar

import msgspec

from ci_eval.chance import draw
from ci_eval.model import UserModelConfig

T = TypeVar("T")
Table = tuple[tuple[float, ...], ...]

_JETBRAINS: Table = (
    (0.5, 0.5, 0.6, 0.6, 0.7),
    (0.2, 0.2, 0.3),
    (0.15, 0.2, 0.3),
    (0.15, 0.15, 0.2),
    (0.15, 0.15, 0.2),
    (0.1,),
)
"""The tables of the JetBrains evaluation plugin, by place and query; the last entries repeat."""


@dataclass(frozen=True, kw_only=True)
class UserModel:
    """The probabilities; beyond the end of a row or table, its last entry holds."""

    first_prefix: tuple[float, ...]
    """Of 0, 1, 2 … characters before the first query."""
    select: Table
    """By place of the expected text, by query."""
    cancel: tuple[float, ...] = (0.0,)
    """By query, where nothing was taken."""
    attend: float = 1.0
    """Share of the sessions in which the user looks at the list at all."""
    index: Literal["order", "prefix"] = "order"
    """What a query's number is: its place among the session's queries, or (as in the plugin) its prefix's length."""

    def starts(self, length: int) -> list[float]:
        """Probability of 0, 1, 2 … characters before the first query; no token is typed to its end without one."""
        known = self.first_prefix[:length]
        return [*known[:-1], 1.0 - sum(known[:-1])]

    def start(self, drawn: float, length: int) -> int:
        """That number of characters, for a number drawn from 0 to 1."""
        ends = list(accumulate(self.starts(length)))
        return min(bisect_right(ends, drawn), len(ends) - 1)

    def selects(self, rank: int | None, query: int, prefix: int) -> float:
        """Probability of taking the expected text at that place (from 1 on); 0 where it is not in the list."""
        if rank is None:
            return 0.0
        return _last(_last(self.select, rank - 1), prefix if self.index == "prefix" else query)

    def cancels(self, query: int, prefix: int) -> float:
        """Probability of giving up where nothing was taken."""
        return _last(self.cancel, prefix if self.index == "prefix" else query)


def _last(row: Sequence[T], place: int) -> T:
    return row[min(place, len(row) - 1)]


PROFILES = {
    "always": UserModel(first_prefix=(1.0,), select=((1.0,),)),
    "first": UserModel(first_prefix=(1.0,), select=((1.0,), (0.0,)), cancel=(1.0,)),
    "jetbrains": UserModel(first_prefix=(0.0, 0.8, 0.2), select=_JETBRAINS),
    "thesis": UserModel(first_prefix=(0.0, 0.8, 0.2), select=_JETBRAINS, cancel=(0.02, 0.05, 0.10, 0.15, 0.20)),
    "calibrated": UserModel(
        first_prefix=(0.05, 0.75, 0.15, 0.05),
        select=_JETBRAINS,
        cancel=(0.10, 0.12, 0.15, 0.18, 0.22),
        attend=0.40,
    ),
}
"""always: takes it wherever it is. first: one query, and only the first place. The others: docs/user-model.md."""


def model_of(config: UserModelConfig) -> UserModel:
    """The profile with the tables that are given in its place."""
    profile = PROFILES[config.profile]
    return UserModel(
        first_prefix=config.first_prefix or profile.first_prefix,
        select=config.select or profile.select,
        cancel=config.cancel or profile.cancel,
        attend=profile.attend if config.attend is None else config.attend,
        index=config.index,
    )


def spelled(model: UserModel) -> str:
    """All of it, in one line: two evaluations with different users are not comparable."""
    return msgspec.json.encode(model).decode()


class Emulated:
    """The user of one session. What is drawn depends on seed, session and query alone: every engine meets the same."""

    def __init__(self, model: UserModel, seed: int, session: str, length: int) -> None:
        self._model = model
        self._seed = seed
        self._session = session
        self._start = model.start(self._draw("start"), length)
        self._attends = self._draw("attend") < model.attend
        self._query = 0
        self.over = False
        """Whether no more is asked: the expected text was taken, or the user gave up."""

    def asks(self, prefix: str) -> bool:
        """Whether the list is called up after that prefix."""
        return not self.over and len(prefix) >= self._start

    def takes(self, rank: int | None, prefix: str) -> bool:
        """Whether the expected text is taken from the list; where not, the user may give up."""
        query, self._query = self._query, self._query + 1
        if not self._attends:
            return False
        taken = self._draw(f"select {query}") < self._model.selects(rank, query, len(prefix))
        self.over = taken or self._draw(f"cancel {query}") < self._model.cancels(query, len(prefix))
        return taken

    def _draw(self, what: str) -> float:
        return draw(self._seed, f"{self._session} {what}")


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What a user does in one session on average; exact, without a draw."""

    selected: float
    """Probability that the expected text is taken."""
    cancelled: float
    queries: float
    saved: float
    """Share of the text not typed, 0 where it was not taken: the probabilistic eSaved of Kharitonov et al. 2013."""
    typed: float
    """Characters typed."""


def expected(ranks: Sequence[int | None], model: UserModel) -> Expected:
    """From the places of the expected text (length L = len(ranks)) at all prefixes of 0 … L - 1 characters."""
    length = len(ranks)
    selected = cancelled = queries = saved = 0.0
    for start, share in enumerate(model.starts(length)):
        # Who does not look types to the end, past a list after each character.
        queries += share * (1 - model.attend) * (length - start)
        going = share * model.attend
        for prefix in range(start, length):
            queries += going
            taken = going * model.selects(ranks[prefix], prefix - start, prefix)
            selected += taken
            saved += taken * (1 - prefix / length)
            given_up = (going - taken) * model.cancels(prefix - start, prefix)
            cancelled += given_up
            going -= taken + given_up
    return Expected(selected=selected, cancelled=cancelled, queries=queries, saved=saved, typed=length * (1 - saved))
