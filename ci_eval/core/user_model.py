"""A model of a user, who types some letters, requests completion, takes the expected text, or gives up.

This is algorithm 2 of the thesis that docs/ml.md names. The length of the first prefix is sampled. At lookup j (from
0), if the expected text has rank k in the list, the user takes it with probability P_select(k, j). Otherwise, the user
gives up with probability P_cancel(j) and types the rest, or else types one more character and asks again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal, TypeVar

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.chance import draw
from ci_eval.core.model import Course, UserModelConfig, pick

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
"""P_select of the JetBrains evaluation plugin: a row per rank, a column per lookup (see `UserModel`)."""


class UserModel(msgspec.Struct, frozen=True, kw_only=True):
    """The probabilities of a user's actions. The last entry of a row or table also applies to all later entries."""

    first_prefix: tuple[float, ...]
    """The probabilities of typing 0, 1, 2 … characters before the first lookup."""
    select: Table
    cancel: tuple[float, ...] = (0.0,)
    attend: float = 1.0
    """The share of the sessions in which the user looks at the list at all."""
    index: Literal["order", "prefix"] = "order"
    """The number of a lookup: its index within the session, or (as in the plugin) the length of its prefix."""

    def starts(self, length: int) -> list[float]:
        """Return the probabilities of typing 0, 1, 2 … characters of a token of this length before the first lookup.
        The last probability is the rest to 1, since no token is typed to its end without a lookup."""
        known = self.first_prefix[:length]
        return [*known[:-1], 1.0 - sum(known[:-1])]

    def start(self, drawn: float, length: int) -> int:
        ends = list(accumulate(self.starts(length)))
        # Because of rounding, the last sum may be below 1 and so below the drawn number.
        return min(bisect_right(ends, drawn), len(ends) - 1)

    def selects(self, rank: int | None, lookup: int, prefix: int) -> float:
        """Return the probability of taking the expected text; 0 if it has no rank. `lookup`: the index in the session.
        `prefix`: the number of typed characters."""
        of_rank = (0.0,) if rank is None else _last(self.select, rank - 1)
        return _last(of_rank, prefix if self.index == "prefix" else lookup)

    def cancels(self, lookup: int, prefix: int) -> float:
        return _last(self.cancel, prefix if self.index == "prefix" else lookup)


def _last(row: Sequence[T], place: int) -> T:
    return row[min(place, len(row) - 1)]


PROFILES = {
    "always": UserModel(first_prefix=(1.0,), select=((1.0,),)),
    "first": UserModel(first_prefix=(1.0,), select=((1.0,), (0.0,)), cancel=(1.0,)),
    "jetbrains": UserModel(first_prefix=(0.0, 0.8, 0.2), select=_JETBRAINS),
    "thesis": UserModel(first_prefix=(0.0, 0.8, 0.2), select=_JETBRAINS, cancel=(0.02, 0.05, 0.10, 0.15, 0.20)),
    "calibrated": UserModel(
        first_prefix=(0.05, 0.75, 0.15, 0.05), select=_JETBRAINS, cancel=(0.10, 0.12, 0.15, 0.18, 0.22), attend=0.40
    ),
}
"""The profiles by name (see docs/ml.md). `first` asks once and takes the expected text only at rank 1."""


def build_user_model(config: UserModelConfig) -> UserModel:
    settings = pick(config, "first_prefix", "select", "cancel", "attend")
    own = {name: value for name, value in settings.items() if value is not None}
    return replace(PROFILES[config.profile], index=config.index, **own)


def encode_user_model(model: UserModel) -> str:
    """Return the model as one line of JSON. Evaluations are comparable only if their lines are equal."""
    return msgspec.json.encode(model).decode()


def decides_by_chance(encoded: str) -> bool:
    return any(float(number) not in {0, 1} for number in re.findall(r"\d[\d.]*(?:e-?\d+)?", encoded))


class Emulated:
    """A sampled user of one session. The samples depend only on seed, session id and lookup, not on the engine."""

    def __init__(self, model: UserModel, seed: int, session: str, length: int) -> None:
        self._model = model
        self._seed = seed
        self._session = session
        self._start = model.start(self._draw("start"), length)
        self._attends = self._draw("attend") < model.attend
        self._lookups = 0
        self.over = False
        """True if the user has taken the expected text or given up."""

    def asks(self, prefix: str) -> bool:
        return not self.over and len(prefix) >= self._start

    def takes(self, rank: int | None, prefix: str) -> bool:
        lookup, self._lookups = self._lookups, self._lookups + 1
        if not self._attends:
            return False
        taken = self._draw(f"select {lookup}") < self._model.selects(rank, lookup, len(prefix))
        self.over = taken or self._draw(f"cancel {lookup}") < self._model.cancels(lookup, len(prefix))
        return taken

    def _draw(self, what: str) -> float:
        return draw(self._seed, f"{self._session} {what}")


class Possible:
    def __init__(self, model: UserModel, length: int) -> None:
        self._model = model
        self._starts = [*enumerate(model.starts(length))]
        self._lookups = 0
        self._asking: list[tuple[int, float, float]] = []
        """(first lookup, probability that the user is still asking, probability that the user ignores all lists)"""
        self._courses: defaultdict[tuple[int, int, bool], float] = defaultdict(float)
        self._likeliest = (0.0, 0)
        """The largest probability of a first lookup, and the negated index of this lookup."""

    def asks(self, prefix: str) -> bool:
        begun = sum(share for typed, share in self._starts if typed <= len(prefix))
        self._starts = [start for start in self._starts if start[0] > len(prefix)]
        if begun > 0:
            self._asking.append((self._lookups, begun * self._model.attend, begun * (1 - self._model.attend)))
            self._likeliest = max(self._likeliest, (begun, -self._lookups))
        return any(asking or blind for _, asking, blind in self._asking)

    def sees(self, rank: int | None, prefix: str) -> None:
        going, self._asking = self._asking, []
        for first, asking, blind in going:
            number = self._lookups - first
            taken = asking * self._model.selects(rank, number, len(prefix))
            given_up = (asking - taken) * self._model.cancels(number, len(prefix))
            self._courses[first, self._lookups + 1, True] += taken
            self._courses[first, self._lookups + 1, False] += given_up
            self._asking.append((first, asking - taken - given_up, blind))
        self._lookups += 1

    def courses(self) -> tuple[Course, ...]:
        """Return the courses by falling share; those that begin at the likeliest first lookup precede all others."""
        for first, asking, blind in self._asking:
            # Users who are still asking or ignore the lists type the text to its end.
            self._courses[first, self._lookups, False] += asking + blind
        courses = [Course(*place, share) for place, share in self._courses.items() if share > 0]
        first = -self._likeliest[1]
        return tuple(sorted(courses, key=lambda course: (course.first != first, -course.share)))


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """The exact expectations for one session of a modelled user."""

    selected: float
    cancelled: float
    queries: float
    saved: float
    """The share of the text that the user need not type: the probabilistic eSaved of Kharitonov et al. 2013."""
    typed: float


def average_behaviour(ranks: Sequence[int | None], model: UserModel) -> Expected:
    """Return the expectations for one session. `ranks`: the rank of the expected text at each prefix of 0 … L - 1
    characters, where L is the length of the text; None if the text is absent."""
    length = len(ranks)
    selected = cancelled = queries = saved = 0.0
    for start, share in enumerate(model.starts(length)):
        # A user who ignores the lists types to the end, and a list appears after each character.
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
