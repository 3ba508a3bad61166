"""Modelled users: fitted to logs, and what they would do on average."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ci_eval.contracts import Metric
from ci_eval.errors import ConfigError, NothingToEvaluate
from ci_eval.jobs.ml import logs_of_all
from ci_eval.model import FAILED, MetricInfo, SessionScore
from ci_eval.support.figures import amount, interval
from ci_eval.support.fitting import Query, fitted, queries_of
from ci_eval.support.logs import tables
from ci_eval.support.stats import Observations, estimate
from ci_eval.support.usermodel import PROFILES, expected
from ci_eval.workspace import Workspace


def fit(sources: Sequence[Path]) -> Iterator[str]:
    """The tables as YAML, with what they are made of. Raises WorkspaceError, NothingToEvaluate."""
    module = tables()
    queries: list[Query] = []
    for folder in logs_of_all(sources):
        for name in ("train.parquet", "validation.parquet"):
            queries += queries_of(module.batches(folder / name, Query.COLUMNS))
    if not queries:
        raise NothingToEvaluate("the logs hold no query")
    found = fitted(queries)
    yield f"# fitted to {found.queries:,} queries of {found.sessions:,} sessions"
    yield "interpret:"
    yield "  userModel:"
    yield f"    firstPrefix: {_row(summing_to_one(found.model.first_prefix))}"
    yield "    select:"
    for row, count in zip(found.model.select, found.shown, strict=True):
        yield f"      - {_row(row)}  # the expected text stood there {count:,} times"
    yield f"    cancel: {_row(found.model.cancel)}"
    yield "    attend: 1.0  # who never takes anything cannot be told from who does not look"


def summing_to_one(values: Sequence[float]) -> list[float]:
    """As they are written, four digits each; what that takes away or adds is the largest one's."""
    written = [round(value, 4) for value in values]
    largest = max(range(len(written)), key=written.__getitem__)
    written[largest] = round(1 - sum(written[:largest]) - sum(written[largest + 1 :]), 4)
    return written


def _row(values: Sequence[float]) -> str:
    return f"[{', '.join(f'{value:.4f}' for value in values)}]"


MEANINGS = (
    ("selected", "share", "probability that the expected text is taken from the list"),
    ("cancelled", "share", "probability that the user gives up and types the rest"),
    ("saved", "share", "share of the text that is not typed (eSaved of that user)"),
    ("queries", "rank", "lists looked at"),
    ("typed", "rank", "characters typed"),
)


def expect(folder: Path, profile: str) -> tuple[list[tuple[str, str, str, str]], int]:
    """Rows of a table, and the number of sessions. Raises ConfigError, NothingToEvaluate."""
    if profile not in PROFILES:
        raise ConfigError(f"unknown user {profile!r}; known are {', '.join(PROFILES)}")
    workspace = Workspace.open(folder)
    workspace.verify()
    manifest = workspace.manifest()
    if manifest.user or "EveryPrefix" not in manifest.strategy or "EveryPrefix(" in manifest.strategy:
        raise ConfigError(
            f"{folder} was not asked at every prefix: evaluate with "
            "--set 'actions.strategy.prefix={name: EveryPrefix}' and without interpret.userModel"
        )
    model = PROFILES[profile]
    seen: dict[str, Observations] = {name: Observations() for name, *_ in MEANINGS}
    sessions = 0
    for number, (_, each) in enumerate(workspace.sessions(SessionScore)):
        for session in each:
            ranks = _ranks(session)
            if ranks is None:
                continue
            sessions += 1
            found = expected(ranks, model)
            for name in seen:
                seen[name].add(number, [(getattr(found, name), 1.0)])
    if not sessions:
        raise NothingToEvaluate(f"{folder} has no session that was asked at every prefix")
    rows = []
    for name, unit, meaning in MEANINGS:
        metric = Metric(info=MetricInfo(name=name, summary=meaning, unit=unit, better="neither"), observe=lambda _: [])
        value = estimate(metric, seen[name], manifest.seed)
        rows.append((name, amount(value.value, unit), interval(value, unit), meaning))
    return rows, sessions


def _ranks(session: SessionScore) -> list[int | None] | None:
    """At all prefixes; none where the engine failed on the way."""
    if session.status in FAILED or len(session.lookups) != len(session.expected_text):
        return None
    return [lookup.rank for lookup in session.lookups]
