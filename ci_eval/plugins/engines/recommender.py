"""A recommender of method calls, trained by `ci-eval train-recommender`. It answers the task method-calls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace as with_values

from ci_eval.core.base import stored
from ci_eval.core.base.errors import ConfigError, EngineRaised
from ci_eval.core.contracts import Answer, Engine, Installation, Query, Surroundings
from ci_eval.core.model import Suggestion
from ci_eval.plugins.adapters.controls import ConfigurableEngine, EngineOptions, OpenText
from ci_eval.plugins.learning.recommenders.training import Trained


class RecommenderOptions(EngineOptions, frozen=True, kw_only=True):
    model: str = ""
    """The file of the trained model."""
    threshold: Annotated[float, Meta(ge=0, le=1)] | None = None
    """The minimum score of a proposed call. None selects the default of the model's kind."""
    unknown_definition: Literal["evidence", "ignore"] = "evidence"
    """Whether an unknown definition of the object counts as evidence or is ignored."""


class Recommending(OpenText):
    def __init__(self, options: RecommenderOptions, _surroundings: Surroundings) -> None:
        super().__init__()
        self._options = options
        self._trained = Trained(find_model_file(options))

    def complete(self, query: Query) -> Answer:
        if not (query.record and query.record.queries):
            raise EngineRaised("a recommender answers queries about objects alone: use it with --task method-calls")
        started = perf_counter()
        proposals = self._trained.proposals(
            query.record.queries[0],
            threshold=self._options.threshold,
            unknown_definition=self._options.unknown_definition == "evidence",
        )
        latency = (perf_counter() - started) * 1000
        text = "\n".join(f"{proposal.call}\t{proposal.score:.4f}" for proposal in proposals)
        return Answer(suggestions=[Suggestion(text=text)] if text else [], latency=latency)


def find_model_file(options: RecommenderOptions) -> Path:
    if not options.model:
        raise ConfigError(
            "the engine recommender needs a model: add --set engine.options.model=FILE, which `ci-eval "
            "train-recommender` makes"
        )
    return Path(options.model).expanduser()


@dataclass(frozen=True, kw_only=True)
class RecommenderEngine(ConfigurableEngine):
    options: RecommenderOptions

    @property
    def training_seed(self) -> int | None:
        """The seed of the model's training; None if the training does not depend on a seed."""
        return Trained(find_model_file(self.options)).training_seed

    def install(self, version: str | None, cache: Path) -> Installation:
        made, path = super().install(version, cache), find_model_file(self.options)
        facts, digest = Trained(path).facts, stored.hash_file(path.resolve()).hex()
        version = ", ".join(filter(None, (facts.kind, f"model {digest[:12]}", self.described)))
        packages = {
            f"{facts.kind} model": f"of {facts.usages:,} usages of {facts.types:,} types, {path.stat().st_size:,} bytes"
        }
        return Installation(info=with_values(made.info, version=f"{self.version} ({version})", packages=packages))


ENGINE: Engine = RecommenderEngine(
    name="recommender",
    summary="a trained recommender of method calls, for the task method-calls",
    control=Recommending,
    takes_records=True,
    options=RecommenderOptions(),
)
