"""Usages → a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ci_eval.errors import ConfigError, NothingToEvaluate
from ci_eval.learning.recommenders.contract import Recommender, TrainingOptions
from ci_eval.learning.recommenders.file import Facts, TypeNames, Writer
from ci_eval.learning.recommenders.reading import Collected


def options_of(kind: Recommender, given: Mapping[str, object]) -> TrainingOptions:
    """The options of its training. Raises ConfigError."""
    try:
        return msgspec.convert(dict(given), kind.options)
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
    """Write the model, and tell what was read; `advance` is told of each file before that is read.

    Raises ConfigError where a file cannot be read, NothingToEvaluate where nothing can be learned from them.
    """
    found = Collected(options)
    for path in sources:
        advance(path)
        found.read(path)
    writer = Writer()
    for usages in found.types():
        names = TypeNames(name=usages.type, calls=list(usages.calls), values=[list(each) for each in usages.values])
        writer.add(names, kind.train(usages, options))
    if not found.count:
        first = f"; the first of {found.bad:,} bad lines: {found.named[0]}" if found.named else ""
        raise NothingToEvaluate(f"there is no usage with a call to learn from among {found.usages:,} usages{first}")
    facts = Facts(
        kind=kind.name,
        options=msgspec.to_builtins(options),
        usages=found.usages,
        without_calls=found.without_calls,
        bad=found.bad,
        types=found.count,
    )
    writer.save(facts, output)
    return found
