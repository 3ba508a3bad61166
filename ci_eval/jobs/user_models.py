"""The jobs about modelled users: fit one to logs, or compute what one would do on average."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from ci_eval.ci import Screen
from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.config import load
from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.filters import EVERYTHING, ReportFilter, ReportFilters
from ci_eval.core.logs import tables
from ci_eval.core.model import FAILED, MetricInfo, SessionScore
from ci_eval.core.model.units import amount
from ci_eval.core.rendering.figures import intervals
from ci_eval.core.report import evaluate
from ci_eval.core.scoring import evaluated
from ci_eval.core.user_model import PROFILES, UserModel, average_behaviour, build_user_model
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.jetbrains import event_logs
from ci_eval.jobs.ml import logs_of_all
from ci_eval.plugins.learning.events import make_lists
from ci_eval.plugins.learning.training import ShownList, fit_user, read_lists


def fit(sources: Sequence[Path], screen: Screen) -> Iterator[str]:
    """Yield the lines of the estimated probabilities as YAML, with the amount of data behind them. Raises
    WorkspaceError or NothingToEvaluate."""
    events = event_logs.read(sources, 0, screen)
    if events:
        lists = list(make_lists([*events.train, *events.validation]))
    else:
        module = tables()
        files = [folder / name for folder in logs_of_all(sources) for name in ("train.parquet", "validation.parquet")]
        lists = [shown_list for file in files for shown_list in read_lists(module.batches(file, ShownList.COLUMNS))]
    if not lists:
        raise NothingToEvaluate("the logs hold no lookup")
    user_fit = fit_user(lists)
    yield f"# fitted to {user_fit.queries:,} queries of {user_fit.sessions:,} sessions"
    yield "interpret:"
    yield "  userModel:"
    yield f"    firstPrefix: {_row(summing_to_one(user_fit.model.first_prefix))}"
    yield "    select:"
    for row, count in zip(user_fit.model.select, user_fit.shown, strict=True):
        yield f"      - {_row(row)}  # the expected text stood there {count:,} times"
    yield f"    cancel: {_row(user_fit.model.cancel)}"
    yield "    attend: 1.0  # who never takes anything cannot be told from who does not look"


def summing_to_one(values: Sequence[float]) -> list[float]:
    """Return the numbers rounded to four digits, so that they add up to one. The largest one absorbs the rounding."""
    written = [round(value, 4) for value in values]
    largest = max(range(len(written)), key=written.__getitem__)
    written[largest] = round(1 - sum(written[:largest]) - sum(written[largest + 1 :]), 4)
    return written


def _row(values: Sequence[float]) -> str:
    return f"[{', '.join(f'{value:.4f}' for value in values)}]"


MEANINGS = (
    ("TypingSaved", "saved", "share", "higher", "share of the text that is not typed"),
    ("Selected", "selected", "share", "higher", "probability that the expected text is taken from the list"),
    ("Cancelled", "cancelled", "share", "lower", "probability that the user gives up and types the rest"),
    ("Typed", "typed", "rank", "lower", "characters typed"),
    ("Queries", "queries", "rank", "neither", "lists looked at"),
)
"""The figures of a user: name, field in `Expected`, unit, which direction is better, meaning."""
DECLARED = ("TypingSaved", "Selected")


def load_user_model(named: str) -> UserModel:
    """Return the profile of that name, or the user in a file such as `fit-user-model` prints. Raises ConfigError."""
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
    """Return metrics of what that user would do on average, over sessions with a lookup at every prefix."""
    return tuple(
        Metric(info=MetricInfo(name=name, summary=summary, unit=unit, better=better), observe=_observer(model, figure))
        for name, figure, unit, better, summary in MEANINGS
    )


def _observer(model: UserModel, figure: str) -> Callable[[SessionScore], Sequence[Observation]]:
    def observe(session: SessionScore) -> Sequence[Observation]:
        return [(getattr(_cached_expected(_ranks(session), model), figure), 1.0)] if evaluated(session) else []

    return observe


# All metrics of a session ask for the same ranks.
_cached_expected = lru_cache(maxsize=100_000)(average_behaviour)


def _ranks(session: SessionScore) -> tuple[int | None, ...]:
    """Return the rank of the expected text at each prefix; None if the text is absent."""
    # A failure of the engine counts as a miss, as everywhere.
    if session.status in FAILED:
        return (None,) * len(session.expected_text)
    return tuple(lookup.rank for lookup in session.lookups)


def check_every_prefix(workspace: Workspace) -> None:
    """Raise ConfigError unless there was a lookup at every prefix, so that all ranks are known."""
    manifest = workspace.manifest()
    # `EveryPrefix(` has a limit, so that the ranks at later prefixes are unknown.
    if manifest.user or "EveryPrefix" not in manifest.strategy or "EveryPrefix(" in manifest.strategy:
        raise ConfigError(
            f"{workspace.folder} was not asked at every prefix: evaluate with "
            "--set 'actions.strategy.prefix={name: EveryPrefix}' and without interpret.userModel"
        )


def expect(folder: Path, user: str) -> tuple[list[tuple[str, str, str, str]], int]:
    """Return what a modelled user would do on average: rows of a table, and the number of sessions. Raises ConfigError
    or NothingToEvaluate."""
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
