"""The rows that `ci-eval list` prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ci_eval.core.catalogs import engines, graders, languages, metrics, rankers, tasks
from ci_eval.core.config import keys
from ci_eval.core.config import schema as schema_of
from ci_eval.core.logs import formats
from ci_eval.core.statistics.footprint import INFOS


def rows(what: str) -> list[dict[str, str | list[str]]]:
    """Return one row per variant, for the table and for JSON."""
    return ROWS[what]()


def _languages() -> list[dict[str, str | list[str]]]:
    loaded = [languages.CATALOG.load(name) for name in languages.names()]
    return [
        {"name": language.name, "title": language.title, "suffixes": list(language.suffixes)} for language in loaded
    ]


def _engines() -> list[dict[str, str | list[str]]]:
    loaded = [engines.CATALOG.load(name) for name in engines.names()]
    return [
        {
            "name": engine.name,
            "languages": sorted(engine.languages or ["any"]),
            "version": engine.version,
            "source": engine.source,
            "licence": engine.licence,
            "needsDependencies": "yes" if engine.needs_dependencies else "no",
            "toolchains": [f"{name} {lowest}" for name, lowest in engine.toolchains.items()],
            "verified": "yes" if engine.verified else "no",
            "summary": engine.summary,
        }
        for engine in loaded
    ]


def _completion_types() -> list[dict[str, str | list[str]]]:
    loaded = [rankers.CATALOG.load(name) for name in rankers.names()]
    return [{"name": ranker.name, "summary": ranker.summary} for ranker in loaded]


def _metrics() -> list[dict[str, str | list[str]]]:
    infos = [*(metric.info for metric in metrics.load()), *INFOS.values()]
    return [{"name": info.name, "unit": info.unit, "better": info.better, "summary": info.summary} for info in infos]


def _log_formats() -> list[dict[str, str | list[str]]]:
    return [{"name": name, "summary": formats.CATALOG.load(name).summary} for name in formats.names()]


def _tasks() -> list[dict[str, str | list[str]]]:
    return [{"name": task.name, "unit": task.unit, "summary": task.summary} for task in tasks.CATALOG.all()]


def _graders() -> list[dict[str, str | list[str]]]:
    return [{"name": grader.name, "summary": grader.summary} for grader in graders.CATALOG.all()]


def _keys() -> list[dict[str, str | list[str]]]:
    return [{"name": key.name, "default": key.default, "type": key.type, "summary": key.meaning} for key in keys()]


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
    "keys": lambda: [key.name for key in keys()],
}
"""The names alone, sorted. They are faster than rows, since engines and others are not loaded."""


def schema() -> dict[str, Any]:
    """Return the JSON schema of configurations. Editors find the known names in it."""
    # An engine may also be NAME@VERSION, so its names are no complete list.
    return schema_of({key: NAMES[what]() for key, what in VALUES.items() if key != "engine"})


VALUES = {
    "task": "tasks",
    "language": "languages",
    "engine": "engines",
    "engine.name": "engines",
    "interpret.completionType": "completion-types",
}
"""The keys of a configuration whose values are names that `list` has."""


def list_values(key: str) -> list[str]:
    """Return the values that a key of a configuration may have; none if they are many, or if there is no such key."""
    if key in VALUES:
        return NAMES[VALUES[key]]()
    return next((list(known_key.choices) for known_key in keys() if known_key.name == key), [])
