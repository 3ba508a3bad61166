"""The conversion of our configuration into the plugin's: the parts that its generations share."""

from __future__ import annotations

from ci_eval.core.config import Config
from ci_eval.core.model import FiltersConfig, PrefixConfig

LONGEST = 1_000
"""A number of characters that no name reaches."""


def prefix(config: PrefixConfig) -> dict[str, object]:
    """Return how much is typed. `EveryPrefix` becomes emulated typing, and a `Ladder` becomes no prefix."""
    if config.name == "EveryPrefix":
        return {"name": "SimplePrefix", "emulateTyping": True, "n": config.n or LONGEST}
    if config.name in {"SimplePrefix", "CapitalizePrefix"}:
        return {"name": config.name, "emulateTyping": config.emulate_typing} | ({"n": config.n} if config.n else {})
    return {"name": "NoPrefix", "emulateTyping": False}


def filters(config: FiltersConfig) -> dict[str, object]:
    """Return the filters that every generation has."""
    kinds = config.statement_types
    return {
        "statementTypes": [kind.value for kind in kinds] if kinds else None,
        "isStatic": config.is_static,
        "packageRegex": config.package_regex,
    }


def head(config: Config, project: str) -> dict[str, object]:
    """Return the location of the project, its language, and the folder for results."""
    return {"projectPath": project, "language": language(config.language), "outputDir": config.output_dir}


def reports(config: Config) -> dict[str, object]:
    """Return title and filters of reports. What is compared is no part of them."""
    parts = [
        {"name": part.name, "filters": filters(part.filters)}
        for part in config.reports.sessions_filters
        # The plugin has no such conditions, and a filter without them would let other sessions through.
        if (part.typed, part.file, part.text) == (None, None, None)
    ]
    return {"evaluationTitle": title(config), "sessionsFilters": parts}


def title(config: Config) -> str:
    """Return the title of the evaluation, or the completion type, as the plugin does."""
    return config.reports.evaluation_title or config.interpret.completion_type


TITLES = {"cpp": "C++", "javascript": "JavaScript", "typescript": "TypeScript", "php": "PHP", "text": "Another"}
"""Our name of a language → the plugin's, if that is not the same with a capital letter."""
NAMES = {title.lower(): name for name, title in TITLES.items()}


def language(name: str) -> str:
    """Return the plugin's name for one of our languages."""
    return TITLES.get(name, name.capitalize())


def normalise_language(title: str) -> str:
    """Return our name of one of the plugin's languages, or the name in lower case if we have none."""
    return NAMES.get(title.lower(), title.lower().replace(" ", "-"))
