"""The contract of a recommender of method calls, and the data that it receives.

Everything learnt is about one type. In numbers, a call is its position among the calls of its type, sorted by name. The
context of an object has three slots: enclosing method, enclosing class, definition. A value is its position among the
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

from ci_eval.core.base.errors import ConfigError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SLOTS = ("method", "class", "definition")
METHOD, CLASS, DEFINITION = range(3)
NONE, IGNORED = -1, -2
"""Numbers in place of a value: no known value; a value that is ignored."""


class TrainingOptions(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The options of all kinds."""

    method_context: Literal["qualified", "name", "off"] = "qualified"
    """Use of the enclosing method: by its qualified name, which means nothing in other projects unless it overrides
    theirs; by its own name alone; or not at all."""
    class_context: bool = False
    """True if the enclosing class is used."""
    definition: bool = True
    """True if the origin of the object is used."""
    most_usages: Annotated[int, Meta(ge=0)] = 30_000
    """The most usages of a type that are learnt from; more are sampled with `seed`. 0 for all."""
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class TypeUsages:
    """The different usages of one type: for each row its context, its calls, and how often it was seen."""

    type: str
    calls: Sequence[str]
    """Names, sorted."""
    values: Sequence[Sequence[str]]
    """Values of each slot, sorted."""
    contexts: Ints
    """Rows x slots: values, or NONE."""
    starts: Ints
    """Positions in `flat` at which the calls of each row begin, and the end."""
    flat: Ints
    """The calls of all rows; of each row, ascending."""
    counts: Ints
    """The rows are in the order of these, the highest first; equal ones in that of their calls and contexts."""


Arrays = Mapping[str, NDArray[Any]]
"""Arrays learnt for one type: name → numbers, one-dimensional, integers or floats."""


@dataclass(frozen=True, kw_only=True)
class TypeModel:
    """The parameters learnt for one type. They come from a file of unknown origin, so they are checked."""

    calls: Sequence[str]
    values: Sequence[Sequence[str]]
    arrays: Arrays

    @property
    def features(self) -> int:
        """Number of calls and values: a value's number as a feature is behind those of calls and of slots before."""
        return len(self.calls) + sum(map(len, self.values))

    def feature(self, slot: int, value: int) -> int:
        return len(self.calls) + sum(len(slot_values) for slot_values in self.values[:slot]) + value

    def floats(self, name: str) -> Floats:
        """Return an array of finite numbers. Raises ConfigError if the file has none of that name."""
        values = np.asarray(self._array(name), dtype=np.float64)
        require(bool(np.isfinite(values).all()), f"{name} holds numbers that are not finite")
        return values

    def numbers(self, name: str, *, least: int = 0, below: int = 2**62) -> Ints:
        """Return an array of integers from `least` to `below` - 1. Raises ConfigError if it holds others."""
        values = self._array(name)
        within = not values.size or least <= values.min() <= values.max() < below
        require(values.dtype.kind == "i" and within, f"{name} holds numbers beyond its bounds")
        return values.astype(np.int64)

    def starts(self, name: str, *, of: int) -> Ints:
        """Return where parts begin in an array with `of` elements, and where the last one ends. Raises ConfigError."""
        starts = self.numbers(name, below=of + 1)
        whole = starts.size and starts[0] == 0 and starts[-1] == of and (np.diff(starts) >= 0).all()
        require(bool(whole), f"{name} does not divide its {of:,} elements")
        return starts

    def _array(self, name: str) -> NDArray[Any]:
        require(name in self.arrays, f"{name} is missing")
        return self.arrays[name]


def require(condition: bool, why: str) -> None:
    """Check that a condition holds of a model. Raises ConfigError, which says `why`."""
    if not condition:
        raise ConfigError(f"the model is damaged: {why}; train it again by `ci-eval train-recommender`")


@dataclass(frozen=True, kw_only=True)
class Known:
    """A query, as far as training knows its parts."""

    contexts: tuple[int, ...]
    """Value, NONE or IGNORED for each slot."""
    calls: Ints
    """Calls of the query, in ascending order."""


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The probability of each call of the type, from 0 to 1. Those of the query's own calls are ignored."""

    scores: Floats
    ties: Floats | None = None
    """Order of equal scores: the call with the higher tie comes first. None orders by name."""


Scorer = Callable[[Known], Scores]


@dataclass(frozen=True, kw_only=True)
class Recommender:
    name: str
    summary: str
    options: type[TrainingOptions]
    train: Callable[[TypeUsages, Any], Arrays]
    """The usages of a type, the options → the arrays to store. The same usages always give the same arrays."""
    open: Callable[[TypeModel, Any], Scorer]
    """The stored arrays, the options of training → a scorer. Raises ConfigError if `train` cannot have written them."""
    threshold: float = 0.30
    """Least score at which a call is proposed, unless the user sets another one."""
    strict: bool = False
    """True if a score must exceed the threshold, rather than reach it."""


def part(starts: Ints, picks: Ints) -> tuple[Ints, Ints]:
    """Return the positions of all elements of the parts `picks` of an array divided by `starts`, and for each the
    position of its part in `picks`."""
    lengths = starts[picks + 1] - starts[picks]
    owner = np.repeat(np.arange(len(picks)), lengths)
    before = np.cumsum(lengths) - lengths
    return np.arange(len(owner)) - before[owner] + starts[picks][owner], owner
