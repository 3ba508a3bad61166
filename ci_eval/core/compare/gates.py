"""Gates: rules that make a CI job fail if a figure, or its difference from base, is out of bounds (docs/gates.md)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from math import ceil, hypot, inf, nan
from typing import Literal

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.compare.trend import Figures, earlier
from ci_eval.core.filters import EVERYTHING, collect_letters, label, resolve
from ci_eval.core.model import Difference, Elsewhere, Estimate, GateResult, MetricInfo, Verdict
from ci_eval.core.model.units import amount, change, interval, interval_text
from ci_eval.core.statistics.clustered import FEWEST_ALIKE, STRETCH
from ci_eval.core.statistics.paired import MARGINS, Interval, stretch_interval, verdict
from ci_eval.core.statistics.repeated import RULE_OF_THREE
from ci_eval.core.statistics.sampled import FEWEST_OBSERVED
from ci_eval.core.statistics.student import NORMAL

EXAMPLES = (
    "'RecallAt1 >= -1pp', 'MeanRank <= +5% and +0.2', 'RecallAt5 non-inferior 0.5pp', 'Recall >= 80%', "
    "'RecallAt1 >= -1pp population: code', 'RecallAt1[keywords] >= -5pp'"
)

Result = Literal["kept", "broken", "undecided"]
Policy = Literal["", "keep", "break"]
FEWEST_SESSIONS = 100
"""The smallest number of sessions that can rule out a loss in this project, unless all were asked."""
MOST_SESSIONS = 1e9
"""A larger number of needed sessions is not reported."""
UNDECIDED = re.compile(r"undecided:\s*(?P<policy>\w+)")

_LIMIT = r"[+-]?\d+(?:\.\d+)?\s*(?:pp|%|ms|MB)?"
# A bracket in quotes, as in text='[a-h]*', does not end the filter.
_FIGURE = r"(?P<metric>\w+)\s*(?:\[(?P<filter>(?:'[^']*'|\"[^\"]*\"|[^\]'\"])+)\])?"
_BOUND = re.compile(rf"{_FIGURE}\s*(?P<sign>>=|<=)\s*(?P<limits>{_LIMIT}(?:\s+and\s+{_LIMIT})*)")
_MARGIN = re.compile(rf"{_FIGURE}\s+non-inferior\s+(?P<limits>{_LIMIT})")
_POPULATION = re.compile(r"(?P<rule>.*?)\s*\bpopulation:\s*(?P<population>\S+)")
_SINCE = re.compile(r"(?P<rule>.*?)\s*\bsince:\s*(?P<since>\S+)")
_PARTS = re.compile(r"(?P<sign>[+-]?)(?P<number>[\d.]+)\s*(?P<unit>pp|%|ms|MB)?")


class Limit(msgspec.Struct, frozen=True):
    text: str
    value: float
    """The number in the limit's unit; points and percentages are divided by 100."""
    signed: bool
    unit: str

    def of(self, base: float, unit: str) -> float:
        """Return the limit in the metric's unit; a percentage is relative to `base` unless the metric is a share."""
        relative = self.unit == "%" and unit != "share"
        return self.value * abs(base) if relative else self.value


class Gate(msgspec.Struct, frozen=True):
    rule: str
    metric: str
    sign: str
    """`>=`, `<=` or `non-inferior`."""
    limits: tuple[Limit, ...]
    population: str = "project"
    """`project` for this project's sessions, or `code` for other code like this project."""
    filter: str = ""
    undecided: Policy = ""
    """Whether an undecided result passes (`keep`) or fails (`break`). If empty, only `non-inferior` rules fail."""
    since: str = ""
    """The past evaluation to compare with: a title, revision, version, date or "best". If empty, base is used."""

    def filter_among(self, names: Collection[str], headline: str) -> str:
        """Return the full name of the gate's filter. Raises ConfigError if the filter is not among `names`."""
        if not self.filter:
            return headline
        resolved = resolve(self.filter, collect_letters(names))
        if name := next((name for name in names if resolved in {name, label(name)}), None):
            return name
        known = f"{guess(self.filter, names)}; the filters are {', '.join(names)}, and expressions such as prefix=1"
        raise ConfigError(f"gate {self.rule!r}: there is no filter {self.filter!r}{known}")

    def judge(
        self, filters: Mapping[str, Mapping[str, Difference]], headline: str, infos: Mapping[str, MetricInfo]
    ) -> GateResult:
        """Check a comparison. A gate on a missing or incomparable figure is broken."""
        name = self.filter_among(filters, headline)
        # Figures of the whole run, such as memory, are stored under ALL only.
        figures = filters[name] if self.metric in filters[name] else filters[EVERYTHING]
        difference, info = figures[self.metric], infos[self.metric]
        result = self.judge_difference(difference, info)
        return result if figures is not filters[name] else about(result, name)

    def judge_difference(self, difference: Difference, info: MetricInfo) -> GateResult:
        if difference.base is None or difference.new is None or difference.difference is None:
            return self._result("broken", f"{self.metric} has no figure on both sides")
        if self.absolute:
            low, high, state = difference.new_low, difference.new_high, difference.state
            return self.judge_figure(
                Estimate(value=difference.new, low=low, high=high, n=difference.n, state=state), info
            )
        outcome = difference.elsewhere if self.population == "code" else difference
        if outcome.verdict is Verdict.NOT_COMPARABLE:
            return self._result("broken", f"{self.metric} is not comparable here: {outcome.why or 'see the warnings'}")
        limits = [limit.of(difference.base, info.unit) for limit in self.limits]
        if self.sign == "non-inferior":
            return self._judge_margin(difference.difference, abs(limits[0]), outcome, info)
        return self._judge_limits(difference.difference, limits, outcome, info)

    @property
    def absolute(self) -> bool:
        return self.sign != "non-inferior" and not self.limits[0].signed

    def judge_figure(self, new: Estimate, info: MetricInfo) -> GateResult:
        """Check a figure. A missing figure never passes. A figure without an interval, such as a time, counts as exact,
        unless it comes from one or two sampled sessions."""
        if new.value is None:
            return self._result("broken", f"{self.metric} has no figure")
        low, high = (new.value if end is None else end for end in (new.low, new.high))
        reason = f"{self.metric} is {amount(new.value, info.unit)}"
        if new.low is None and new.state in {"sampled", "weighted"} and 0 < new.n < FEWEST_OBSERVED:
            few = f"over {new.n} of the sessions, which say nothing about the others: {FEWEST_OBSERVED} are needed"
            return self._result("undecided", f"{reason}, but {few}", FEWEST_OBSERVED)
        worst, best = (low, high) if self.sign == ">=" else (high, low)
        if low < high:
            reason += f" ({interval(new, info.unit)})"
        limits = [limit.value for limit in self.limits]
        if all(self._within(worst, limit) for limit in limits):
            return self._result("kept", reason)
        if not all(self._within(best, limit) for limit in limits):
            return self._result("broken", reason)
        needed, words = what_decides(new.value, low, high, limits, new)
        return self._result("undecided", f"{reason}: it may be on either side of the limit{words}", needed)

    def _within(self, value: float, limit: float) -> bool:
        return value >= limit if self.sign == ">=" else value <= limit

    def _judge_margin(
        self, difference: float, margin: float, outcome: Difference | Elsewhere, info: MetricInfo
    ) -> GateResult:
        if outcome.low is None or outcome.high is None:
            return self._result("undecided", f"a loss of that size is not ruled out: {outcome.why}")
        # A narrower margin needs more files.
        needed = FEWEST_ALIKE * max(MARGINS.get(info.unit, 0.0) / margin if margin else inf, 1)
        if isinstance(outcome, Elsewhere) and outcome.effective < needed:
            reason = f"that margin takes {needed:.0f} effective files; there are {outcome.effective:.0f}"
            return self._result("undecided", f"a loss of that size is not ruled out: {reason}")
        low, high = stretch_interval(outcome.low, outcome.high, STRETCH if isinstance(outcome, Elsewhere) else 1.0)
        worst, best = (low, high) if info.better == "higher" else (-high, -low)
        between = f"the difference may be {change(low, info.unit)} to {change(high, info.unit)}"
        if outcome.low == outcome.high:
            between = f"the difference is {change(outcome.low, info.unit)}, over all sessions"
        if worst > -margin:
            if isinstance(outcome, Difference) and outcome.low < outcome.high and 0 < outcome.n < FEWEST_SESSIONS:
                reason = f"{between}, but over {outcome.n:,} sessions; ruling out a loss takes {FEWEST_SESSIONS:,}"
                return self._result("undecided", reason, FEWEST_SESSIONS)
            return self._result("kept", f"{between}: a loss of that size is ruled out")
        if best <= -margin:
            return self._result("broken", f"{between}: a loss of that size is shown")
        limit = -margin if info.better == "higher" else margin
        sessions, words = what_decides(difference, low, high, [limit], outcome)
        return self._result("undecided", f"{between}: a loss of that size is not ruled out{words}", sessions)

    def _judge_limits(
        self, difference: float, limits: Sequence[float], outcome: Difference | Elsewhere, info: MetricInfo
    ) -> GateResult:
        beyond = not any(self._within(difference, limit) for limit in limits)
        reason = f"the difference is {change(difference, info.unit)} ({interval_text(outcome, info.unit)})"
        # The gate breaks only if the verdict, which reports show next to the gate, is "better" or "worse".
        if beyond and outcome.verdict in {Verdict.BETTER, Verdict.WORSE}:
            return self._result("broken", reason)
        if outcome.low is None or outcome.high is None:
            return self._result("undecided", f"{reason}: {outcome.why}")
        if outcome.low == outcome.high:
            small = ", beyond the limit by too little to count" if beyond else ""
            return self._result("kept", f"{reason}{small}")
        worst = outcome.low if self.sign == ">=" else outcome.high
        if any(self._within(worst, limit) for limit in limits):
            return self._result("kept", reason)
        sessions, words = what_decides(difference, outcome.low, outcome.high, limits, outcome)
        where = "beyond the limit, but not shown" if beyond else "a loss beyond the limit is not ruled out"
        return self._result("undecided", f"{reason}: {where}: {outcome.why}{words}", sessions)

    def _result(self, result: Result, reason: str, needed: int | None = None) -> GateResult:
        keeps = self.undecided == "keep" or (not self.undecided and self.sign != "non-inferior")
        passed = result == "kept" or (result == "undecided" and keeps)
        return GateResult(rule=self.rule, passed=passed, reason=reason, result=result, needed=needed)


def what_decides(
    value: float, low: float, high: float, limits: Sequence[float], of: Estimate | Difference | Elsewhere
) -> tuple[int | None, str]:
    """Return the number of sessions that would decide a gate whose limit is inside the interval, and advice in words.
    The number is None if a second round is needed. If nothing helps, as for other code, the result is (None, "")."""
    if isinstance(of, Elsewhere):
        return None, ""
    nearest = min(limits, key=lambda limit: abs(value - limit))
    distance, reach = abs(value - nearest), value - low if nearest < value else high - value
    if of.state == "once" and distance * of.n > RULE_OF_THREE:
        # After two rounds that agree, the interval reaches only 3/n to each side (rule of three).
        return None, "; all sessions were asked once: a second round (--repeat 2) with the same answers would decide"
    if of.state in {"once", "exact"} or not distance:
        return None, ""
    # An interval narrows with the square root of the number of sessions.
    needed = ceil(of.n * (reach / distance) ** 2)
    if not of.n < needed < MOST_SESSIONS:
        return None, ""
    return needed, f"; about {needed:,} sessions would decide, if the project has as many"


def about(result: GateResult, name: str) -> GateResult:
    return replace(result, reason=f"{label(name)}: {result.reason}")


def parse(rule: str, infos: Mapping[str, MetricInfo]) -> Gate:
    """Parse a gate. Raises ConfigError if the rule cannot be parsed, or makes no sense for its metric."""
    whole = " ".join(rule.split())
    fixed = _SINCE.fullmatch(whole)
    text, since = fixed.groups() if fixed else (whole, "")
    named = _POPULATION.fullmatch(text)
    text, population = named.groups() if named else (text, "project")
    if population not in {"project", "code"}:
        raise ConfigError(
            f"gate {rule!r}: population must be `project` (the sessions of this project) or `code` (other code like it)"
        )
    match = _BOUND.fullmatch(text) or _MARGIN.fullmatch(text)
    if match is None:
        raise ConfigError(f"gate {rule!r} is not understood; examples: {EXAMPLES}")
    metric = match["metric"]
    if metric not in infos:
        known = f"{guess(metric, infos)}; known are {', '.join(infos)}"
        raise ConfigError(f"gate {rule!r}: unknown metric {metric!r}{known}; examples: {EXAMPLES}")
    bound = match.re is _BOUND
    limits = tuple(_limit(rule, part, infos[metric].unit, bound=bound) for part in match["limits"].split(" and "))
    absolute = bound and not limits[0].signed
    if absolute and infos[metric].unit != "share" and any(limit.unit == "%" for limit in limits):
        raise ConfigError(
            f"gate {rule!r}: a percentage limits a difference, which needs a sign, for example {metric} <= +5%"
        )
    if len({limit.signed for limit in limits}) > 1:
        raise ConfigError(
            f"gate {rule!r} mixes differences (with a sign) and figures (without); write for example "
            "'MeanRank <= +5% and +0.2'"
        )
    sign = match.groupdict().get("sign") or "non-inferior"
    if fault := _find_fault(sign, limits, infos[metric]):
        raise ConfigError(f"gate {rule!r} {fault}")
    if since and (absolute or population == "code" or infos[metric].unit in {"ms", "MB"}):
        raise ConfigError(
            f"gate {rule!r}: `since:` is for a difference (with a sign) of this project, and not for times or memory, "
            "which depend on the machine of each run; for example 'RecallAt1 >= -2pp since:best'"
        )
    return Gate(whole, metric, sign, limits, population, (match["filter"] or "").strip(), since=since)


def _find_fault(sign: str, limits: tuple[Limit, ...], info: MetricInfo) -> str | None:
    """Return what is wrong with the rule; None if the rule makes sense."""
    if sign == "non-inferior":
        return "needs a margin without a sign, such as 0.5pp" if limits[0].signed else None
    if limits[0].unit == "pp" and not limits[0].signed:
        return f"needs a sign: points limit a difference, as in {info.name} {sign} -1pp; a share is written as 80%"
    if info.better == "neither":
        return f"protects nothing: no value of {info.name} is better than another; examples: {EXAMPLES}"
    up = info.better == "higher"
    if sign != (">=" if up else "<="):
        return f"would be kept by any loss: {info.better} is better, write {info.name} {'>=' if up else '<='} …"
    if limits[0].signed and any(limit.value > 0 if up else limit.value < 0 for limit in limits):
        return (
            f"asks for a gain: name the largest loss that is allowed, such as {info.name} {sign} {'-' if up else '+'}1%"
        )
    highest = info.limits[1]
    if not limits[0].signed and highest is not None and any(limit.value > highest for limit in limits):
        most = f"{highest:.0%}" if info.unit == "share" else f"{highest:g}"
        return f"can never be kept: {info.name} is at most {most}; examples: {EXAMPLES}"
    return None


def _limit(rule: str, text: str, unit: str, *, bound: bool) -> Limit:
    match = _PARTS.fullmatch(text.strip())
    assert match
    own = match["unit"] or ""
    allowed = {"share": {"pp", "%"}, "ms": {"ms", "%"}, "MB": {"MB", "%"}}.get(unit, {"", "%"})
    # The limit of a share may also be written as in metrics.json, from 0 to 1.
    plain = bound and unit == "share" and not (own or match["sign"]) and float(match["number"]) <= 1
    if own not in allowed and not plain:
        example = {"share": "-1pp", "ms": "+50ms", "MB": "500MB"}.get(unit, "-0.01")
        units = " or ".join(sorted(allowed - {""})) or "none"
        raise ConfigError(f"gate {rule!r}: the unit must be {units}, for example {example}")
    value = float(match["number"]) * (-1 if match["sign"] == "-" else 1)
    # `0pp` allows no loss, so it is a difference even without a sign. A share of at least 0 % would say nothing.
    signed = bool(match["sign"]) or (bound and own == "pp" and not value)
    return Limit(text.strip(), value / 100 if own in {"pp", "%"} else value, signed, own)


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def judge_since(
    gate: Gate, past: Sequence[Figures] | None, new: Figures, infos: Mapping[str, MetricInfo]
) -> GateResult:
    """Compare `new` with the past evaluation that the gate names. Without one, the gate does not pass.
    `past`: None if no history was given. Raises ConfigError if the gate's filter is not known."""
    name, info = gate.filter_among(new.filters, new.headline), infos[gate.metric]
    nights = [(night, night.filters[name].metrics.get(gate.metric)) for night in earlier(past or (), new, name)]
    before = [(night, figure) for night, figure in nights if figure and figure.value is not None]
    now, since = new.filters[name].metrics.get(gate.metric), gate.since
    if since == "best":
        sign = -1 if info.better == "lower" else 1
        reference = max(before, key=lambda entry: sign * (entry[1].value or 0.0), default=None)
    elif _DATE.fullmatch(since):
        reference = next((entry for entry in reversed(before) if entry[0].started[:10] <= since), None)
    else:
        reference = next((entry for entry in before if since in _names(entry[0])), None)
    if now is None or now.value is None or reference is None:
        why = f"not judged: {_missing(gate, past, before)}" if now and now.value is not None else "it has no figure"
        return GateResult(rule=gate.rule, passed=False, reason=why, result="undecided")
    night, was = reference
    # The best of many nights is partly luck, so the interval is adjusted for the number of nights (Bonferroni).
    tests = len(before) if gate.since == "best" else 1
    result = about(gate.judge_difference(_difference(was, now, info, tests), info), name)
    return replace(result, reason=f"{result.reason}, since {night.started[:10]} ({night.title})")


def _names(night: Figures) -> set[str]:
    return {night.title, night.engine.version, night.revision, night.revision[:12], night.project.revision}


def _missing(gate: Gate, past: Sequence[Figures] | None, before: Sequence[tuple[Figures, Estimate]]) -> str:
    if past is None:
        return "there is no history to find the evaluation in; give --history FOLDER"
    if not before:
        return (
            f"the history has no earlier evaluation like this one with {gate.metric}; this evaluation is added, so the "
            "next one can be judged"
        )
    first, last = (f"{night.started[:10]} ({night.title})" for night, _ in (before[0], before[-1]))
    return (
        f"no evaluation in the history matches {gate.since!r}; all {len(before):,} evaluations go from {first} to "
        f"{last}: name a date not before the first, or an evaluation's title, revision or version, or 'best'"
    )


def _difference(was: Estimate, now: Estimate, info: MetricInfo, tests: int) -> Difference:
    """Return the difference. It has an interval if both figures have one (combined as in Newcombe 1998)."""
    assert was.value is not None
    assert now.value is not None
    difference = now.value - was.value
    plain = Difference(base=was.value, new=now.value, difference=difference, verdict=Verdict.NOT_SHOWN)
    if was.low is None or was.high is None or now.low is None or now.high is None:
        return replace(plain, why="one of the two figures has no interval")
    wider = NORMAL.inv_cdf(1 - 0.025 / tests) / NORMAL.inv_cdf(0.975)
    below = wider * hypot(now.value - now.low, was.high - was.value)
    above = wider * hypot(now.high - now.value, was.value - was.low)
    low, high = difference - below, difference + above
    judgement = verdict(Interval(low, high, nan, nan), difference, info.unit, info.better)
    return replace(plain, low=low, high=high, verdict=judgement, why="the figures' intervals allow either result")
