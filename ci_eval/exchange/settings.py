"""Our configuration as the plugin's: the parts that its generations share."""

from __future__ import annotations

from ci_eval.config import Config
from ci_eval.model import FiltersConfig, PrefixConfig

LONGEST = 1_000
"""More characters than a name has."""


def prefix(config: PrefixConfig) -> dict[str, object]:
    """How much is typed. What is `EveryPrefix` here is emulated typing there; a `Ladder` it does not know."""
    if config.name == "EveryPrefix":
        return {"name": "SimplePrefix", "emulateTyping": True, "n": config.n or LONGEST}
    if config.name in {"SimplePrefix", "CapitalizePrefix"}:
        return {"name": config.name, "emulateTyping": config.emulate_typing} | ({"n": config.n} if config.n else {})
    return {"name": "NoPrefix", "emulateTyping": False}


def filters(config: FiltersConfig) -> dict[str, object]:
    """The filters that every generation has."""
    kinds = config.statement_types
    return {
        "statementTypes": [kind.value for kind in kinds] if kinds else None,
        "isStatic": config.is_static,
        "packageRegex": config.package_regex,
    }


def head(config: Config, project: str) -> dict[str, object]:
    """Where the project is, and where results go."""
    return {"projectPath": project, "language": language(config.language), "outputDir": config.output_dir}


def reports(config: Config) -> dict[str, object]:
    """Title and filters of reports; what is compared is no part of them."""
    parts = [{"name": each.name, "filters": filters(each.filters)} for each in config.reports.sessions_filters]
    return {"evaluationTitle": title(config), "sessionsFilters": parts}


def title(config: Config) -> str:
    """That of the evaluation; else, as there, the completion type."""
    return config.reports.evaluation_title or config.interpret.completion_type


TITLES = {"cpp": "C++", "javascript": "JavaScript", "typescript": "TypeScript", "php": "PHP", "text": "Another"}
"""Our name of a language → the plugin's, where that is not the same with a capital letter."""
NAMES = {title.lower(): name for name, title in TITLES.items()}


def language(name: str) -> str:
    """The plugin's name of one of our languages."""
    return TITLES.get(name, name.capitalize())


def language_named(title: str) -> str:
    """Our name of one of the plugin's; in lower case where we have none."""
    return NAMES.get(title.lower(), title.lower().replace(" ", "-"))
