"""What a recommender of method calls must provide, and what it is given.

All that is learned is of one type. In numbers, a call is its place among the calls of its type, sorted by name. What
surrounds an object has three slots: enclosing method, enclosing class, definition; a value is its place among the
sorted values of its slot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from ci_eval.errors import ConfigError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SLOTS = ("method", "class", "definition")
METHOD, CLASS, DEFINITION = range(3)
NONE, IGNORED = -1, -2
"""In place of a value: none that is known; one that is not looked at."""


class TrainingOptions(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The options of all kinds."""

    method_context: Literal["qualified", "name", "off"] = "qualified"
    """What of the enclosing method is looked at: its qualified name, which means nothing in other projects unless it
    overrides theirs; its own name alone; or nothing."""
    class_context: bool = False
    """Whether the enclosing class is looked at."""
    definition: bool = True
    """Whether it is looked at where the object comes from."""
    most_usages: Annotated[int, Meta(ge=0)] = 30_000
    """Usages of a type that are learned from, drawn with `seed` where there are more; 0 = all."""
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class TypeUsages:
    """The different usages of one type: in a row each what surrounds it, its calls, and how often it was seen."""

    type: str
    calls: Sequence[str]
    """Names, sorted."""
    values: Sequence[Sequence[str]]
    """Of each slot, sorted."""
    contexts: Ints
    """Rows x slots: values, or NONE."""
    starts: Ints
    """Where the calls of each row begin in `flat`; one more at the end."""
    flat: Ints
    """The calls of all rows; of each row, ascending."""
    counts: Ints
    """The rows are in the order of these, the highest first; equal ones in that of their calls and contexts."""


Arrays = Mapping[str, NDArray[Any]]
"""What was learned of one type: name → numbers, one-dimensional, integers or floats."""


@dataclass(frozen=True, kw_only=True)
class TypeModel:
    """What was learned of one type, as it was read from a file that may be anybody's."""

    calls: Sequence[str]
    values: Sequence[Sequence[str]]
    arrays: Arrays

    @property
    def features(self) -> int:
        """Number of calls and values: a value's number as a feature is behind those of calls and of slots before."""
        return len(self.calls) + sum(map(len, self.values))

    def feature(self, slot: int, value: int) -> int:
        """The number that a value has as a feature."""
        return len(self.calls) + sum(len(each) for each in self.values[:slot]) + value

    def floats(self, name: str) -> Floats:
        """Finite numbers. Raises ConfigError where the file has none of that name."""
        found = np.asarray(self._array(name), dtype=np.float64)
        require(bool(np.isfinite(found).all()), f"{name} holds numbers that are not finite")
        return found

    def numbers(self, name: str, *, least: int = 0, below: int = 2**62) -> Ints:
        """Integers from `least` to `below` - 1. Raises ConfigError where others are there."""
        found = self._array(name)
        within = not found.size or least <= found.min() <= found.max() < below
        require(found.dtype.kind == "i" and within, f"{name} holds numbers beyond its bounds")
        return found.astype(np.int64)

    def starts(self, name: str, *, of: int) -> Ints:
        """Where parts begin in an array with `of` elements, and where the last one ends. Raises ConfigError."""
        found = self.numbers(name, below=of + 1)
        whole = found.size and found[0] == 0 and found[-1] == of and (np.diff(found) >= 0).all()
        require(bool(whole), f"{name} does not divide its {of:,} elements")
        return found

    def _array(self, name: str) -> NDArray[Any]:
        require(name in self.arrays, f"{name} is missing")
        return self.arrays[name]


def require(condition: bool, why: str) -> None:
    """Raises ConfigError, which says `why`, unless the condition holds of a model."""
    if not condition:
        raise ConfigError(f"the model is damaged: {why}; train it again by `ci-eval train-recommender`")


@dataclass(frozen=True, kw_only=True)
class Known:
    """What a query tells, as far as training knows it."""

    contexts: tuple[int, ...]
    """Of each slot: a value, NONE or IGNORED."""
    calls: Ints
    """Ascending."""


@dataclass(frozen=True, kw_only=True)
class Scores:
    """How likely each call of the type is, from 0 to 1; those of the query count for nothing."""

    scores: Floats
    ties: Floats | None = None
    """Of equal scores, the one with the higher tie goes first; None = by name."""


Scorer = Callable[[Known], Scores]


@dataclass(frozen=True, kw_only=True)
class Recommender:
    """One kind."""

    name: str
    summary: str
    options: type[TrainingOptions]
    train: Callable[[TypeUsages, Any], Arrays]
    """The usages of a type, the options → what is stored of it; the same usages always give the same."""
    open: Callable[[TypeModel, Any], Scorer]
    """What is stored, the options of training → how queries are answered. Raises ConfigError where that cannot be what
    `train` wrote."""
    threshold: float = 0.30
    """The score from which on a call is proposed, where the user does not say another one."""
    strict: bool = False
    """Whether a score must exceed the threshold, rather than reach it."""


def part(starts: Ints, picks: Ints) -> tuple[Ints, Ints]:
    """Of an array that is divided by `starts`: the places of all elements of the parts `picks`, one part after the
    other, and of each of them the place of its part in `picks`."""
    lengths = starts[picks + 1] - starts[picks]
    owner = np.repeat(np.arange(len(picks)), lengths)
    before = np.cumsum(lengths) - lengths
    return np.arange(len(owner)) - before[owner] + starts[picks][owner], owner
