"""The training of recommenders on object usages, counted by type, and the proposals of trained recommenders."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np

from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.model import Definition, ObjectUsage
from ci_eval.core.queries.cases import check_names
from ci_eval.plugins.learning import recommenders
from ci_eval.plugins.learning.recommenders import model as contract
from ci_eval.plugins.learning.recommenders.model import NONE, SLOTS, Recommender, TrainingOptions, TypeUsages

MOST_BYTES = 16 << 20
"""The length limit of a line, in bytes. Longer lines are not usages."""
MOST_NAMED = 20
"""The limit of bad lines that are named in messages."""

Row = tuple[int, ...]
"""The numbers of the slots' values (NONE for a missing value), then the numbers of the calls."""

HISTORY = re.compile(rb'"states"\s*:')
"""Matches a key that only histories have. Inside a JSON string, the quotes would be escaped and not match."""


class Collected(msgspec.Struct):
    options: TrainingOptions
    usages: int = 0
    without_calls: int = 0
    bad: int = 0
    named: list[str] = msgspec.field(default_factory=list)
    """The first bad lines, each with the reason why it is bad."""
    _rows: dict[str, Counter[Row]] = msgspec.field(default_factory=lambda: defaultdict(Counter))
    _numbers: dict[str, int] = msgspec.field(default_factory=dict)

    def read(self, path: Path) -> None:
        """Count the usages in a file. Raises ConfigError if the file cannot be read."""
        decoder = msgspec.json.Decoder(ObjectUsage)
        for number, line in _lines(path):
            try:
                if line is None:
                    raise ValueError(f"it is longer than {MOST_BYTES:,} bytes")
                if HISTORY.search(line):
                    raise ValueError("it is a history, not a usage: histories are evaluated (`--dataset`), not learned")
                self.add(decoder.decode(line))
            except (ValueError, RecursionError) as error:  # noqa: PERF203  a bad line costs itself
                self.bad += 1
                if len(self.named) < MOST_NAMED:
                    self.named.append(f"{path}, line {number}: {error}")

    def add(self, usage: ObjectUsage) -> None:
        """Count a usage. Raises ValueError if its type or a call is not a name."""
        check_names((usage.type, *usage.calls))
        self.usages += 1
        if not usage.calls:
            self.without_calls += 1
            return
        # Store numbers, since texts would take more memory.
        around = (NONE if text is None else self._number(text) for text in context_values(usage, self.options))
        row = (*around, *sorted({self._number(call) for call in usage.calls}))
        self._rows[usage.type][row] += 1

    @property
    def count(self) -> int:
        """Return the number of types."""
        return len(self._rows)

    def _number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def types(self) -> Iterator[TypeUsages]:
        """Yield the usages of each type, in the order of the types' names."""
        texts = list(self._numbers)
        for name, rows in sorted(self._rows.items()):
            calls = sorted({texts[call] for row in rows for call in row[len(SLOTS) :]})
            values = [sorted({texts[row[slot]] for row in rows if row[slot] >= 0}) for slot in range(len(SLOTS))]
            place, *places = ({text: number for number, text in enumerate(of)} for of in (calls, *values))
            ordered = sorted(
                (
                    -count,
                    tuple(sorted(place[texts[call]] for call in row[len(SLOTS) :])),
                    tuple(of[texts[value]] if value >= 0 else NONE for of, value in zip(places, row, strict=False)),
                )
                for row, count in rows.items()
            )
            counts = [-count for count, _, _ in ordered]
            if 0 < self.options.most_usages < sum(counts):
                seed = blake2b(f"{self.options.seed}\0{name}".encode(), digest_size=8).digest()
                random = np.random.default_rng(int.from_bytes(seed, "big"))
                drawn = random.multivariate_hypergeometric(counts, self.options.most_usages, method="marginals")
                taken = zip(drawn.tolist(), ordered, strict=True)
                ordered = sorted((-count, called, around) for count, (_, called, around) in taken if count)
            yield TypeUsages(
                type=name,
                calls=calls,
                values=values,
                contexts=np.array([around for _, _, around in ordered], dtype=np.int64),
                starts=np.cumsum([0, *(len(called) for _, called, _ in ordered)]),
                flat=np.array([call for _, called, _ in ordered for call in called], dtype=np.int64),
                counts=np.array([-count for count, _, _ in ordered], dtype=np.int64),
            )


def _lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Yield the number and the bytes of each line that is not blank. The bytes are None if the line is too long."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(partial(file.readline, MOST_BYTES + 1), b""), 1):
                is_long = len(line) > MOST_BYTES
                # Skip the remainder of a long line.
                remainder = line
                while remainder and is_long and not remainder.endswith(b"\n"):
                    remainder = file.readline(MOST_BYTES)
                if is_long or line.strip():
                    yield number, None if is_long else line
    except OSError as error:
        raise ConfigError(f"cannot read the usages in {path}: {error.strerror}") from error


def context_values(usage: ObjectUsage, options: TrainingOptions) -> tuple[str | None, str | None, str | None]:
    """Return the value of each slot, or None for a slot that is unknown or that the options do not use."""
    bare_name = usage.method.partition("(")[0].rpartition(".")[2]
    method = {"qualified": usage.method, "name": bare_name, "off": ""}[options.method_context]
    return (
        method or None,
        (usage.class_ or None) if options.class_context else None,
        definition_key(usage.definition) if options.definition else None,
    )


def definition_key(definition: Definition) -> str:
    argument = "" if definition.argument is None else str(definition.argument)
    return "\t".join((definition.kind, definition.member, argument)).rstrip("\t")


def encode_usage(
    usage: ObjectUsage, calls: dict[str, int], values: list[dict[str, int]], options: TrainingOptions, *, unknown: bool
) -> contract.Known:
    """Return a usage with the numbers of its type. `calls` and `values`: text → number. `unknown`: whether an unknown
    definition counts as evidence; if not, the slot is ignored."""
    contexts = [
        NONE if text is None else of.get(text, NONE)
        for of, text in zip(values, context_values(usage, options), strict=True)
    ]
    if usage.definition.kind == "UNKNOWN" and not unknown:
        contexts[contract.DEFINITION] = contract.IGNORED
    known_calls: contract.Ints = np.array(
        sorted({calls[call] for call in usage.calls if call in calls}), dtype=np.int64
    )
    return contract.Known(contexts=tuple(contexts), calls=known_calls)


def parse_options(kind: Recommender, fields: Mapping[str, object]) -> TrainingOptions:
    try:
        return msgspec.convert(dict(fields), kind.options)
    except msgspec.ValidationError as error:
        known = ", ".join(msgspec.to_builtins(kind.options()))
        raise ConfigError(f"options of {kind.name}: {error}; known are {known}") from error


def train(
    kind: Recommender,
    sources: Sequence[Path],
    output: Path,
    options: TrainingOptions,
    advance: Callable[[Path], None] = lambda _: None,
) -> Collected:
    """Train a model and write it to `output`. `advance` is called with each file before the file is read. Raises
    ConfigError if a file cannot be read, NothingToEvaluate if there are no usages."""
    collected = Collected(options)
    for path in sources:
        advance(path)
        collected.read(path)
    types = []
    for usages in collected.types():
        names = contract.TypeNames(name=usages.type, calls=list(usages.calls), values=list(map(list, usages.values)))
        types.append((names, kind.train(usages, options)))
    if not types:
        first = f"; the first of {collected.bad:,} bad lines: {collected.named[0]}" if collected.named else ""
        raise NothingToEvaluate(f"none of {collected.usages:,} usages has a call to learn from{first}")
    facts = contract.Facts(
        kind=kind.name,
        options=msgspec.to_builtins(options),
        usages=collected.usages,
        without_calls=collected.without_calls,
        bad=collected.bad,
        types=len(types),
    )
    contract.save(types, facts, output)
    return collected


OPEN_TYPES = 1000
"""The number of types whose scorers are cached."""


class Proposal(msgspec.Struct, frozen=True):
    call: str
    score: float


class Trained:
    def __init__(self, path: Path) -> None:
        self._stored = contract.load(path)
        self.facts = self._stored.facts
        self.kind = recommenders.CATALOG.load(self.facts.kind)
        self.options = parse_options(self.kind, self.facts.options)
        self._type = lru_cache(OPEN_TYPES)(self._open)

    @property
    def training_seed(self) -> int | None:
        """Return the seed of the samples, or None if all usages were used, so that the seed had no effect."""
        return self.options.seed if 0 < self.options.most_usages < self.facts.usages else None

    def _open(self, name: str) -> tuple[contract.Scorer, dict[str, int], list[dict[str, int]]] | None:
        """Return the scorer of a type, the numbers of its calls, and those of each slot's values."""
        model = self._stored.type(name)
        if model is None:
            return None
        calls, *values = ({text: place for place, text in enumerate(of)} for of in (model.calls, *model.values))
        return self.kind.open(model, self.options), calls, values

    def knows(self, type_: str) -> bool:
        return self._type(type_) is not None

    def proposals(
        self, query: ObjectUsage, *, threshold: float | None = None, unknown_definition: bool = True
    ) -> list[Proposal]:
        """Return the calls that the query lacks and whose scores reach the threshold, likeliest first. If the type is
        unknown, there are none. `threshold`: None for the kind's default. `unknown_definition`: whether an unknown
        definition counts as evidence. Raises ConfigError if the model is damaged."""
        of = self._type(query.type)
        if of is None:
            return []
        scorer, calls, values = of
        known = encode_usage(query, calls, values, self.options, unknown=unknown_definition)
        scored = scorer(known)
        scores = scored.scores.copy()
        scores[known.calls] = -1.0
        least = self.kind.threshold if threshold is None else threshold
        reached = scores > least if self.kind.strict else scores >= least
        places = np.flatnonzero(reached & (scores > 0))
        ties = np.zeros(len(scores)) if scored.ties is None else scored.ties
        # Positions are in the order of names, so calls with equal scores and ties are sorted by name.
        order = np.lexsort((places, -ties[places], -scores[places]))
        names = list(calls)
        return [Proposal(names[position], float(scores[position])) for position in places[order].tolist()]
