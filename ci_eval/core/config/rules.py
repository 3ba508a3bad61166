"""Checks that involve several values of a configuration, and values that are changed with a warning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_args

from msgspec.structs import replace

from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config.checking import show
from ci_eval.core.config.schema import Config
from ci_eval.core.filters import EVERYTHING, GROUPS, compile_pattern, resolve, standard_parts
from ci_eval.core.model import EndpointConfig, FiltersConfig, PlacesConfig, PrefixConfig, SilentPlace, pick

LANGUAGES = {"c++": "cpp", "c#": "csharp", "shell script": "bash", "golang": "go"}

NOTHING_TO_EMULATE = (
    "`actions.strategy.prefix.emulateTyping` is true, but NoPrefix types nothing, so the setting has no effect; "
    "choose SimplePrefix or CapitalizePrefix to emulate typing"
)

MOST_LENGTHS = 100
"""The largest number of lengths of a Ladder. Each length adds a session for each token."""

USER_TYPES = (
    "`actions.strategy.prefix` is {0}, but the modelled user decides when completion is requested, so EveryPrefix "
    "is used; remove `interpret.userModel` to keep {0}"
)


def settle(config: Config, source: str) -> tuple[Config, list[str]]:
    """Return the configuration as it is evaluated, and a warning for each overridden value. Raises ConfigError."""
    if problems := list(_problems(config)):
        raise ConfigError("\n".join(f"{source}: {problem}" for problem in problems))
    warnings: list[str] = []
    strategy = config.actions.strategy
    if strategy.prefix.emulate_typing and strategy.prefix.name == "NoPrefix":
        warnings.append(NOTHING_TO_EMULATE)
        strategy = replace(strategy, prefix=PrefixConfig())
    if config.interpret.user_model and strategy.prefix.name != "EveryPrefix":
        if strategy.prefix != PrefixConfig():
            warnings.append(USER_TYPES.format(strategy.prefix.name))
        strategy = replace(strategy, prefix=PrefixConfig(name="EveryPrefix"))
    if config.task == "silent" and not strategy.places.silent:
        strategy = replace(strategy, places=PlacesConfig(silent=get_args(SilentPlace)))
    if strategy.places.silent and strategy.prefix == PrefixConfig():
        strategy = replace(strategy, prefix=PrefixConfig(name="SimplePrefix", n=1))
    strategy = replace(strategy, filters=_drop_open_regex(strategy.filters))
    parts = config.reports.sessions_filters
    parts = tuple(replace(part, filters=_drop_open_regex(part.filters)) for part in parts)
    # The catalog of languages reports unknown languages later.
    language = config.language.strip().lower()
    settled = replace(
        config,
        language=LANGUAGES.get(language, language),
        actions=replace(config.actions, strategy=strategy),
        reports=replace(config.reports, sessions_filters=parts),
    )
    return settled, warnings


def _drop_open_regex(filters: FiltersConfig) -> FiltersConfig:
    # Any regex excludes tokens whose package is not known, so a regex that matches every package is removed.
    return replace(filters, package_regex=None) if filters.package_regex == ".*" else filters


def _problems(config: Config) -> Iterator[str]:
    strategy = config.actions.strategy
    if config.projects and (config.project.spec or config.dataset.spec):
        yield "`projects` cannot be combined with `project` or `dataset`: remove one of them"
    if len(set(config.projects)) < len(config.projects):
        yield "`projects` lists a project twice; remove one of the two entries"
    yield from _prefix_problems(strategy.prefix)
    yield from _inside_problems(config)
    user = config.interpret.user_model
    if user and user.first_prefix is not None and abs(sum(user.first_prefix) - 1) > 1e-6:
        yield (
            f"`interpret.userModel.firstPrefix` sums to {sum(user.first_prefix):g}; the probabilities of all lengths "
            "must sum to 1"
        )
    if strategy.completion_golf and config.task not in {"completion", "golf"}:
        yield f"`actions.strategy.completionGolf` selects golf, but `task` is {config.task!r}; remove one of them"
    if strategy.places.silent and (config.effective_task != "silent" or config.task not in {"completion", "silent"}):
        yield "`actions.strategy.places` selects the task silent, but another task is configured; remove one of them"
    if strategy.imports == "removed" and (strategy.completion_golf or config.task not in {"completion", "imports"}):
        yield "`actions.strategy.imports: removed` selects imports, but another task is configured; remove one of them"
    if strategy.evolution.how == "different" and strategy.evolution.what != "lines":
        yield (
            f"`actions.strategy.evolution.how` is 'different', but {strategy.evolution.what} can only be missing; use "
            "`how: missing` or `what: lines`"
        )
    yield from _regex_problems(strategy.filters, "actions.strategy.filters")
    yield from _engine_problems(config)
    if config.queries.drop_definition + config.queries.replace_definition > 1:
        yield "`queries.dropDefinition` and `replaceDefinition` are shares of the same cases; their sum exceeds 1"
    if config.interpret.train_test_split + config.interpret.test_split > 99:
        yield "`interpret.trainTestSplit` and `testSplit` leave nothing for validation: their sum must not exceed 99"
    names: set[str] = set()
    for index, part in enumerate(config.reports.sessions_filters):
        path = f"reports.sessionsFilters[{index}]"
        yield from _regex_problems(part.filters, f"{path}.filters")
        if resolve(part.name, ()) == EVERYTHING or standard_parts(part.name):
            yield f"`{path}.name` is {part.name!r}, which is the name of a built-in filter; choose another"
        if part.name in names:
            yield f"`{path}.name` is {part.name!r}, the name of an earlier filter; names must differ"
        names.add(part.name)
    filters = config.report_filters
    known = [part.name for part in filters.all]
    if filters.headline not in known:
        possible, wrong = ("all", *GROUPS, *known[1:]), config.reports.headline
        hint = guess(wrong, possible)
        yield f"`reports.headline` is {wrong!r}, which is not a filter{hint}; the filters are {', '.join(possible)}"


def _engine_problems(config: Config) -> Iterator[str]:
    yield from _endpoint_problems(config.engine, "engine")
    if config.judge:
        yield from _endpoint_problems(config.judge, "judge")
        if config.judge.endpoint is None:
            yield "`judge.endpoint` is missing; expected an address such as https://HOST/v1"
    engine = config.engine
    if engine.command is not None and engine.endpoint is not None:
        yield "`engine` has both a command and an endpoint; remove one of these keys"
    if engine.command is None and (engine.language_id or engine.like):
        yield "`engine` has `languageId` or `like`, which need a `command`: add a command, or remove these keys"


def _endpoint_problems(settings: EndpointConfig, section: str) -> Iterator[str]:
    # The message does not repeat the value, since it may be a secret key.
    if settings.key is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]*", settings.key):
        yield (
            f"`{section}.key` is not the name of an environment variable (capitals, digits, _); put the key into a "
            "variable, and give the name of the variable"
        )
    if settings.endpoint is None:
        if EndpointConfig(**pick(settings, *EndpointConfig.__struct_fields__)) != EndpointConfig():
            yield f"`{section}` has `model`, `api` or other keys that need an `endpoint`: add it, or remove these keys"
    elif settings.model is None:
        yield f"`{section}.model` is missing; expected the name that the endpoint gives the language model"
    if settings.template is not None and settings.api != "completions":
        yield (
            f"`{section}.template` needs `api: completions`; `{section}.api` is {settings.api!r}: remove one of them"
        )
    if settings.logprobs and settings.api == "fim":
        yield f"`{section}.logprobs` is true; api fim returns no log-probabilities: remove the key, or use another api"
    if settings.file_heading is not None and settings.template is None:
        yield f"`{section}.fileHeading` needs a `{section}.template` with {{files}}: add one, or remove `fileHeading`"
    if (settings.window.characters_per_token is None) != (settings.window.tokens is None):
        yield f"`{section}.window` needs both `tokens` and `charactersPerToken` (such as 2.5): add the missing key"


def _prefix_problems(prefix: PrefixConfig) -> Iterator[str]:
    if prefix.name == "SimplePrefix" and prefix.n is None:
        yield "`actions.strategy.prefix.n` is missing; SimplePrefix needs the number of characters to type, e.g. 1"
    if (prefix.name == "Ladder") != (prefix.lengths is not None):
        yield (
            "`actions.strategy.prefix.lengths` is missing; Ladder needs the numbers of characters, e.g. [0, 1, 2, 3, 5]"
            if prefix.lengths is None
            else f"`actions.strategy.prefix.lengths` is given, but {prefix.name} takes none; remove them or use Ladder"
        )
    if prefix.lengths is not None and len(prefix.lengths) > MOST_LENGTHS:
        yield (
            f"`actions.strategy.prefix.lengths` has {len(prefix.lengths):,} entries; at most {MOST_LENGTHS} are "
            "allowed, since each length makes a session for each token"
        )
    if prefix.name in {"Ladder", "EveryPrefix"} and prefix.emulate_typing:
        yield (
            f"`actions.strategy.prefix.emulateTyping` is true, but {prefix.name} already asks at each length; "
            "remove emulateTyping, or choose SimplePrefix"
        )
    if prefix.name not in {"SimplePrefix", "EveryPrefix", "Inside"} and prefix.n is not None:
        yield f"`actions.strategy.prefix.n` is {prefix.n}, but {prefix.name} takes none; remove `n` or use SimplePrefix"


def _inside_problems(config: Config) -> Iterator[str]:
    is_inside = config.actions.strategy.prefix.name == "Inside"
    if is_inside != (config.effective_task == "inside"):
        yield (
            f"`actions.strategy.prefix` is Inside, but the task is {config.effective_task}; remove one of them"
            if is_inside
            else "`task` is 'inside', which needs `actions.strategy.prefix: {name: Inside}`: add this setting"
        )
    if is_inside and config.interpret.client == "editor":
        yield (
            "`actions.strategy.prefix` is Inside, which needs the text that acceptance leaves, but the client "
            "'editor' does not know this text; set `interpret.client` to vscode or raw"
        )
    if is_inside and config.engine.endpoint is not None:
        yield (
            "`actions.strategy.prefix` is Inside, but `engine.endpoint` is a language model, which replaces nothing; "
            "use another prefix, or an engine that is not a language model"
        )
    if is_inside and config.actions.strategy.prefix.emulate_typing:
        yield "`actions.strategy.prefix.emulateTyping` is true, but Inside types nothing; remove emulateTyping"
    if is_inside and config.interpret.user_model is not None:
        yield "`interpret.userModel` types tokens, but `actions.strategy.prefix` Inside types none; remove one of them"


def _regex_problems(filters: FiltersConfig, path: str) -> Iterator[str]:
    if filters.package_regex is None:
        return
    try:
        compile_pattern(filters.package_regex)
    except ConfigError as error:
        yield f"`{path}.packageRegex` is {show(filters.package_regex)}; {error}"
