"""The rows that `ci-eval list` prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ci_eval.core.catalogs import engines, graders, languages, metrics, rankers, tasks
from ci_eval.core.config import keys
from ci_eval.core.config import schema as schema_of
from ci_eval.core.logs import formats
from ci_eval.core.manifest import Manifest
from ci_eval.core.records import Sample
from ci_eval.core.statistics.footprint import INFOS
from ci_eval.rendering import reporters as result_files

Row = dict[str, str | list[str]]


def rows(what: str) -> list[Row]:
    match what:
        case "languages":
            loaded = languages.CATALOG.all()
            return [{"name": of.name, "title": of.title, "suffixes": list(of.suffixes)} for of in loaded]
        case "engines":
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
                for engine in engines.CATALOG.all()
            ]
        case "tasks":
            return [{"name": task.name, "unit": task.unit, "summary": task.summary} for task in tasks.CATALOG.all()]
        case "metrics":
            infos = [*(metric.info for metric in metrics.load()), *INFOS.values()]
            return [{"name": of.name, "unit": of.unit, "better": of.better, "summary": of.summary} for of in infos]
        case "log-formats":
            return [{"name": name, "summary": formats.CATALOG.load(name).summary} for name in formats.names()]
        case "keys":
            return [{"name": of.name, "default": of.default, "type": of.type, "summary": of.meaning} for of in keys()]
        case _:
            variants = graders.CATALOG.all() if what == "graders" else rankers.CATALOG.all()
            return [{"name": variant.name, "summary": variant.summary} for variant in variants]


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
"""Functions that return the sorted names. `rows` would be slower, since it loads engines and other plugins."""


SCHEMAS = ("configuration", "metrics", "comparison", "manifest", "samples")


def schema(name: str) -> dict[str, Any]:
    """Return the JSON schema of configurations, of a result file of a run or comparison, or of a line of a dataset."""
    match name:
        case "configuration":
            # `engine` may also be NAME@VERSION, so a list of names would be incomplete.
            return schema_of({key: NAMES[what]() for key, what in VALUES.items() if key != "engine"})
        case "metrics" | "comparison":
            return result_files.result_schema(name)
        case _:
            kind = Manifest if name == "manifest" else Sample
            # A setting of an engine may be any value.
            (root,), definitions = msgspec.json.schema_components(
                [kind], ref_template=result_files.WHERE, schema_hook=lambda _: {"title": "any value"}
            )
            return result_files.document(name, root, definitions)


VALUES = {
    "task": "tasks",
    "language": "languages",
    "engine": "engines",
    "engine.name": "engines",
    "interpret.completionType": "completion-types",
}


def list_values(key: str) -> list[str]:
    """Return the values that a key may have; empty if they cannot be listed, or the key is unknown."""
    if key in VALUES:
        return NAMES[VALUES[key]]()
    return next((list(known_key.choices) for known_key in keys() if known_key.name == key), [])
