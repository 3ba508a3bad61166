"""The rows that `ci-eval list` prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ci_eval import engines, graders, languages, metrics, rankers, tasks
from ci_eval.config import keys
from ci_eval.config import schema as schema_of
from ci_eval.learning.logs import formats
from ci_eval.statistics.footprint import INFOS


def rows(what: str) -> list[dict[str, str | list[str]]]:
    """One row per variant; the same for the table and for JSON."""
    return ROWS[what]()


def _languages() -> list[dict[str, str | list[str]]]:
    loaded = [languages.CATALOG.load(name) for name in languages.names()]
    return [{"name": each.name, "title": each.title, "suffixes": list(each.suffixes)} for each in loaded]


def _engines() -> list[dict[str, str | list[str]]]:
    loaded = [engines.CATALOG.load(name) for name in engines.names()]
    return [
        {
            "name": each.name,
            "languages": sorted(each.languages or ["any"]),
            "version": each.version,
            "source": each.source,
            "licence": each.licence,
            "needsDependencies": "yes" if each.needs_dependencies else "no",
            "toolchains": [f"{name} {lowest}" for name, lowest in each.toolchains.items()],
            "verified": "yes" if each.verified else "no",
            "summary": each.summary,
        }
        for each in loaded
    ]


def _completion_types() -> list[dict[str, str | list[str]]]:
    loaded = [rankers.CATALOG.load(name) for name in rankers.names()]
    return [{"name": each.name, "summary": each.summary} for each in loaded]


def _metrics() -> list[dict[str, str | list[str]]]:
    infos = [*(metric.info for metric in metrics.load()), *INFOS.values()]
    return [{"name": each.name, "unit": each.unit, "better": each.better, "summary": each.summary} for each in infos]


def _log_formats() -> list[dict[str, str | list[str]]]:
    return [{"name": name, "summary": formats.CATALOG.load(name).summary} for name in formats.names()]


def _tasks() -> list[dict[str, str | list[str]]]:
    return [{"name": each.name, "unit": each.unit, "summary": each.summary} for each in tasks.CATALOG.all()]


def _graders() -> list[dict[str, str | list[str]]]:
    return [{"name": each.name, "summary": each.summary} for each in graders.CATALOG.all()]


def _keys() -> list[dict[str, str | list[str]]]:
    return [{"name": each.name, "default": each.default, "type": each.type, "summary": each.meaning} for each in keys()]


ROWS: dict[str, Callable[[], list[dict[str, str | list[str]]]]] = {
    "languages": _languages,
    "engines": _engines,
    "tasks": _tasks,
    "graders": _graders,
    "completion-types": _completion_types,
    "metrics": _metrics,
    "log-formats": _log_formats,
    "keys": _keys,
}


NAMES: dict[str, Callable[[], list[str]]] = {
    "languages": languages.names,
    "engines": engines.names,
    "tasks": tasks.names,
    "graders": graders.names,
    "completion-types": rankers.names,
    "metrics": lambda: [metric.info.name for metric in metrics.load()],
    "log-formats": formats.names,
    "keys": lambda: [each.name for each in keys()],
}
"""The names alone, sorted: faster, since engines and others are not loaded."""


def schema() -> dict[str, Any]:
    """The JSON schema of configurations, in which editors find the names that there are."""
    return schema_of({key: NAMES[what]() for key, what in VALUES.items() if key != "engine"})


VALUES = {
    "task": "tasks",
    "language": "languages",
    "engine": "engines",
    "engine.name": "engines",
    "interpret.completionType": "completion-types",
}
"""Keys of a configuration whose values are names that `list` has."""


def values_of(key: str) -> list[str]:
    """The values that a key of a configuration may have, where these are few; none where they are not, or where there
    is no such key."""
    if key in VALUES:
        return NAMES[VALUES[key]]()
    return next((list(each.choices) for each in keys() if each.name == key), [])
