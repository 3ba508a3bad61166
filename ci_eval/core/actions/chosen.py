"""The choice of tokens and files of a project, in one word each: runs are comparable only if these words are equal."""

from __future__ import annotations

import json

import msgspec

from ci_eval.core.model import ActionsConfig, FiltersConfig, QueriesConfig

OF_FILES = ("evaluationRoots", "ignoreFileNames", "maxFileSize")


def spelled_filters(filters: FiltersConfig) -> str:
    """Return the filter that tokens must pass, in one word; "" if there is none."""
    return _spell_changes(msgspec.to_builtins(filters), msgspec.to_builtins(FiltersConfig()))


def spelled_files(config: ActionsConfig) -> str:
    """Return the filter that files must pass, in one word; "" if there is none."""
    settings, defaults = msgspec.to_builtins(config), msgspec.to_builtins(ActionsConfig())
    return _spell_changes({key: settings[key] for key in OF_FILES}, defaults)


def spelled_queries(config: QueriesConfig) -> str:
    """Return the settings of the queries that are not the defaults, behind a slash; "" if there are none."""
    changes = _spell_changes(msgspec.to_builtins(config), msgspec.to_builtins(QueriesConfig()))
    return f"/{changes}" if changes else ""


def _spell_changes(settings: dict[str, object], defaults: dict[str, object]) -> str:
    # Another order of a list is no other filter.
    ordered, ordered_defaults = (
        {key: sorted(value) if isinstance(value, list) else value for key, value in values.items()}
        for values in (settings, defaults)
    )
    changes = {key: value for key, value in sorted(ordered.items()) if value != ordered_defaults[key]}
    return json.dumps(changes, ensure_ascii=False) if changes else ""
