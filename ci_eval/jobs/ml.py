"""The jobs for machine learning: configurations that log, and rankers trained on logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import logs
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate, WorkspaceError
from ci_eval.core.config import Config, patch
from ci_eval.core.logs.contract import SCHEMA as LOG_SCHEMA
from ci_eval.core.logs.features import SCHEMA
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import UserModelConfig
from ci_eval.core.rendering.figures import format_count
from ci_eval.core.workspace import Workspace, find_workspaces
from ci_eval.jobs.jetbrains import event_logs
from ci_eval.jobs.models.recommenders import option
from ci_eval.plugins.learning import events, rankers, training
from ci_eval.plugins.learning.events import FeatureTable
from ci_eval.plugins.learning.rankers import RankerModel


def for_logs(config: Config, formats: Sequence[str], screen: Screen) -> Config:
    settings = config.interpret
    prefix = config.actions.strategy.prefix.name
    if settings.user_model is None and prefix not in {"NoPrefix", "EveryPrefix"}:
        screen.warn(
            f"logs are of a user, who is asked about at every prefix: actions.strategy.prefix {prefix} is not used"
        )
    logged = replace(
        config,
        interpret=replace(
            settings,
            save_logs=True,
            log_format=tuple(dict.fromkeys(formats)) or settings.log_format,
            user_model=settings.user_model or UserModelConfig(),
        ),
    )
    return patch(logged)


FEW_TO_LEARN = 1_000
"""The training lookups below which `train_ranker` warns. With fewer, a tree of 31 leaves has a few dozen for each
decision."""
FEW_TO_JUDGE = 400
"""The validation lookups below which `train_ranker` warns. With fewer, a share is uncertain by more than five
points."""


def train_ranker(
    sources: Sequence[Path],
    *,
    output: Path,
    label: training.Label,
    seed: int,
    threads: int,
    screen: Screen,
    overrides: Sequence[str] = (),
) -> RankerModel:
    """Train a ranker on logs of workspaces (or their logs/ folders), and write its model file. `overrides`: settings of
    training as KEY=VALUE. Raises ConfigError, WorkspaceError or NothingToEvaluate."""
    settings = _settings(overrides)
    # Otherwise the error would come after minutes of training.
    if output.is_dir():
        raise WorkspaceError(f"{output} is a folder: name the model's file with --output")
    atomic.make_folder(output.parent)
    learned, checked, tested = _event_sides(sources, label, seed, screen) or _table_sides(sources, label, seed, screen)
    screen.say(f"Training on {len(learned.sizes):,} queries, {len(learned.rows):,} rows")
    model = training.train(learned, checked, tested, label=label, seed=seed, threads=threads, settings=settings)
    rankers.save(model, output)
    for warning in _doubts(model):
        screen.warn(warning)
    return model


def _settings(overrides: Sequence[str]) -> training.Settings:
    try:
        return msgspec.convert(dict(map(option, overrides)), training.Settings)
    except msgspec.ValidationError as error:
        known = ", ".join(field.encode_name for field in msgspec.structs.fields(training.Settings))
        raise ConfigError(f"--set of train-ranker: {error}; known are {known}") from error


def _doubts(model: RankerModel) -> Iterator[str]:
    """Yield warnings about a model that is unreliable, or whose figures are."""
    if model.queries < FEW_TO_LEARN:
        yield (
            f"the ranker learned from {format_count(model.queries, 'lookup')} only, from {FEW_TO_LEARN:,} on it is "
            "worth judging: log more or larger projects"
            + (", or try --label expected" if model.label == "selected" else "")
        )
    if model.after.queries < FEW_TO_JUDGE:
        # The half width of a 95 % interval is largest for a share of one half.
        reach = 1.96 * (0.25 / model.after.queries) ** 0.5
        yield (
            f"its figures are of {format_count(model.after.queries, 'validation lookup')}: each share may be off by "
            f"{100 * reach:.0f} points"
        )
    if len(model.trained_on) == 1:
        yield f"it knows {model.trained_on[0]} alone: judge it on another project"


def export_ranker(path: Path, *, to: Literal["lightgbm", "onnx"], output: Path) -> None:
    if output.exists():
        raise WorkspaceError(f"{output} is there already: choose another --output")
    model = rankers.load(path)
    if model.form == "onnx":
        if to == "lightgbm":
            raise ConfigError(f"{path} was imported from ONNX, which cannot be turned into LightGBM: use --to onnx")
        data = rankers.decode_onnx(model)
    else:
        data = model.booster.encode() if to == "lightgbm" else rankers.convert_ranker(model)
    atomic.write(output, data)


def import_ranker(path: Path, *, features: Sequence[str], output: Path) -> RankerModel:
    """Write the model file of a ranker that was trained elsewhere. `features`: the names of its columns, if the file
    does not hold them. Raises ConfigError or WorkspaceError."""
    if output.exists():
        raise WorkspaceError(f"{output} is there already: choose another --output")
    model = rankers.read_foreign(path, features)
    rankers.save(model, output)
    return model


Sides = tuple[training.LookupRows, training.LookupRows, training.LookupRows | None]
"""The rows for training, for validation, and for the test, if any are kept for that."""


def _table_sides(sources: Sequence[Path], label: training.Label, seed: int, screen: Screen) -> Sides:
    folders = logs_of_all(sources)
    screen.say(f"Reading logs of {len(folders)} evaluations")
    learned, checked = (
        training.read([folder / f"{side}.parquet" for folder in folders], label, seed)
        for side in ("train", "validation")
    )
    kept = [path for folder in folders if (path := folder / "test.parquet").is_file()]
    try:
        return learned, checked, training.read(kept, label, seed) if kept else None
    except NothingToEvaluate as error:
        screen.warn(f"the ranker is not tested: {error}")
        return learned, checked, None


def _event_sides(sources: Sequence[Path], label: training.Label, seed: int, screen: Screen) -> Sides | None:
    event_sessions = event_logs.read(sources, seed, screen)
    if event_sessions is None:
        return None
    table = FeatureTable.of(event_sessions.train)
    if table.schema != SCHEMA:
        screen.warn(
            f"the logs have {len(table.names)} features of their own: the model shows what can be learned from them, "
            "and cannot order lists here"
        )
    learned, checked = (
        events.training_rows(sessions, table, label, seed, side=side, project=event_sessions.projects)
        for side, sessions in (("train", event_sessions.train), ("validation", event_sessions.validation))
    )
    return learned, checked, None


def logs_of_all(sources: Sequence[Path]) -> list[Path]:
    """Return the folders with the Parquet files of the sources. Raises WorkspaceError if one run is there twice.

    A source that is neither a workspace nor its logs/ folder stands for the workspaces directly below it. Runs are
    distinguished by the digests of their logs, since sessions of one project have the same ids with every engine and
    user.
    """
    sources = find_workspaces(sources)
    opened = [_open_logs(source) for source in sources]
    folders = [folder for folder, _ in opened]
    files: dict[str, Path] = {}
    runs: dict[tuple[object, ...], dict[str | None, Path]] = {}
    for source, (folder, manifest) in zip(sources, opened, strict=True):
        for digest in _digests(folder):
            # Logs that are given twice would weigh twice in training.
            if (twin := files.setdefault(digest, source)) is not source:
                raise WorkspaceError(f"{source} and {twin} hold the same logs: give each once")
        if manifest is None:
            continue
        for project in manifest.projects or (manifest.project,):
            sources_by_shard = runs.setdefault((project.checksum, manifest.seed, *manifest.answering().values()), {})
            # A run without shards cannot stand beside a shard of the same run.
            if sources_by_shard and (None in {manifest.shard, *sources_by_shard} or manifest.shard in sources_by_shard):
                twin = next(iter(sources_by_shard.values()))
                raise WorkspaceError(f"{source} and {twin} log the same run: give the shards or what was merged, once")
            sources_by_shard[manifest.shard] = source
    return folders


def _digests(folder: Path) -> list[str]:
    """Return the digests of the sides of the logs that have rows."""
    record = logs.read_logs_record(folder)
    # All sides without rows have the same digest, although their runs differ.
    rows = {f"{side}.parquet": counts.rows for side, counts in record.sides.items()} if record else {}
    return [file.sha256 for file in record.files if rows.get(file.path)] if record else []


def _open_logs(source: Path) -> tuple[Path, Manifest | None]:
    """Return the folder with the Parquet files of a source, and the manifest if the source is a workspace. Raises
    WorkspaceError if there are no such files, or if the files are not as they were written."""
    manifest = None
    if not source.is_dir():
        raise WorkspaceError(f"{source} is not there: give workspaces of `ci-eval generate-ml-logs`")
    if (source / "logs").is_dir():
        workspace = Workspace.open(source)
        workspace.verify()
        folder, manifest = source / "logs", workspace.manifest()
    else:
        folder = source
    record = logs.read_logs_record(folder)
    if record is None:
        raise WorkspaceError(f"{source} has no logs: `ci-eval generate-ml-logs` writes them")
    if "parquet" not in record.formats:
        written = " and ".join(record.formats)
        raise WorkspaceError(f"{source} has its logs as {written} alone: write them with --log-format parquet")
    if folder == source:
        # A workspace was verified as a whole above; a lone folder of logs was not.
        logs.verify(folder, record)
    if record.schema != LOG_SCHEMA:
        raise WorkspaceError(f"{source} has logs with other columns than this ci-eval writes: make them again")
    return folder, manifest
