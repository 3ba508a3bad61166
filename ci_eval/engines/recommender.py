"""A recommender of method calls that `ci-eval train-recommender` trained; it answers queries about objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace as with_values

from ci_eval.adapters.controls import ControlEngine, OpenText
from ci_eval.contracts import Answer, Engine, Installation, Query, Running, Surroundings
from ci_eval.errors import ConfigError, EngineRaised
from ci_eval.learning.recommenders.file import digest_of
from ci_eval.learning.recommenders.proposing import Trained
from ci_eval.model import Suggestion


class RecommenderOptions(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The options of `recommender`."""

    model: str = ""
    """The file of the model."""
    threshold: Annotated[float, Meta(ge=0, le=1)] | None = None
    """The score from which on a call is proposed; None = the usual one of the model's kind."""
    unknown_definition: Literal["evidence", "ignore"] = "evidence"
    """Whether it tells something that the definition of an object is not known."""


class Recommending(OpenText):
    """A started recommender."""

    def __init__(self, options: RecommenderOptions, _surroundings: Surroundings) -> None:
        super().__init__()
        self._options = options
        self._trained = Trained(path_of(options))

    def complete(self, query: Query) -> Answer:
        """The proposals, each on a line with its score, and the time they took."""
        if not (query.record and query.record.queries):
            raise EngineRaised("a recommender answers queries about objects alone: use it with --task method-calls")
        started = perf_counter()
        found = self._trained.proposals(
            query.record.queries[0],
            threshold=self._options.threshold,
            unknown_definition=self._options.unknown_definition == "evidence",
        )
        latency = (perf_counter() - started) * 1000
        text = "\n".join(f"{each.call}\t{each.score:.4f}" for each in found)
        return Answer(suggestions=[Suggestion(text=text)] if text else [], latency=latency)


def path_of(options: RecommenderOptions) -> Path:
    """The model's file. Raises ConfigError where none is named."""
    if not options.model:
        raise ConfigError(
            "the engine recommender needs a model: add --set engine.options.model=FILE, which `ci-eval "
            "train-recommender` makes"
        )
    return Path(options.model).expanduser()


@dataclass(frozen=True, kw_only=True)
class RecommenderEngine(ControlEngine):
    """The engine for a model."""

    # Two functions made by `partial` are never equal, and a worker keeps its engine for the next file only if it is.
    control: Callable[[Surroundings], Running] = field(compare=False)
    options: RecommenderOptions

    @property
    def described(self) -> str:
        """See Configurable."""
        usual, given = msgspec.to_builtins(RecommenderOptions()), msgspec.to_builtins(self.options)
        return ", ".join(f"{key} {given[key]}" for key in usual if key != "model" and given[key] != usual[key])

    def configured(self, options: Mapping[str, object]) -> Engine:
        """See Configurable."""
        try:
            given = msgspec.convert(dict(options), RecommenderOptions)
        except msgspec.ValidationError as error:
            known = ", ".join(msgspec.to_builtins(RecommenderOptions()))
            raise ConfigError(f"`engine.options` of {self.name}: {error}; known are {known}") from error
        return replace(self, options=given, control=partial(Recommending, given))

    def install(self, version: str | None, cache: Path) -> Installation:
        """See Engine; the model is part of what reports call its version. Raises ConfigError where it is none."""
        made, path = super().install(version, cache), path_of(self.options)
        facts, digest = Trained(path).facts, digest_of(path)
        version = ", ".join(filter(None, (facts.kind, f"model {digest[:12]}", self.described)))
        said = {
            f"{facts.kind} model": f"of {facts.usages:,} usages of {facts.types:,} types, {path.stat().st_size:,} bytes"
        }
        return Installation(info=with_values(made.info, version=f"{made.info.version} ({version})", packages=said))


ENGINE: Engine = RecommenderEngine(
    name="recommender",
    summary="a trained recommender of method calls, for the task method-calls",
    control=partial(Recommending, RecommenderOptions()),
    takes_records=True,
    options=RecommenderOptions(),
)
