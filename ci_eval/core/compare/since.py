"""Gates against a fixed evaluation of the history, so that a slow drift does not pass night by night."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import hypot, nan

from msgspec.structs import replace

from ci_eval.core.compare.gates import Gate, about
from ci_eval.core.compare.trend import Figures, earlier
from ci_eval.core.model import Difference, Estimate, GateResult, MetricInfo, Verdict
from ci_eval.core.statistics.paired import Interval, verdict
from ci_eval.core.statistics.student import NORMAL

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def judge_since(
    gate: Gate, past: Sequence[Figures] | None, new: Figures, infos: Mapping[str, MetricInfo]
) -> GateResult:
    """Check the difference of `new`'s figure from that of the evaluation that the gate names. If there is none, the
    gate is not judged, and does not pass. `past`: the history; None if none was given. Raises ConfigError if there is
    no such filter."""
    name, info = gate.filter_among(new.filters, new.headline), infos[gate.metric]
    before = [
        (night, figure)
        for night in earlier(past or (), new, name)
        if (figure := night.filters[name].metrics.get(gate.metric)) and figure.value is not None
    ]
    now, reference = new.filters[name].metrics.get(gate.metric), _find(gate.since, before, info)
    if now is None or now.value is None or reference is None:
        why = f"not judged: {_missing(gate, past, before)}" if now and now.value is not None else "it has no figure"
        return GateResult(rule=gate.rule, passed=False, reason=why, result="undecided")
    night, was = reference
    # The best of many nights is partly the luckiest: its interval is adjusted for their number (Bonferroni).
    tests = len(before) if gate.since == "best" else 1
    result = about(gate.judge_difference(_difference(was, now, info, tests), info), name)
    return replace(result, reason=f"{result.reason}, since {night.started[:10]} ({night.title})")


def _find(since: str, before: Sequence[tuple[Figures, Estimate]], info: MetricInfo) -> tuple[Figures, Estimate] | None:
    """Return the best of the evaluations, the last one up to a date, or the first one of a tag."""
    if since == "best":
        sign = -1 if info.better == "lower" else 1
        return max(before, key=lambda entry: sign * (entry[1].value or 0.0), default=None)
    if _DATE.fullmatch(since):
        return next((entry for entry in reversed(before) if entry[0].started[:10] <= since), None)
    return next((entry for entry in before if since in _tags(entry[0])), None)


def _tags(night: Figures) -> set[str]:
    return {night.title, night.engine.version, night.revision, night.revision[:12], night.project.revision}


def _missing(gate: Gate, past: Sequence[Figures] | None, before: Sequence[tuple[Figures, Estimate]]) -> str:
    if past is None:
        return "there is no history to find the evaluation in; give --history FOLDER"
    if not before:
        return (
            f"the history has no earlier evaluation like this one with {gate.metric}; this one is added to it, so the "
            "next can be judged"
        )
    first, last = before[0][0], before[-1][0]
    return (
        f"no evaluation in the history is of {gate.since!r}; the {len(before):,} there are go from "
        f"{first.started[:10]} ({first.title}) to {last.started[:10]} ({last.title}): name a date from the first on, "
        "the title, the revision or the version of one, or best"
    )


def _difference(was: Estimate, now: Estimate, info: MetricInfo, tests: int) -> Difference:
    """Return the difference of two figures with the interval that their own intervals give (Newcombe 1998); without an
    interval if one of them has none."""
    assert was.value is not None
    assert now.value is not None
    difference = now.value - was.value
    plain = Difference(base=was.value, new=now.value, difference=difference, verdict=Verdict.NOT_SHOWN)
    if was.low is None or was.high is None or now.low is None or now.high is None:
        return replace(plain, why="one of the two figures has no interval")
    wider = NORMAL.inv_cdf(1 - 0.025 / tests) / NORMAL.inv_cdf(0.975)
    below = wider * hypot(now.value - now.low, was.high - was.value)
    above = wider * hypot(now.high - now.value, was.value - was.low)
    interval = Interval(difference - below, difference + above, nan, nan)
    return replace(
        plain,
        low=interval.low,
        high=interval.high,
        verdict=verdict(interval, difference, info.unit, info.better),
        why="the intervals of the two evaluations allow both",
    )
