"""What a configuration wants compared: its metrics and gates, checked before anything runs."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval import metrics
from ci_eval.config import Config
from ci_eval.errors import ConfigError
from ci_eval.support.gates import Gate, parse


def gates_of(config: Config, gates: Sequence[str] = ()) -> list[Gate]:
    """The configuration's gates and those of the command line, each once. Raises ConfigError."""
    infos = {metric.info.name: metric.info for metric in metrics.load() if metric.statistic != "count"}
    for name in config.comparison.metrics:
        if name not in infos:
            raise ConfigError(f"comparison.metrics: {name!r} cannot be compared; known are {', '.join(infos)}")
    return [parse(rule, infos) for rule in dict.fromkeys((*config.comparison.gates, *gates))]
