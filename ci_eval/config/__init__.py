"""YAML or JSON to frozen values: what an evaluation is asked to do, and every message about a bad option."""

from ci_eval.config.loading import Loaded, dump, load, patch
from ci_eval.config.schema import (
    ActionsConfig,
    Config,
    EngineConfig,
    FiltersConfig,
    InterpretConfig,
    PrefixConfig,
    ReportsConfig,
    SessionsFilter,
    StrategyConfig,
)

__all__ = [
    "ActionsConfig",
    "Config",
    "EngineConfig",
    "FiltersConfig",
    "InterpretConfig",
    "Loaded",
    "PrefixConfig",
    "ReportsConfig",
    "SessionsFilter",
    "StrategyConfig",
    "dump",
    "load",
    "patch",
]
