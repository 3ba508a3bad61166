"""Rules for CI: what a difference, or a figure, must keep to.

RecallAt1 >= -1pp                              a shown loss of more than one point breaks it
LatencyPercentile95 <= +20% and +50ms          more than both, and shown, breaks it
RecallAt5 non-inferior 0.5pp                   kept only if a loss of that size is ruled out
RecallAt1 >= 40%                               without a sign: the new figure itself
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ci_eval.errors import ConfigError
from ci_eval.model import Difference, GateResult, MetricInfo, Verdict
from ci_eval.support.figures import amount, change

EXAMPLES = (
    "'RecallAt1 >= -1pp', 'LatencyPercentile95 <= +20% and +50ms', 'RecallAt5 non-inferior 0.5pp', 'Recall >= 80%'"
)

_LIMIT = r"[+-]?\d+(?:\.\d+)?\s*(?:pp|%|ms)?"
_BOUND = re.compile(rf"(?P<metric>\w+)\s*(?P<sign>>=|<=)\s*(?P<limits>{_LIMIT}(?:\s+and\s+{_LIMIT})*)")
_MARGIN = re.compile(rf"(?P<metric>\w+)\s+non-inferior\s+(?P<limits>{_LIMIT})")
_PARTS = re.compile(r"(?P<sign>[+-]?)(?P<number>[\d.]+)\s*(?P<unit>pp|%|ms)?")


@dataclass(frozen=True)
class Limit:
    """A number with its unit, as it stands in the rule."""

    text: str
    value: float
    """With its sign; points and percents as shares."""
    signed: bool
    unit: str

    def of(self, base: float, unit: str) -> float:
        """What it comes to in the metric's own unit, for a difference from `base`."""
        relative = self.unit == "%" and unit != "share"
        return self.value * abs(base) if relative else self.value


@dataclass(frozen=True)
class Gate:
    """A rule that was understood."""

    rule: str
    metric: str
    sign: str
    """`>=`, `<=` or `non-inferior`."""
    limits: tuple[Limit, ...]

    def judge(self, figures: Mapping[str, Difference], infos: Mapping[str, MetricInfo]) -> GateResult:
        """Whether the comparison keeps it. A figure that is missing, or not comparable, keeps no rule."""
        found, info = figures[self.metric], infos[self.metric]
        if found.base is None or found.new is None or found.difference is None:
            return self._result(False, f"{self.metric} has no figure on both sides")
        if not self.limits[0].signed and self.sign != "non-inferior":
            return self._absolute(found.new, info)
        if found.verdict is Verdict.NOT_COMPARABLE or found.low is None or found.high is None:
            return self._result(False, f"{self.metric} is not comparable here: {found.why or 'see the warnings'}")
        if self.sign == "non-inferior":
            return self._non_inferior(found.low, found.high, found.base, info)
        return self._difference(found, info)

    def _absolute(self, new: float, info: MetricInfo) -> GateResult:
        kept = all(new >= each.value if self.sign == ">=" else new <= each.value for each in self.limits)
        return self._result(kept, f"{self.metric} is {amount(new, info.unit)}")

    def _non_inferior(self, low: float, high: float, base: float, info: MetricInfo) -> GateResult:
        margin = abs(self.limits[0].of(base, info.unit))
        worst = low if info.better == "higher" else -high
        between = f"the difference may be {change(low, info.unit)} to {change(high, info.unit)}"
        said = "a loss of that size is ruled out" if worst > -margin else "a loss of that size is not ruled out"
        return self._result(worst > -margin, f"{between}: {said}")

    def _difference(self, found: Difference, info: MetricInfo) -> GateResult:
        """Broken by what the verdict shows, never by more: a reader must not find one beside the other."""
        assert found.base is not None
        assert found.difference is not None
        limits = [each.of(found.base, info.unit) for each in self.limits]
        beyond = all(found.difference < each if self.sign == ">=" else found.difference > each for each in limits)
        between = f"{change(found.low, info.unit)} to {change(found.high, info.unit)}"
        said = f"the difference is {change(found.difference, info.unit)} ({between})"
        if beyond and found.verdict not in {Verdict.BETTER, Verdict.WORSE}:
            chance = "" if found.p is None else f", p = {found.p:.3f}"
            return self._result(True, f"{said}: beyond the limit, but it may be chance{chance}")
        return self._result(not beyond, said)

    def _result(self, passed: bool, reason: str) -> GateResult:
        return GateResult(rule=self.rule, passed=passed, reason=reason)


def parse(rule: str, infos: Mapping[str, MetricInfo]) -> Gate:
    """Raises ConfigError where the rule cannot be understood, or fits no metric."""
    text = " ".join(rule.split())
    found = _BOUND.fullmatch(text) or _MARGIN.fullmatch(text)
    if found is None:
        raise ConfigError(f"gate {rule!r} is not understood; examples: {EXAMPLES}")
    metric = found["metric"]
    if metric not in infos:
        raise ConfigError(f"gate {rule!r}: unknown metric; known are {', '.join(infos)}")
    limits = tuple(_limit(rule, part, infos[metric].unit) for part in found["limits"].split(" and "))
    absolute = found.re is _BOUND and not limits[0].signed
    if absolute and infos[metric].unit != "share" and any(each.unit == "%" for each in limits):
        raise ConfigError(f"gate {rule!r}: a share of what? Give it a sign for a difference, or a figure")
    if len({each.signed for each in limits}) > 1:
        raise ConfigError(f"gate {rule!r} mixes differences (with a sign) and figures (without)")
    sign = found.groupdict().get("sign") or "non-inferior"
    if said := _senseless(sign, limits, infos[metric]):
        raise ConfigError(f"gate {rule!r} {said}")
    return Gate(text, metric, sign, limits)


def _senseless(sign: str, limits: tuple[Limit, ...], info: MetricInfo) -> str | None:
    """Why no loss could break the rule, or why nothing could keep it."""
    if sign == "non-inferior":
        return "needs a margin without a sign, such as 0.5pp" if limits[0].signed else None
    if info.better == "neither":
        return f"can protect nothing: no value of {info.name} is better than another"
    up = info.better == "higher"
    if sign != (">=" if up else "<="):
        return f"would be kept by any loss: {info.better} is better, write {info.name} {'>=' if up else '<='} …"
    if limits[0].signed and any(each.value > 0 if up else each.value < 0 for each in limits):
        return f"asks for a gain: say which loss may be, such as {info.name} {sign} {'-' if up else '+'}1%"
    if not limits[0].signed and info.unit in {"share", "score"} and any(each.value > 1 for each in limits):
        return f"can never be kept: {info.name} is at most {'100%' if info.unit == 'share' else 1}"
    return None


def _limit(rule: str, text: str, unit: str) -> Limit:
    found = _PARTS.fullmatch(text.strip())
    assert found
    own = found["unit"] or ""
    allowed = {"share": {"pp", "%"}, "ms": {"ms", "%"}}.get(unit, {"", "%"})
    if own not in allowed:
        raise ConfigError(f"gate {rule!r}: the unit must be {' or '.join(sorted(allowed - {''})) or 'none'}")
    value = float(found["number"]) * (-1 if found["sign"] == "-" else 1)
    return Limit(text.strip(), value / 100 if own in {"pp", "%"} else value, bool(found["sign"]), own)
