"""The workspaces of the plugin of 2021 and 2022, which was a part of the IDEs."""

from __future__ import annotations

from functools import partial

from ci_eval.core.config import Config
from ci_eval.plugins.jetbrains import fields as properties
from ci_eval.plugins.jetbrains import generation


def config(configuration: Config, project: str) -> dict[str, object]:
    strategy, interpret = configuration.actions.strategy, configuration.interpret
    user = interpret.user_model
    emulated = {"firstPrefixLen": user.first_prefix, "selectElement": user.select} if user and user.select else None
    return {
        **generation.head(configuration, project),
        "actions": {
            "evaluationRoots": list(configuration.actions.evaluation_roots),
            "strategy": {"emulateUser": user is not None, "completionGolf": False, **generation.context_of(strategy)},
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
        "reorder": {"useReordering": False, "title": generation.title(configuration), "features": []},
        "reports": {**generation.reports(configuration), "comparisonFilters": [], "defaultMetrics": None},
    }


GENERATION = generation.Generation(
    name="ij21",
    summary="the plugin of 2021 and 2022",
    # Since 2021, the configuration has keys that the plugin of 2019 did not know.
    wrote=lambda config: "strategy" not in config and generation.has_later_keys(config),
    listed=generation.list_source_files,
    read_actions=partial(generation.read, properties=properties.read_token_properties),
    config=config,
    write_actions=partial(generation.write, properties=properties.write_token_properties),
)
