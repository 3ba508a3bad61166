"""Configurations, which are read from YAML or JSON into frozen values. An error lists every wrong option."""

from ci_eval.core.config.keys import keys, schema
from ci_eval.core.config.loading import (
    USUAL_SESSIONS,
    add_filters,
    add_ladder,
    dump,
    limit_sessions,
    load,
    override,
    patch,
    set_engine_command,
)
from ci_eval.core.config.schema import BY_MODEL, Config, EngineConfig, InterpretConfig, ProjectConfig
from ci_eval.core.config.text import parse_yaml
