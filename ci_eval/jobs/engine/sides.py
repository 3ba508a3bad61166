"""The sides of a comparison of engines: each asks an engine, in its own configuration, about the same sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import Config, override, patch, set_engine_command
from ci_eval.jobs.comparison_rules import load_metrics

FILES = (".yaml", ".yml", ".json")
"""The suffixes by which an argument is taken for a configuration file."""
TIMES = ("LatencyPercentile50", "LatencyPercentile95")
"""The metrics that are judged beside those of the configuration, if it names none that depends on times."""
OWN = (
    "engine",
    "project.dependencies",
    "interpret.completionType",
    "interpret.rankingModel",
    "interpret.autoImport",
    "interpret.timeout",
    "interpret.memoryLimit",
    "interpret.maxSuggestions",
    "interpret.confine",
    "interpret.trace",
    "interpret.allowedFailures",
    "interpret.allowedEmpty",
    "reports",
    "comparison",
    "trainingProjects",
    "outputDir",
)
"""The keys and sections in which sides may differ. All others decide what is asked, or what a figure means."""


@dataclass(frozen=True, kw_only=True)
class Side:
    name: str
    config: Config


def is_file(argument: str) -> bool:
    return argument.endswith(FILES) and " " not in argument


def split_arguments(arguments: Sequence[str], *, has_settings: bool) -> tuple[list[str], Path | None]:
    """Return the arguments that name sides, and the configuration that all sides share; None if none is named. A file
    behind engines or commands alone is shared. A single engine or none stands for both sides if these have settings of
    their own. Raises ConfigError if there is only one side."""
    *others, last = arguments or [""]
    # An engine and a file may also be the two sides.
    is_shared = is_file(last) and not any(map(is_file, others)) and (len(others) != 1 or has_settings)
    sides, shared = (others, Path(last)) if is_shared else ([*arguments], None)
    if len(sides) > 1:
        return sides, shared
    if not has_settings:
        raise ConfigError(
            "two sides are compared: give BASE and NEW (engines, commands or configuration files), or say in what the "
            "sides differ, such as --new-set completionType=FREQUENCY"
        )
    return (sides or [""]) * 2, shared


def make_side(config: Config, name: str, settings: Sequence[str], like: str | None = None) -> Side:
    """Return a side of this configuration, with the engine `name`. `name`: NAME, NAME@VERSION, or
    (if it has a blank or a slash) the command of a language server; a file or "" keeps the engine of the configuration.
    `settings`: KEY=VALUE of this side. `like`: the named engine that a command is like. Raises ConfigError."""
    swapped = config if is_file(name) else swap_engine(config, name, like)
    return Side(name=name, config=override(judge_times(swapped), settings))


def swap_engine(config: Config, engine: str, like: str | None = None) -> Config:
    """Return the configuration with another engine; "" keeps its own. See `make_side`. Raises ConfigError."""
    if not engine:
        return config
    if not (" " in engine or "/" in engine):
        return patch(config, engine=engine)
    return set_engine_command(config, engine, like)


def judge_times(config: Config) -> Config:
    """Return the configuration with times among the metrics that are judged."""
    declared = config.declared
    if any(metric.timed for metric in load_metrics(config) if metric.info.name in declared):
        return config
    return replace(config, comparison=replace(config.comparison, metrics=(*declared, *TIMES)))


def check_same_sessions(sides: Sequence[Side]) -> None:
    base = dict(_leaves("", msgspec.to_builtins(sides[0].config)))
    for side in sides[1:]:
        new = dict(_leaves("", msgspec.to_builtins(side.config)))
        for key in dict.fromkeys((*base, *new)):
            if base.get(key) != new.get(key) and not any(key == own or key.startswith(f"{own}.") for own in OWN):
                raise ConfigError(
                    f"`{key}` is {base.get(key)!r} in base and {new.get(key)!r} in new, but all sides are asked the "
                    f"same sessions: set it for all (--set {key}=…). Sides may differ in {', '.join(OWN[:6])}"
                )


def _leaves(path: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield the dotted name and the value of each key."""
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from _leaves(f"{path}.{key}".strip("."), below)
    else:
        yield path, value
