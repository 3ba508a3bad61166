"""The part of the logs that needs the extra `ml`."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ci_eval.core.base.errors import ConfigError


def tables() -> ModuleType:
    """Return the module that needs pyarrow. Raises ConfigError if it is not installed."""
    try:
        return import_module("ci_eval.core.logs.arrow")
    except ImportError as error:
        raise ConfigError(
            f"logs as Parquet need the extra `ml` ({error}): "
            "pip install '.[ml]' in a checkout, or use --log-format jsonl"
        ) from error
