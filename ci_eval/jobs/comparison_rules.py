"""The metrics and gates of a configuration, which are checked before anything is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError, GateFailed
from ci_eval.core.catalogs import metrics
from ci_eval.core.compare.gates import UNDECIDED, Gate, Policy, about, parse
from ci_eval.core.config import Config, add_filters
from ci_eval.core.contracts import Metric
from ci_eval.core.filters import EVERYTHING
from ci_eval.core.model import Evaluation, GateResult, MetricInfo
from ci_eval.core.statistics import footprint


def load_metrics(config: Config) -> tuple[Metric, ...]:
    emulated = config.user is not None and config.interpret.user_model is None
    return metrics.load(config.reports.recall_at, user=config.user is not None, emulated=emulated)


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    metrics: tuple[Metric, ...]
    declared: tuple[str, ...]
    gates: tuple[Gate, ...] = ()


def judging(config: Config, gates: Sequence[str] = (), metrics: Sequence[Metric] = ()) -> Rules:
    """Return the metrics and gates of the configuration, and the further `gates`. Raises ConfigError."""
    metrics = metrics or load_metrics(config)
    known = {metric.info.name: metric for metric in metrics if metric.compared}
    for name in config.declared:
        if name not in known or known[name].is_maximum:
            comparable = [candidate for candidate, metric in known.items() if not metric.is_maximum]
            raise ConfigError(
                f"comparison.metrics: {name!r} cannot be compared{guess(name, comparable)}; known are "
                f"{', '.join(comparable)}, and RecallAt{{k}} of each k in reports.recallAt"
            )
    return _check_filters(config, attach_gates(metrics, config.declared, (*config.comparison.gates, *gates)))


def _check_filters(config: Config, judging: Rules) -> Rules:
    filters = add_gate_filters(config, judging.gates).report_filters
    for gate in judging.gates:
        gate.filter_among([part.name for part in filters.all], filters.headline)
    return judging


def add_gate_filters(config: Config, gates: Iterable[Gate]) -> Config:
    """Add a session filter for each gate that has a filter expression. Raises ConfigError."""
    return add_filters(config, (gate.filter for gate in gates))


def attach_gates(
    metrics: Sequence[Metric],
    declared: Sequence[str],
    gates: Sequence[str],
    of_run: Mapping[str, MetricInfo] | None = None,
) -> Rules:
    """Parse the gates, and return them with the metrics. `of_run` has more figures for gates. Raises ConfigError."""
    known = {metric.info.name: metric for metric in metrics if metric.compared}
    infos = {name: metric.info for name, metric in known.items()} | dict(of_run or {})
    shares = [name for name in declared if infos[name].unit == "share"]
    policy: Policy = ""
    rules = []
    for rule in gates:
        if match := UNDECIDED.fullmatch(rule.strip()):
            if match["policy"] not in {"keep", "break"}:
                raise ConfigError(f"gate {rule!r}: undecided gates are `keep` or `break`, not {match['policy']}")
            policy = "keep" if match["policy"] == "keep" else "break"
        # `declared` stands for all declared shares: which metrics are declared depends on the modelled user.
        elif match := re.fullmatch(r"declared(?P<rest>\W.*)", rule.strip()):
            rules += [f"{name}{match['rest']}" for name in shares]
        else:
            rules.append(rule)
    parsed = tuple(replace(parse(rule, infos), undecided=policy) for rule in dict.fromkeys(rules))
    for gate in parsed:
        metric = known.get(gate.metric)
        if metric and metric.is_maximum and (gate.sign == "non-inferior" or gate.limits[0].signed):
            raise ConfigError(
                f"gate {gate.rule!r}: a single lookup decides {gate.metric}, so no difference can be shown; "
                f"use LatencyPercentile95, or a figure without a sign, such as '{gate.metric} <= 2000ms'"
            )
    return Rules(metrics=tuple(metrics), declared=tuple(declared), gates=parsed)


def absolute_gates(config: Config, rules: Sequence[str]) -> tuple[Gate, ...]:
    """Parse gates for a single run. Raises ConfigError for a wrong rule, or one about a difference."""
    own_rules = judging(config)
    gates = _check_filters(config, attach_gates(own_rules.metrics, own_rules.declared, rules, footprint.INFOS)).gates
    for gate in gates:
        if not gate.absolute:
            raise ConfigError(
                f"gate {gate.rule!r} is about a difference, but there is only one evaluation: leave out + or - "
                f"({gate.metric} {'>=' if gate.sign == 'non-inferior' else gate.sign} …), or use `ci-eval compare`"
            )
    return gates


def check_gates(evaluation: Evaluation, gates: Iterable[Gate]) -> Iterator[GateResult]:
    infos = {info.name: info for info in evaluation.metrics}
    for gate in gates:
        # Figures of the whole run are only stored for the filter ALL.
        if gate.metric in footprint.INFOS and gate.metric in infos:
            yield gate.judge_figure(evaluation.filters[EVERYTHING].metrics[gate.metric], infos[gate.metric])
        elif gate.metric in infos:
            name = gate.filter_among(evaluation.filters, evaluation.headline)
            yield about(gate.judge_figure(evaluation.filters[name].metrics[gate.metric], infos[gate.metric]), name)
        else:
            why = "this run" if gate.metric in footprint.INFOS else f"the task {evaluation.task}"
            reason = f"{why} has no {gate.metric}"
            yield GateResult(rule=gate.rule, passed=False, result="broken", reason=reason)


def make_gate_error(gates: Sequence[tuple[str, GateResult]]) -> GateFailed | None:
    broken = [f"{title}: {gate.rule}" if title else gate.rule for title, gate in gates if not gate.passed]
    return GateFailed(f"{len(broken)} of {len(gates)} gates failed: {'; '.join(broken)}") if broken else None
