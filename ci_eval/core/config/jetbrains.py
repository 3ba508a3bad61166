"""Conversion of configurations of the JetBrains evaluation plugin from 2019 to 2022, with the renames of 2023.

A setting that has no effect causes a warning that says what happens instead. `checking.py` reports unknown keys.
"""

from __future__ import annotations

import copy

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config.checking import show

MOVED = {
    "strategy": "actions.strategy",
    "saveLogs": "interpret.saveLogs",
    "logsTrainingPercentage": "interpret.trainTestSplit",
    "interpret.logsTrainingPercentage": "interpret.trainTestSplit",
    "listOfFiles": "actions.evaluationRoots",
    "evaluationRoots": "actions.evaluationRoots",
    "completionType": "interpret.completionType",
    "actions.strategy.type": "interpret.completionType",
    "interpret.completeTokenProbability": "interpret.sessionProbability",
    "interpret.completeTokenSeed": "interpret.seed",
    "interpret.sessionSeed": "interpret.seed",
}
"""Key of the plugin → key of ci-eval, in the order in which values are moved."""

STATEMENTS: dict[str, dict[str, object]] = {
    "METHOD_CALLS": {"statementTypes": ["METHOD_CALL"]},
    "ARGUMENTS": {"isArgument": True},
    "VARIABLES": {"statementTypes": ["VARIABLE"]},
    "ALL_STATIC": {"isStatic": True},
    "ALL": {"statementTypes": ["METHOD_CALL", "FIELD", "VARIABLE"]},
    "ALL_TOKENS": {},
}
"""Value of `strategy.statement` (until 2019-09) → filters. ALL means all statements that the plugin knew."""

NULL_MEANS_DEFAULT = ("projectPath", "project", "language", "outputDir", "actions.evaluationRoots", "interpret.seed")

NO_LOGS = "to log each suggestion with its features, set `interpret.saveLogs`"
ONE_GOLF = "ci-eval always plays golf in the same way (docs/metrics.md)"

UNUSED: dict[str, tuple[tuple[object, ...], str]] = {
    "interpretActions": ((True,), "run `ci-eval actions` for the first stage alone"),
    "actions.projectName": ((), "the project's name comes from `project`"),
    "actions.sourceFile": ((), "actions come from `project` alone"),
    "interpret.completionGolfSettings": ((), ONE_GOLF),
    "interpret.experimentGroup": ((), "sessions have no experiment group; give evaluations different titles"),
    "interpret.filesLimit": ((), "every file is evaluated; set `interpret.sessionsLimit` instead"),
    "interpret.order": (("LINEAR",), "sessions are evaluated in the order of the file"),
    "interpret.registry": (("",), "ci-eval runs no IDE, so there is no registry"),
    "interpret.saveFusLogs": ((False,), NO_LOGS),
    "interpret.saveFeatures": ((True, False), NO_LOGS),
    "interpret.saveContent": ((False,), "the workspace always stores the text of each file, once"),
    "interpret.logLocationAndItemText": ((False,), "the workspace always stores locations and texts"),
    "reports.kindWeights": (({},), "all sessions have the same weight"),
    "reports.comparisonFilters": (([],), "`ci-eval compare` compares all paired sessions"),
}
"""Key that has no effect → values (besides null) that cause no warning, and the text of the warning."""

UNUSED_FILTERS = ("features", "minimumOffset", "position")


def upgrade(raw: dict[str, object]) -> tuple[dict[str, object], list[str]]:
    """Return the configuration with the keys of ci-eval, and warnings. Raises ConfigError if a value is invalid."""
    config = copy.deepcopy(raw)
    warnings: list[str] = []
    for old, new in MOVED.items():
        if (value := _take(config, old)) is not None:
            _put(config, new, value, old)
    _upgrade_tokens(config)
    path = _take(config, "projectPath")
    if not isinstance(path, str | None):
        raise ConfigError(f"`projectPath` is {show(path)}; expected the path of a folder")
    if path:
        _put(config, "project", f"path:{path}", "projectPath")
    strategy = get_value(config, "actions.strategy")
    if isinstance(strategy, dict) and "completionGolf" in strategy:
        # Later versions of the plugin have several kinds of golf, ci-eval has only one.
        golf = strategy["completionGolf"]
        strategy["completionGolf"] = True if golf in ("ALL", "TOKENS") else golf is not None and golf
    _upgrade_user(config)
    for key in NULL_MEANS_DEFAULT:
        if get_value(config, key) is None:
            _take(config, key)
    reorder = config.get("reorder")
    if isinstance(reorder, dict) and reorder.get("useReordering") in (False, None):
        del config["reorder"]
    _drop(config, "reorder", (), "`ci-eval rerank` orders stored sessions again, by a completion type", warnings)
    for key, (inactive, instead) in UNUSED.items():
        _drop(config, key, inactive, instead, warnings)
    sections = [(get_value(config, "actions.strategy.filters"), "actions.strategy.filters.")]
    parts = get_value(config, "reports.sessionsFilters")
    for index, part in enumerate(parts if isinstance(parts, list) else []):
        if isinstance(part, dict):
            sections.append((part.get("filters"), f"reports.sessionsFilters[{index}].filters."))
    for filters, path in sections:
        if isinstance(filters, dict):
            for name in UNUSED_FILTERS:
                _drop(filters, name, (), "ci-eval does not apply this filter", warnings, path)
    return config, warnings


def _upgrade_tokens(config: dict[str, object]) -> None:
    all_tokens = _take(config, "actions.strategy.completeAllTokens")
    if not isinstance(all_tokens, bool | None):
        raise ConfigError(f"`strategy.completeAllTokens` is {show(all_tokens)}; expected true or false")
    if all_tokens:
        _take(config, "actions.strategy.filters")
    statement = _take(config, "actions.strategy.statement")
    if statement is None:
        return
    if not isinstance(statement, str) or statement not in STATEMENTS:
        raise ConfigError(f"`strategy.statement` is {show(statement)}; expected one of {', '.join(STATEMENTS)}")
    _put(config, "actions.strategy.filters", copy.deepcopy(STATEMENTS[statement]), "strategy.statement")


def _upgrade_user(config: dict[str, object]) -> None:
    # The plugin uses the settings only if it emulates a user.
    emulated = _take(config, "actions.strategy.emulateUser")
    settings = _take(config, "interpret.emulationSettings")
    if emulated is not True:
        return
    # The plugin looks probabilities up by the number of typed characters, not by the number of lookups.
    user: dict[str, object] = {"profile": "jetbrains", "index": "prefix"}
    if isinstance(settings, dict):
        user |= {"firstPrefix": settings.get("firstPrefixLen"), "select": settings.get("selectElement")}
    _put(config, "interpret.userModel", user, "strategy.emulateUser")
    # The modelled user decides when completion is requested, so there is no prefix.
    _take(config, "actions.strategy.prefix")


def _drop(
    section: dict[str, object], key: str, inactive: tuple[object, ...], instead: str, warnings: list[str], at: str = ""
) -> None:
    value = _take(section, key)
    if value is not None and value not in inactive:
        warnings.append(f"`{at}{key}` is {show(value)}, which has no effect: {instead}")


# -------------------------------------------------------------------------------------------------- dotted keys


def find_parent(config: dict[str, object], key: str) -> tuple[dict[str, object], str]:
    """Return the section that contains a dotted key, or {} if the section is missing, and the last part of the key."""
    *parents, last = key.split(".")
    section = config
    for name in parents:
        below = section.get(name)
        section = below if isinstance(below, dict) else {}
    return section, last


def make_parent(config: dict[str, object], key: str) -> tuple[dict[str, object], str]:
    """Return the section that contains a dotted key, and the last part of the key. Missing sections are created. Raises
    ConfigError if a parent is not a section."""
    *parents, last = key.split(".")
    section = config
    for depth, name in enumerate(parents, start=1):
        below = section.get(name)
        if below is None:
            below = section[name] = {}
        if not isinstance(below, dict):
            raise ConfigError(f"`{'.'.join(parents[:depth])}` is {show(below)}; expected a section")
        section = below
    return section, last


def get_value(config: dict[str, object], key: str) -> object:
    section, last = find_parent(config, key)
    return section.get(last)


def _take(config: dict[str, object], key: str) -> object:
    section, last = find_parent(config, key)
    return section.pop(last, None)


def _put(config: dict[str, object], key: str, value: object, old: str) -> None:
    section, last = make_parent(config, key)
    if section.get(last) is not None and section[last] != value:
        raise ConfigError(
            f"`{old}` and `{key}` have different values; `{old}` is the older name of `{key}`: remove one of them"
        )
    section[last] = value
