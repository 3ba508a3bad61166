"""The training of a recommender on usages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.plugins.learning.recommenders.contract import Recommender, TrainingOptions
from ci_eval.plugins.learning.recommenders.file import Facts, TypeNames, Writer
from ci_eval.plugins.learning.recommenders.reading import Collected


def parse_options(kind: Recommender, fields: Mapping[str, object]) -> TrainingOptions:
    """Return the options of training as a value of their type. Raises ConfigError."""
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
    """Write the model, and return the usages that were read. `advance` receives each file before it is read.

    Raises ConfigError if a file cannot be read, NothingToEvaluate if there is nothing to learn from.
    """
    collected = Collected(options)
    for path in sources:
        advance(path)
        collected.read(path)
    writer = Writer()
    for usages in collected.types():
        names = TypeNames(
            name=usages.type, calls=list(usages.calls), values=[list(slot_values) for slot_values in usages.values]
        )
        writer.add(names, kind.train(usages, options))
    if not collected.count:
        first = f"; the first of {collected.bad:,} bad lines: {collected.named[0]}" if collected.named else ""
        raise NothingToEvaluate(f"there is no usage with a call to learn from among {collected.usages:,} usages{first}")
    facts = Facts(
        kind=kind.name,
        options=msgspec.to_builtins(options),
        usages=collected.usages,
        without_calls=collected.without_calls,
        bad=collected.bad,
        types=collected.count,
    )
    writer.save(facts, output)
    return collected
