"""A modelled user: the letters typed before completion is requested, the choice of the expected text, and giving up.

Algorithm 2 of the thesis that docs/ml.md names. The length of the first prefix is sampled. At lookup number j,
if the expected text has rank k in the list, it is taken with probability P_select(k, j). If it is not taken, the user
gives up with probability P_cancel(j) and types the rest; otherwise types one more character and asks again. Lookups are
numbered from 0.
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
from ci_eval.core.model import UserModelConfig
from ci_eval.core.model.sessions import Course

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
"""P_select of the JetBrains evaluation plugin, by rank and lookup; the last entry of a row or table repeats."""


class UserModel(msgspec.Struct, frozen=True, kw_only=True):
    """The probabilities of what a user does; beyond the end of a row or table, its last entry holds."""

    first_prefix: tuple[float, ...]
    """Probabilities of typing 0, 1, 2 … characters before the first lookup."""
    select: Table
    cancel: tuple[float, ...] = (0.0,)
    attend: float = 1.0
    """Share of the sessions in which the user looks at the list at all."""
    index: Literal["order", "prefix"] = "order"
    """Numbering of lookups: by their order within the session, or (as in the plugin) by the length of the prefix."""

    def starts(self, length: int) -> list[float]:
        """Return the probabilities of typing 0, 1, 2 … characters first. No token is typed to its end without a lookup,
        so the last probability takes what is left."""
        known = self.first_prefix[:length]
        return [*known[:-1], 1.0 - sum(known[:-1])]

    def start(self, drawn: float, length: int) -> int:
        ends = list(accumulate(self.starts(length)))
        # By rounding, the last sum may be below 1, and so below the drawn number.
        return min(bisect_right(ends, drawn), len(ends) - 1)

    def selects(self, rank: int | None, lookup: int, prefix: int) -> float:
        """Return the probability, 0 without a rank. `lookup`: its number, from 0. `prefix`: the characters typed."""
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
"""Profiles by name, see docs/ml.md. `first` asks once, and takes the expected text at rank 1 only."""


def build_user_model(config: UserModelConfig) -> UserModel:
    own = {name: getattr(config, name) for name in ("first_prefix", "select", "cancel", "attend")}
    own = {name: value for name, value in own.items() if value is not None}
    return replace(PROFILES[config.profile], index=config.index, **own)


def encode_user_model(model: UserModel) -> str:
    """Return one line of JSON. Evaluations are comparable only if it is the same."""
    return msgspec.json.encode(model).decode()


def decides_by_chance(encoded: str) -> bool:
    return any(float(number) not in {0, 1} for number in re.findall(r"\d[\d.]*(?:e-?\d+)?", encoded))


class Emulated:
    """The user of one session, the same for every engine: samples depend on seed, session id and lookup."""

    def __init__(self, model: UserModel, seed: int, session: str, length: int) -> None:
        self._model = model
        self._seed = seed
        self._session = session
        self._start = model.start(self._draw("start"), length)
        self._attends = self._draw("attend") < model.attend
        self._lookups = 0
        self.over = False
        """True once the expected text was taken, or the user gave up."""

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
        """By first lookup: the probabilities that the user is still asking, and that the user looks at no list."""
        self._courses: defaultdict[tuple[int, int, bool], float] = defaultdict(float)
        self._likeliest = (0.0, 0)
        """The largest probability of a first lookup, and that lookup."""

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
        """Return the possible courses; those from the likeliest first lookup come first, sorted by their share."""
        for first, asking, blind in self._asking:
            # A user who did not take the text types it to the end.
            self._courses[first, self._lookups, False] += asking + blind
        courses = [Course(*place, share) for place, share in self._courses.items() if share > 0]
        first = -self._likeliest[1]
        return tuple(sorted(courses, key=lambda course: (course.first != first, -course.share)))


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """The expectations for one session of a user, computed exactly rather than sampled."""

    selected: float
    cancelled: float
    queries: float
    saved: float
    """Share of the text not typed, 0 if it was not taken: the probabilistic eSaved of Kharitonov et al. 2013."""
    typed: float


def average_behaviour(ranks: Sequence[int | None], model: UserModel) -> Expected:
    """Return what the user does on average in a session. `ranks`: the expected text's rank at each prefix of 0 … L - 1
    characters, where L is the length of the expected text; None if it is absent."""
    length = len(ranks)
    selected = cancelled = queries = saved = 0.0
    for start, share in enumerate(model.starts(length)):
        # A user who does not look at lists types to the end, while one pops up after each character.
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
