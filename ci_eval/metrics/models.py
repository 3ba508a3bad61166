"""What the answers of a language model took: time to the first token, tokens, money. Of other engines there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ci_eval.contracts import Metric, Observation
from ci_eval.model import MetricInfo, SessionScore, Usage


def of_usage(
    name: str,
    summary: str,
    value: Callable[[Usage], float | None],
    unit: str = "count",
    statistic: Literal["ratio", "quantile", "count"] = "count",
    quantile: float = 1.0,
) -> Metric:
    """A figure over all lookups that a model answered, as far as its endpoint tells it."""

    def observe(session: SessionScore) -> Sequence[Observation]:
        found = [value(lookup.usage) for lookup in session.lookups if lookup.usage]
        return [(each, 1.0) for each in found if each is not None]

    return Metric(
        info=MetricInfo(name=name, summary=summary, unit=unit, better="lower"),
        observe=observe,
        order=(9,),
        statistic=statistic,
        quantile=quantile,
        of="models",
        timed=unit == "ms",
    )


def _first(usage: Usage) -> float | None:
    return usage.first_token


METRICS: tuple[Metric, ...] = (
    of_usage("FirstTokenPercentile50", "half of the answers began within this time", _first, "ms", "quantile", 0.5),
    of_usage("FirstTokenPercentile95", "95 % of the answers began within this time", _first, "ms", "quantile", 0.95),
    of_usage("PromptTokens", "tokens of all questions, as the endpoint counts them", lambda usage: usage.prompt_tokens),
    of_usage("AnswerTokens", "tokens of all answers, as the endpoint counts them", lambda usage: usage.answer_tokens),
    of_usage(
        "WindowCut",
        "share of questions of which part of the file did not fit into the window",
        lambda usage: None if usage.left_out is None else float(usage.left_out > 0),
        "share",
        "ratio",
    ),
    of_usage("Cost", "price of all answers, in the currency of engine.price", lambda usage: usage.cost),
)
