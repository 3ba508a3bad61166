"""The jobs around machine learning: logs → model, and what a modelled user would do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval.config import Config, patch
from ci_eval.errors import ConfigError, WorkspaceError
from ci_eval.model import UserModelConfig
from ci_eval.support import model_file, training
from ci_eval.support.ci import Screen
from ci_eval.support.model_file import RankerModel
from ci_eval.workspace import Workspace


def with_logs(config: Config, formats: Sequence[str]) -> Config:
    """The configuration with logs on, and with a user where it names none."""
    wanted = config.interpret
    if config.actions.strategy.completion_golf:
        raise ConfigError("logs are of tokens: remove actions.strategy.completionGolf")
    logged = replace(
        config,
        interpret=replace(
            wanted,
            save_logs=True,
            log_format=tuple(dict.fromkeys(formats)) or wanted.log_format,
            user_model=wanted.user_model or UserModelConfig(),
        ),
    )
    return patch(logged)


def train_ranker(
    sources: Sequence[Path], *, output: Path, label: training.Label, seed: int, threads: int, screen: Screen
) -> RankerModel:
    """Logs of workspaces (or their logs/ folders) → a model file. Raises WorkspaceError, NothingToEvaluate."""
    folders = [logs_of(source) for source in sources]
    screen.say(f"Reading logs of {len(folders)} evaluations")
    learned = training.read([folder / "train.parquet" for folder in folders], label, seed)
    checked = training.read([folder / "validation.parquet" for folder in folders], label, seed)
    screen.say(f"Training on {len(learned.sizes):,} queries, {len(learned.rows):,} rows")
    model = training.train(learned, checked, label=label, seed=seed, threads=threads)
    model_file.save(model, output)
    return model


def logs_of(source: Path) -> Path:
    """The folder with the Parquet files of a workspace, or that folder itself. Raises WorkspaceError."""
    folder = source / "logs" if (source / "logs").is_dir() else source
    if (source / "manifest.json").is_file() and folder != source:
        Workspace.open(source).verify()
    if not (folder / "train.parquet").is_file():
        hint = "they were written in another format" if (folder / "schema.json").is_file() else "it has no logs"
        raise WorkspaceError(f"{source} has no logs/train.parquet ({hint}): `ci-eval generate-ml-logs` writes them")
    return folder
