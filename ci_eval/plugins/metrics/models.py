"""The metrics of language models: tokens, cost, time to the first token, and the chance that one of several answers is
right. Other engines have no values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Literal

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import SessionScore, Usage
from ci_eval.core.scoring import PassAt, grades_of, make_metric

_metric = partial(make_metric, of="models", order=(9,))


def make_usage_metric(
    name: str,
    summary: str,
    value: Callable[[Usage], float | None],
    unit: str = "count",
    statistic: str = "count",
    better: Literal["lower", "neither"] = "lower",
    **facts: Any,
) -> Metric:
    """Return a metric over all lookups for which the endpoint of a language model reported the value."""

    def observe(session: SessionScore) -> Sequence[Observation]:
        values = [value(lookup.usage) for lookup in session.lookups if lookup.usage]
        return [(number, 1.0) for number in values if number is not None]

    return _metric(name, summary, observe, unit, better=better, statistic=statistic, timed=unit == "ms", **facts)


def _confidence(session: SessionScore) -> Sequence[Observation]:
    """Return (log-probability of the suggestion, 1 if it was the expected text or else 0) for each lookup."""
    return [
        (lookup.usage.logprob, float(lookup.rank == 1))
        for lookup in session.lookups
        if lookup.usage and lookup.usage.logprob is not None
    ]


def _cost_of_session(session: SessionScore) -> Sequence[Observation]:
    costs = [lookup.usage.cost for lookup in session.lookups if lookup.usage and lookup.usage.cost is not None]
    return [(sum(costs), 1.0)] if costs else []


RIGHT = ("passes", "judge", "lineMatch")
"""The grades that decide whether an answer is right, for unit tests, review comments and inline text."""


def is_right(session: SessionScore) -> bool | None:
    """Return whether the answer is right by the first grade in `RIGHT` that the session has; None if it has none."""
    grades = grades_of(session)
    return next((grades[name] > 0 for name in RIGHT if name in grades), None)


def make_pass_metric(k: int) -> Metric:
    chance = PassAt(k, is_right)
    answers = "an answer" if k == 1 else f"one of {k} answers"
    summary = f"chance that {answers} is right, with at least {k + 1} rounds"
    return _metric(f"PassAt{k}", summary, chance.observe, by_round=chance.by_round, order=(6, 9, k))


METRICS: tuple[Metric, ...] = (
    *(
        make_usage_metric(
            f"FirstTokenPercentile{percent}",
            f"{share} of the answers began within this time",
            attrgetter("first_token"),
            "ms",
            "quantile",
            quantile=percent / 100,
        )
        for percent, share in ((50, "half"), (95, "95 %"))
    ),
    make_usage_metric(
        "MeanLogProbability",
        "the model's mean log-probability of the suggestions' tokens: how sure the model was",
        attrgetter("logprob"),
        "nats",
        "ratio",
        better="neither",
    ),
    _metric(
        "ConfidenceAUC",
        "how often a right suggestion has a higher log-probability than a wrong one; 0.5 is chance",
        _confidence,
        "score",
        statistic="auc",
    ),
    make_usage_metric(
        "PromptTokens", "tokens of all questions, as the endpoint counts them", attrgetter("prompt_tokens")
    ),
    make_usage_metric(
        "AnswerTokens", "tokens of all answers, as the endpoint counts them", attrgetter("answer_tokens")
    ),
    make_usage_metric(
        "WindowCut",
        "share of questions for which part of the file did not fit into the window",
        lambda usage: None if usage.left_out is None else float(usage.left_out > 0),
        "share",
        "ratio",
    ),
    make_usage_metric("Cost", "price of all answers, in the currency of engine.price", attrgetter("cost"), "money"),
    _metric(
        "CostPerSession",
        "mean price of the answers in a session, in the currency of engine.price",
        _cost_of_session,
        "money",
        better="lower",
    ),
    *map(make_pass_metric, (1, 5, 10)),
)
