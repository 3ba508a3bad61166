"""The part of the tables that needs the extra `ml`."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ci_eval.core.base.errors import ConfigError


def arrow() -> ModuleType:
    """Return the module that needs pyarrow. Raises ConfigError if it is not installed."""
    try:
        return import_module("ci_eval.plugins.exports.arrow")
    except ImportError as error:
        raise ConfigError(
            f"Arrow tables and Parquet need pyarrow ({error}): pip install pyarrow, or export as jsonl or csv"
        ) from error
