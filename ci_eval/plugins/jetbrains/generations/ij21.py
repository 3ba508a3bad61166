"""The plugin of 2021 and 2022, within the IDEs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ci_eval.core.config import Config
from ci_eval.core.model import Action
from ci_eval.plugins.jetbrains import fields as properties
from ci_eval.plugins.jetbrains import generation
from ci_eval.plugins.jetbrains.fields import Fields
from ci_eval.plugins.jetbrains.generation import StoredActions

LATER = ("emulateUser", "completionGolf")


def wrote(config: Mapping[str, object]) -> bool:
    """This generation has a strategy below `actions`, and reordering or a modelled user."""
    return "strategy" not in config and (
        "reorder" in config or any(key in generation.strategy(config) for key in LATER)
    )


def read_actions(fields: Fields) -> StoredActions:
    return generation.read(fields, properties.read_token_properties)


def write_actions(actions: Sequence[Action]) -> list[dict[str, object]]:
    return generation.write(actions, properties.as_tokens)


def config(configuration: Config, project: str) -> dict[str, object]:
    strategy, interpret, title = (
        configuration.actions.strategy,
        configuration.interpret,
        generation.title(configuration),
    )
    user = interpret.user_model
    emulated = {"firstPrefixLen": user.first_prefix, "selectElement": user.select} if user and user.select else None
    return {
        **generation.head(configuration, project),
        "actions": {
            "evaluationRoots": list(configuration.actions.evaluation_roots),
            "strategy": {
                "emulateUser": user is not None,
                "completionGolf": False,
                "context": "ALL" if strategy.context == "ALL" else "PREVIOUS",
                "prefix": generation.prefix(strategy.prefix),
                "filters": generation.filters(strategy.filters),
            },
        },
        "interpret": {
            "completionType": interpret.completion_type,
            "experimentGroup": None,
            "sessionsLimit": interpret.sessions_limit,
            "completeTokenProbability": interpret.session_probability,
            "completeTokenSeed": interpret.seed,
            "emulationSettings": emulated,
            "completionGolfSettings": None,
            "saveLogs": interpret.save_logs,
            "saveFeatures": interpret.save_logs,
            "saveContent": False,
            "logLocationAndItemText": False,
            "trainTestSplit": interpret.train_test_split,
        },
        "reorder": {"useReordering": False, "title": title, "features": []},
        "reports": {**generation.reports(configuration), "comparisonFilters": [], "defaultMetrics": None},
    }


GENERATION = generation.since_2021(
    name="ij21",
    summary="the plugin of 2021 and 2022",
    wrote=wrote,
    listed=generation.list_source_files,
    rank=generation.rank_by_language,
    read_actions=read_actions,
    config=config,
    write_actions=write_actions,
)
