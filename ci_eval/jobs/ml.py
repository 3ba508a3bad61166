"""The jobs for machine learning: configurations for logs, rankers, recommenders, and modelled users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from time import perf_counter
from typing import Literal

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import logs
from ci_eval.core.base import atomic
from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate, WorkspaceError
from ci_eval.core.config import Config, load, parse_yaml, patch
from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.filters import EVERYTHING, ReportFilter, ReportFilters
from ci_eval.core.logs.features import SCHEMA
from ci_eval.core.logs.formats import SCHEMA as LOG_SCHEMA
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import FAILED, LogsRecord, MetricInfo, SessionScore, UserModelConfig
from ci_eval.core.model.units import amount
from ci_eval.core.report import evaluate
from ci_eval.core.scoring import evaluated
from ci_eval.core.user_model import PROFILES, UserModel, average_behaviour, build_user_model
from ci_eval.core.workspace import Workspace, find_workspaces
from ci_eval.jobs.jetbrains import event_logs
from ci_eval.plugins.learning import events, rankers, recommenders, training
from ci_eval.plugins.learning.events import FeatureTable
from ci_eval.plugins.learning.rankers import RankerModel
from ci_eval.plugins.learning.recommenders import training as calls
from ci_eval.plugins.learning.training import fit_user, read_lists
from ci_eval.rendering.figures import format_count, intervals


def for_logs(config: Config, formats: Sequence[str], screen: Screen) -> Config:
    """Return the configuration with logging turned on, and with a modelled user."""
    settings = config.interpret
    prefix = config.actions.strategy.prefix.name
    if settings.user_model is None and prefix not in {"NoPrefix", "EveryPrefix"}:
        screen.warn(
            f"`actions.strategy.prefix` {prefix} has no effect: logs are of a modelled user, who sees all prefixes"
        )
    log_format, user = tuple(dict.fromkeys(formats)) or settings.log_format, settings.user_model or UserModelConfig()
    interpret = replace(settings, save_logs=True, log_format=log_format, user_model=user)
    return patch(replace(config, interpret=interpret))


FEW_TO_LEARN = 1_000
"""`train_ranker` warns about fewer lookups: a tree of 31 leaves then has only a few dozen for each decision."""
FEW_TO_JUDGE = 400
"""`train_ranker` warns about fewer validation lookups: a share is then uncertain by more than five points."""


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
    """Train a ranker on logs, and write it. Raises ConfigError, WorkspaceError or NothingToEvaluate."""
    try:
        settings = msgspec.convert(dict(map(_split_option, overrides)), training.Settings)
    except msgspec.ValidationError as error:
        known = ", ".join(field.encode_name for field in msgspec.structs.fields(training.Settings))
        raise ConfigError(f"--set of train-ranker: {error}; known are {known}") from error
    _check_model_file(output)
    learned, checked, tested = _event_sides(sources, label, seed, screen) or _table_sides(sources, label, seed, screen)
    screen.say(f"Training on {len(learned.sizes):,} queries, {len(learned.rows):,} rows")
    model = training.train(learned, checked, tested, label=label, seed=seed, threads=threads, settings=settings)
    rankers.save(model, output)
    if model.queries < FEW_TO_LEARN:
        screen.warn(
            f"the ranker learned from only {format_count(model.queries, 'lookup')}; below {FEW_TO_LEARN:,}, its "
            "figures mean little: log more or larger projects"
            + (", or try --label expected" if model.label == "selected" else "")
        )
    if model.after.queries < FEW_TO_JUDGE:
        # The half width of a 95 % interval is largest for a share of one half.
        reach = 1.96 * (0.25 / model.after.queries) ** 0.5
        screen.warn(
            f"the ranker's figures are of {format_count(model.after.queries, 'validation lookup')}: each share may be "
            f"off by {100 * reach:.0f} points"
        )
    if len(model.trained_on) == 1:
        screen.warn(f"the ranker was trained on {model.trained_on[0]} alone: evaluate it on another project")
    return model


def _check_model_file(output: Path) -> None:
    """Make the folder of a model's file. Raises WorkspaceError if `output` is a folder."""
    # Without this check, the error would come after minutes of training.
    if output.is_dir():
        raise WorkspaceError(f"{output} is a folder: name the model's file with --output")
    atomic.make_folder(output.parent)


def _split_option(text: str) -> tuple[str, object]:
    """Split KEY=VALUE, whose value is YAML. Raises ConfigError."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"--set {text}: expected key=value, for example mostUsages=0")
    return key.strip(), parse_yaml(value, f"--set {text}")


def train_recommender(
    sources: Sequence[Path], *, kind: str, output: Path, overrides: Sequence[str], screen: Screen
) -> None:
    """Train a recommender on usages, write it, and print how many usages were read. `overrides` are options as
    KEY=VALUE. Raises ConfigError, WorkspaceError, NothingToEvaluate."""
    recommender = recommenders.CATALOG.load(kind)
    options = calls.parse_options(recommender, dict(map(_split_option, overrides)))
    _check_model_file(output)
    started = perf_counter()
    result = calls.train(recommender, sources, output, options, lambda path: screen.say(f"Reading {path}"))
    rows = [
        ("usages", f"{result.usages:,}"),
        ("- without a call, which teach nothing", f"{result.without_calls:,}"),
        ("lines that are not usages", f"{result.bad:,}"),
        ("types", f"{result.count:,}"),
        ("bytes of the model", f"{output.stat().st_size:,}"),
        ("seconds", f"{perf_counter() - started:.1f}"),
    ]
    screen.table([recommender.name, ""], rows, numbers=1)
    for line in result.named:
        screen.warn(f"left out: {line}")
    if result.bad > len(result.named):
        screen.warn(f"and {result.bad - len(result.named):,} more lines that are not usages")


def export_ranker(path: Path, *, to: Literal["lightgbm", "onnx"], output: Path) -> None:
    if output.exists():
        raise WorkspaceError(f"{output} exists already: choose another --output")
    model = rankers.load(path)
    if model.form == "onnx":
        if to == "lightgbm":
            raise ConfigError(f"{path} was imported from ONNX, which cannot be turned into LightGBM: use --to onnx")
        data = rankers.decode_onnx(model)
    else:
        data = model.booster.encode() if to == "lightgbm" else rankers.convert_ranker(model)
    atomic.write(output, data)


def import_ranker(path: Path, *, features: Sequence[str], output: Path) -> RankerModel:
    """Write the model file of a ranker that another program trained. Raises ConfigError or WorkspaceError."""
    if output.exists():
        raise WorkspaceError(f"{output} exists already: choose another --output")
    model = rankers.read_foreign(path, features)
    rankers.save(model, output)
    return model


Sides = tuple[training.LookupRows, training.LookupRows, training.LookupRows | None]


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
    recorded = event_logs.read(sources, seed, screen)
    if recorded is None:
        return None
    projects, *sides = recorded
    table = FeatureTable.of(sides[0])
    if table.schema != SCHEMA:
        screen.warn(
            f"the logs have {len(table.names)} features that ci-eval does not compute: the model shows what can be "
            "learned, but cannot order lists"
        )
    learned, checked = (
        events.training_rows(sessions, table, label, seed, side=side, project=projects)
        for side, sessions in zip(("train", "validation"), sides, strict=True)
    )
    return learned, checked, None


def logs_of_all(sources: Sequence[Path]) -> list[Path]:
    """Return the folders with the Parquet files. Raises WorkspaceError if the sources hold a run twice.

    A source that is neither a workspace nor its logs/ folder stands for the workspaces directly below it. Runs are
    distinguished by digests and manifests, since session ids are the same with every engine and user.
    """
    sources = find_workspaces(sources)
    opened = [_open_logs(source) for source in sources]
    files: dict[str, Path] = {}
    runs: dict[tuple[object, ...], dict[str | None, Path]] = {}
    for source, (_, record, manifest) in zip(sources, opened, strict=True):
        # Files without rows have the same digest in all runs, so they cannot distinguish runs.
        rows = {f"{side}.parquet": counts.rows for side, counts in record.sides.items()}
        for digest in [file.sha256 for file in record.files if rows.get(file.path)]:
            # Logs that are named twice would have twice the weight in training.
            if (twin := files.setdefault(digest, source)) is not source:
                raise WorkspaceError(f"{source} and {twin} hold the same logs: give each once")
        if manifest is None:
            continue
        for project in manifest.projects or (manifest.project,):
            sources_by_shard = runs.setdefault((project.checksum, manifest.seed, *manifest.answering().values()), {})
            # A run without shards contains what each shard of the same run has.
            if sources_by_shard and (None in {manifest.shard, *sources_by_shard} or manifest.shard in sources_by_shard):
                twin = next(iter(sources_by_shard.values()))
                raise WorkspaceError(f"{source} and {twin} log the same run: give either the shards or the merged run")
            sources_by_shard[manifest.shard] = source
    return [folder for folder, _, _ in opened]


def _open_logs(source: Path) -> tuple[Path, LogsRecord, Manifest | None]:
    """Return the logs' folder and record, and the manifest if `source` is a workspace. Raises WorkspaceError."""
    manifest = None
    if not source.is_dir():
        raise WorkspaceError(f"{source} does not exist: give workspaces of `ci-eval generate-ml-logs`")
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
        raise WorkspaceError(f"{source} has logs with other columns than this ci-eval writes: write the logs again")
    return folder, record, manifest


def fit(sources: Sequence[Path], screen: Screen) -> Iterator[str]:
    """Fit a user model to the logs, and yield it as lines of YAML. Raises WorkspaceError or NothingToEvaluate."""
    recorded = event_logs.read(sources, 0, screen)
    if recorded:
        _, train, validation = recorded
        lists = list(events.make_lists([*train, *validation]))
    else:
        files = [folder / name for folder in logs_of_all(sources) for name in ("train.parquet", "validation.parquet")]
        lists = [shown_list for file in files for shown_list in read_lists(file)]
    if not lists:
        raise NothingToEvaluate("the logs hold no lookup")
    user_fit = fit_user(lists)
    yield f"# fitted to {user_fit.queries:,} queries of {user_fit.sessions:,} sessions"
    yield "interpret:"
    yield "  userModel:"
    yield f"    firstPrefix: {_format_row(summing_to_one(user_fit.model.first_prefix))}"
    yield "    select:"
    for row, count in zip(user_fit.model.select, user_fit.shown, strict=True):
        yield f"      - {_format_row(row)}  # the expected text was there {count:,} times"
    yield f"    cancel: {_format_row(user_fit.model.cancel)}"
    yield "    attend: 1.0  # the logs cannot distinguish users who do not look at the list"


def summing_to_one(values: Sequence[float]) -> list[float]:
    """Round numbers to four digits so that their sum is 1; the largest number takes the rounding error."""
    written = [round(value, 4) for value in values]
    largest = max(range(len(written)), key=written.__getitem__)
    written[largest] = round(1 - sum(written[:largest]) - sum(written[largest + 1 :]), 4)
    return written


def _format_row(values: Sequence[float]) -> str:
    return f"[{', '.join(f'{value:.4f}' for value in values)}]"


MEANINGS = (
    ("TypingSaved", "saved", "share", "higher", "share of the text that is not typed"),
    ("Selected", "selected", "share", "higher", "probability that the expected text is taken from the list"),
    ("Cancelled", "cancelled", "share", "lower", "probability that the user gives up and types the rest"),
    ("Typed", "typed", "rank", "lower", "characters typed"),
    ("Queries", "queries", "rank", "neither", "lists looked at"),
)
"""The figures of a modelled user: name, attribute of the average behaviour, unit, better direction, meaning."""
DECLARED = ("TypingSaved", "Selected")


def load_user_model(named: str) -> UserModel:
    """Return the user model of a profile, or of a file that `fit-user-model` printed. Raises ConfigError."""
    if named in PROFILES:
        return PROFILES[named]
    path = Path(named)
    if not path.is_file():
        raise ConfigError(
            f"unknown user {named!r}{guess(named, PROFILES)}; known are "
            f"{', '.join(PROFILES)}, and files that `ci-eval fit-user-model` prints"
        )
    user = load(path, environment={}).config.interpret.user_model
    if user is None:
        raise ConfigError(f"{path} has no interpret.userModel, which `ci-eval fit-user-model LOGS` prints")
    return build_user_model(user)


def metrics_of_user(model: UserModel) -> tuple[Metric, ...]:
    """Return metrics of the user's average behaviour, for sessions with a lookup at every prefix."""
    return tuple(
        Metric(
            info=MetricInfo(name=name, summary=summary, unit=unit, better=better),
            observe=partial(_observe, model, figure),
        )
        for name, figure, unit, better, summary in MEANINGS
    )


# The result is cached, since each metric needs the average behaviour for the same ranks.
_cached_expected = lru_cache(maxsize=100_000)(average_behaviour)


def _observe(model: UserModel, figure: str, session: SessionScore) -> Sequence[Observation]:
    if not evaluated(session):
        return []
    # A failure of the engine counts as a miss, as in all metrics.
    failed = (None,) * len(session.expected_text)
    ranks = failed if session.status in FAILED else tuple(lookup.rank for lookup in session.lookups)
    return [(getattr(_cached_expected(ranks, model), figure), 1.0)]


def check_every_prefix(workspace: Workspace) -> None:
    """Raise ConfigError unless the sessions have a lookup at every prefix, so that all ranks are known."""
    manifest = workspace.manifest()
    # `EveryPrefix(` means a limit: the ranks at longer prefixes are unknown.
    if manifest.user or "EveryPrefix" not in manifest.strategy or "EveryPrefix(" in manifest.strategy:
        raise ConfigError(
            f"{workspace.folder} was not asked at every prefix: evaluate with "
            "--set 'actions.strategy.prefix={name: EveryPrefix}' and without interpret.userModel"
        )


def expect(folder: Path, user: str) -> tuple[list[tuple[str, str, str, str]], int]:
    """Return a row for each figure of the user, and the number of sessions. Raises ConfigError or NothingToEvaluate."""
    metrics = metrics_of_user(load_user_model(user))
    workspace = Workspace.open(folder)
    workspace.verify()
    check_every_prefix(workspace)
    evaluation = evaluate(workspace, metrics, ReportFilters(all=(ReportFilter(name=EVERYTHING),), headline=EVERYTHING))
    figures = evaluation.filters[EVERYTHING]
    if not figures.sessions:
        raise NothingToEvaluate(f"{folder} has no session that was asked at every prefix")
    rows = []
    for info in (metric.info for metric in metrics):
        value = figures.metrics[info.name]
        rows.append((info.name, amount(value.value, info.unit), intervals(value, info.unit), info.summary))
    return rows, figures.sessions
