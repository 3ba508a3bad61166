"""The job that trains recommenders of method calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from ci_eval.ci import Screen
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.config import parse_yaml
from ci_eval.plugins.learning import recommenders
from ci_eval.plugins.learning.recommenders import training


def train(sources: Sequence[Path], *, kind: str, output: Path, overrides: Sequence[str], screen: Screen) -> None:
    """Write the model file, and print what was read. `overrides`: options as KEY=VALUE. Raises ConfigError,
    WorkspaceError, NothingToEvaluate."""
    # Complain now rather than after minutes of training.
    if output.is_dir():
        raise WorkspaceError(f"{output} is a folder: name the model's file with --output")
    recommender = recommenders.CATALOG.load(kind)
    options = training.parse_options(recommender, dict(map(option, overrides)))
    atomic.make_folder(output.parent)
    started = perf_counter()
    result = training.train(recommender, sources, output, options, lambda path: screen.say(f"Reading {path}"))
    rows = [
        ("usages", f"{result.usages:,}"),
        ("- without a call, which teach nothing", f"{result.without_calls:,}"),
        ("lines that are no usage", f"{result.bad:,}"),
        ("types", f"{result.count:,}"),
        ("bytes of the model", f"{output.stat().st_size:,}"),
        ("seconds", f"{perf_counter() - started:.1f}"),
    ]
    screen.table([recommender.name, ""], rows, numbers=1)
    for line in result.named:
        screen.warn(f"left out: {line}")
    if result.bad > len(result.named):
        screen.warn(f"and {result.bad - len(result.named):,} more lines that are no usage")


def option(text: str) -> tuple[str, object]:
    """Split KEY=VALUE, whose value is YAML. Raises ConfigError."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"--set {text}: expected key=value, for example mostUsages=0")
    return key.strip(), parse_yaml(value, f"--set {text}")
