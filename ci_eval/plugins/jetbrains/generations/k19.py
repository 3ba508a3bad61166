"""The workspaces of the plugin of 2019 (0.0.9 and 0.0.10), according to the source of its last public commit."""

from __future__ import annotations

from functools import partial

from ci_eval.core.config import Config
from ci_eval.core.model import Properties
from ci_eval.plugins.jetbrains import fields as properties
from ci_eval.plugins.jetbrains import generation
from ci_eval.plugins.jetbrains.fields import Fields
from ci_eval.plugins.jetbrains.generation import Generation


def read_properties(fields: Fields) -> Properties:
    # The plugin wrote the properties twice. Request the second copy, too, so that it is not stored as unrequested.
    inner = fields.section("properties" if "properties" in fields else "_properties")
    fields.value("_properties")
    return Properties(
        kind=properties.read_kind(inner),
        is_argument=inner.optional("isArgument", bool),
        is_static=inner.optional("isStatic", bool),
        package=inner.optional("packageName", str),
    )


def _write_properties(known: Properties) -> dict[str, object]:
    values = {
        "tokenType": known.kind.value,
        "isArgument": known.is_argument,
        "isStatic": known.is_static,
        "packageName": known.package,
    }
    return {name: value for name, value in values.items() if value is not None}


def config(configuration: Config, project: str) -> dict[str, object]:
    strategy, interpret = configuration.actions.strategy, configuration.interpret
    context = generation.context_of(strategy)
    filters = generation.filters(strategy.filters) | {"isArgument": strategy.filters.is_argument}
    return {
        **generation.head(configuration, project),
        "actions": {
            "evaluationRoots": list(configuration.actions.evaluation_roots),
            "strategy": {"completeAllTokens": configuration.language == "text", **context, "filters": filters},
        },
        "interpret": {
            "completionType": interpret.completion_type,
            "completeTokenProbability": interpret.session_probability,
            "completeTokenSeed": interpret.seed,
            "saveLogs": interpret.save_logs,
            "trainTestSplit": interpret.train_test_split,
        },
        "reports": generation.reports(configuration),
    }


GENERATION = Generation(
    name="k19",
    summary="the plugin of 2019, before it became part of the IDEs",
    wrote=lambda config: "strategy" not in config and not generation.has_later_keys(config),
    since_2021=False,
    prefix="text",
    properties="properties",
    listed=generation.list_source_files,
    read_properties=read_properties,
    read_actions=partial(generation.read, properties=read_properties),
    config=config,
    write_properties=lambda known: dict.fromkeys(("_properties", "properties"), _write_properties(known)),
    write_actions=partial(generation.write, properties=lambda known: {"properties": _write_properties(known)}),
)
