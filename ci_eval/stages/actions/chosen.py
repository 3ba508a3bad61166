"""Which tokens and files of a project are evaluated, in one word each: runs are comparable only where these are
equal."""

from __future__ import annotations

import json

import msgspec

from ci_eval.model import ActionsConfig, FiltersConfig, QueriesConfig

OF_FILES = ("evaluationRoots", "ignoreFileNames", "maxFileSize")


def spelled_filters(filters: FiltersConfig) -> str:
    """The filter that tokens must pass; "" = none."""
    return _spelled(msgspec.to_builtins(filters), msgspec.to_builtins(FiltersConfig()))


def spelled_files(config: ActionsConfig) -> str:
    """The filter that files must pass; "" = none."""
    given, usual = msgspec.to_builtins(config), msgspec.to_builtins(ActionsConfig())
    return _spelled({key: given[key] for key in OF_FILES}, usual)


def spelled_queries(config: QueriesConfig) -> str:
    """What of the queries is not as usual, behind a slash; "" = nothing."""
    other = _spelled(msgspec.to_builtins(config), msgspec.to_builtins(QueriesConfig()))
    return f"/{other}" if other else ""


def _spelled(given: dict[str, object], usual: dict[str, object]) -> str:
    said, plain = ({key: _in_order(value) for key, value in each.items()} for each in (given, usual))
    other = {key: value for key, value in sorted(said.items()) if value != plain[key]}
    return json.dumps(other, ensure_ascii=False) if other else ""


def _in_order(value: object) -> object:
    return sorted(value) if isinstance(value, list) else value
