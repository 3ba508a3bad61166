"""Gates: what is understood, what breaks them, and what is said."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

import ci_eval
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.catalogs import metrics
from ci_eval.core.compare import judge_since, read
from ci_eval.core.compare.gates import Policy, parse
from ci_eval.core.compare.judging import Judge
from ci_eval.core.compare.sums import FilterSums
from ci_eval.core.model import Difference, Elsewhere, Estimate, GateResult, MetricInfo, Verdict
from ci_eval.core.statistics.repeated import Repeats
from tests.compare import plain_gates
from tests.comparing import aged, compare
from tests.histories import night

INFOS = {
    "RecallAt1": MetricInfo(name="RecallAt1", summary="", unit="share", better="higher"),
    "Latency": MetricInfo(name="Latency", summary="", unit="ms", better="lower"),
    "Count": MetricInfo(name="Count", summary="", unit="count", better="neither"),
    "Rank": MetricInfo(name="Rank", summary="", unit="rank", better="lower"),
}


def figures(base: float, new: float, low: float, high: float) -> dict[str, Difference]:
    verdict = Verdict.NOT_SHOWN if low <= 0 <= high else Verdict.WORSE
    return dict.fromkeys(
        INFOS, Difference(base=base, new=new, difference=new - base, low=low, high=high, verdict=verdict)
    )


def test_no_rule_is_broken_by_what_the_verdict_does_not_show() -> None:
    found = Difference(
        base=0.5, new=0.4, difference=-0.1, low=-0.25, high=0.05, verdict=Verdict.NOT_SHOWN, why="the interval holds 0"
    )
    result = parse("RecallAt1 >= -1pp", INFOS).judge({"ALL": dict.fromkeys(INFOS, found)}, "ALL", INFOS)
    assert result.passed
    assert "not shown: the interval holds 0" in result.reason


def of_both(here: float, elsewhere: float, *, effective: float = 400) -> dict[str, Difference]:
    """Losses, shown here and elsewhere, with an interval of one point around each."""
    sides = [
        {"low": each - 0.005, "high": each + 0.005, "verdict": Verdict.WORSE if each < -0.005 else Verdict.EQUIVALENT}
        for each in (here, elsewhere)
    ]
    there = Elsewhere(effective=effective, **sides[1])  # type: ignore[arg-type]
    return dict.fromkeys(INFOS, Difference(base=0.5, new=0.5 + here, difference=here, elsewhere=there, **sides[0]))  # type: ignore[arg-type]


def test_a_rule_is_about_this_project_unless_it_says_code() -> None:
    found = of_both(-0.04, 0.0)
    assert not parse("RecallAt1 >= -1pp", INFOS).judge({"ALL": found}, "ALL", INFOS).passed
    assert not parse("RecallAt1 >= -1pp population: project", INFOS).judge({"ALL": found}, "ALL", INFOS).passed
    assert parse("RecallAt1 >= -1pp population: code", INFOS).judge({"ALL": found}, "ALL", INFOS).passed


@pytest.mark.parametrize(
    ("rule", "effective", "kept"),
    [
        ("RecallAt1 non-inferior 1pp population: code", 300, True),
        ("RecallAt1 non-inferior 1pp population: code", 299, False),
        ("RecallAt1 non-inferior 0.7pp population: code", 300, False),
        ("Rank non-inferior 0.05 population: code", 599, False),
        ("Rank non-inferior 0.05 population: code", 600, True),
    ],
)
def test_elsewhere_the_smaller_the_margin_the_more_files_it_takes(rule: str, effective: float, kept: bool) -> None:
    result = parse(rule, INFOS).judge({"ALL": of_both(0.0, 0.0, effective=effective)}, "ALL", INFOS)
    assert result.passed is kept, result.reason


def test_without_an_interval_no_loss_is_ruled_out() -> None:
    found = dict.fromkeys(
        INFOS,
        Difference(
            base=0.5, new=0.5, difference=0, elsewhere=Elsewhere(verdict=Verdict.NOT_SHOWN, why="too few files")
        ),
    )
    result = parse("RecallAt1 non-inferior 1pp population: code", INFOS).judge({"ALL": found}, "ALL", INFOS)
    assert (result.passed, "too few files" in result.reason) == (False, True)


@pytest.mark.parametrize(
    ("rule", "base", "new", "low", "high", "kept"),
    [
        ("RecallAt1 >= -1pp", 0.5, 0.495, -0.008, -0.002, True),
        ("RecallAt1 >= -1pp", 0.5, 0.48, -0.03, -0.01, False),
        ("RecallAt1 >= -1pp", 0.5, 0.48, -0.05, 0.01, True),
        ("RecallAt1>=-1 pp", 0.5, 0.48, -0.03, -0.01, False),
        ("Latency <= +20% and +50ms", 100, 140, 30, 50, True),
        ("Latency <= +20% and +50ms", 100, 180, 60, 90, False),
        ("Latency <= +20% and +50ms", 1000, 1100, 60, 140, True),
        ("RecallAt1 non-inferior 0.5pp", 0.5, 0.5, -0.004, 0.004, True),
        ("RecallAt1 non-inferior 0.5pp", 0.5, 0.51, -0.006, 0.03, False),
        ("Latency non-inferior 10%", 100, 101, -5, 9, True),
        ("Latency non-inferior 10ms", 100, 101, -5, 12, False),
        ("RecallAt1 >= 40%", 0.5, 0.41, -0.2, -0.01, True),
        ("RecallAt1 >= 40%", 0.5, 0.39, -0.2, 0.1, False),
        ("Latency <= 200ms", 500, 199, -400, -200, True),
        ("Rank <= +0.5", 3, 4, 0.6, 1.4, False),
    ],
)
def test_a_rule_is_kept_or_broken(rule: str, base: float, new: float, low: float, high: float, kept: bool) -> None:
    result = parse(rule, INFOS).judge({"ALL": figures(base, new, low, high)}, "ALL", INFOS)
    assert result.passed is kept, result.reason
    assert any(digit in result.reason for digit in "0123456789")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("RecallAt1 better", "not understood; examples"),
        ("RecallAt1 > -1pp", "not understood"),
        (
            "Recall >= -1pp",
            "unknown metric 'Recall'; did you mean RecallAt1",
        ),
        ("RecallAt1 >= -1ms", "unit must be % or pp"),
        ("Latency <= +5pp", "unit must be % or ms"),
        ("Latency <= +20% and 50ms", "mixes differences"),
        ("Latency <= 20%", "a percentage limits a difference"),
        ("", "not understood"),
        ("RecallAt1 <= +1pp", "kept by any loss: higher is better, write RecallAt1 >="),
        ("Rank >= -1", "kept by any loss: lower is better, write Rank <="),
        ("RecallAt1 >= +1pp", "asks for a gain"),
        ("RecallAt1 >= -1pp and +5%", "asks for a gain"),
        ("Latency <= -5ms", "asks for a gain"),
        ("RecallAt1 >= 900%", "can never be kept: RecallAt1 is at most 100%"),
        ("RecallAt1 non-inferior -1pp", "a margin without a sign"),
        ("RecallAt1 >= 5pp", "needs a sign: points limit a difference"),
        ("Count <= +1", "protects nothing"),
        ("RecallAt1 >= -1pp population: files", "population must be `project`"),
        ("Recall >= -1pp", "examples: 'RecallAt1 >= -1pp'"),
    ],
)
def test_a_rule_that_means_nothing_is_refused(rule: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse(rule, INFOS)


def test_no_points_are_a_difference() -> None:
    gate = parse("RecallAt1 >= 0pp", INFOS)
    assert not gate.absolute
    assert not gate.judge({"ALL": figures(0.5, 0.4, -0.12, -0.08)}, "ALL", INFOS).passed


def test_what_is_not_comparable_or_missing_keeps_no_rule() -> None:
    missing = dict.fromkeys(INFOS, Difference(base=None, new=None, difference=None))
    assert not parse("RecallAt1 >= -1pp", INFOS).judge({"ALL": missing}, "ALL", INFOS).passed
    incomparable = dict.fromkeys(INFOS, Difference(base=1, new=1, difference=0, low=0, high=0))
    assert "not comparable" in parse("Latency <= +5%", INFOS).judge({"ALL": incomparable}, "ALL", INFOS).reason


@pytest.mark.parametrize(
    ("rule", "kept"), [("RecallAt1 >= 0.4", True), ("RecallAt1 >= 0.41", False), ("RecallAt1 >= 40%", True)]
)
def test_a_share_may_be_written_as_a_number_from_0_to_1(rule: str, kept: bool) -> None:
    gate = parse(rule, INFOS)
    assert gate.absolute
    assert gate.judge_figure(Estimate(value=0.4), INFOS["RecallAt1"]).passed == kept


@pytest.mark.parametrize("rule", ["RecallAt1 >= 90", "RecallAt1 >= -0.1", "RecallAt1 non-inferior 0.5"])
def test_a_number_that_may_mean_points_needs_its_unit(rule: str) -> None:
    with pytest.raises(ConfigError, match="unit must be % or pp"):
        parse(rule, INFOS)


def test_a_figure_that_is_missing_keeps_no_gate() -> None:
    result = parse("Latency <= 200ms", INFOS).judge_figure(Estimate(value=None), INFOS["Latency"])
    assert (result.passed, result.reason) == (False, "Latency has no figure")


PAGE = Path(ci_eval.__file__).parents[1] / "docs" / "gates.md"
RULES = re.findall(r"`((?:\w+ (?:>=|<=)|\w+ non-inferior) [^`…]+)`", PAGE.read_text())


@pytest.mark.parametrize("rule", sorted({rule for rule in RULES if not rule.startswith(("declared", "METRIC"))}))
def test_every_rule_in_the_page_is_understood(rule: str) -> None:
    assert parse(rule, {metric.info.name: metric.info for metric in metrics.load()}).rule == rule


def test_the_page_has_rules() -> None:
    assert {"RecallAt1 >= -1pp", "Recall >= 0.9", "RecallAt5 non-inferior 0.5pp"} <= set(RULES)


def test_a_rule_is_about_the_headline_unless_it_names_a_filter() -> None:
    filters = {"ALL": figures(0.5, 0.5, 0, 0), "keywords, Prefix 1": figures(0.5, 0.1, -0.5, -0.3)}
    filters["names, Prefix 1"] = figures(0.5, 0.2, -0.4, -0.2)
    for written, kept, about in (
        ("RecallAt1", False, "names, one letter typed"),
        ("RecallAt1[all]", True, "all sessions"),
        ("RecallAt1[names, one letter typed]", False, "names, one letter typed"),
        ("RecallAt1 [keywords]", False, "keywords, one letter typed"),
    ):
        result = parse(f"{written} >= -1pp", INFOS).judge(filters, "names, Prefix 1", INFOS)
        assert (result.passed, result.reason.partition(":")[0]) == (kept, about), written
    assert (
        parse("RecallAt1 >= -1pp", INFOS)
        .judge(filters, "names, Prefix 1", INFOS)
        .reason.startswith("names, one letter typed: the difference is -30.00 pp")
    )
    with pytest.raises(ConfigError, match=r"there is no filter 'nmes'; the filters are ALL, keywords"):
        parse("RecallAt1[nmes] >= -1pp", INFOS).judge(filters, "names, Prefix 1", INFOS)


@pytest.mark.parametrize(
    ("low", "value", "high", "result"),
    [(0.444, 0.51, 0.576, "undecided"), (0.485, 0.51, 0.54, "kept"), (0.40, 0.44, 0.47, "broken")],
)
def test_a_figure_is_judged_by_its_interval(low: float, value: float, high: float, result: str) -> None:
    found = Estimate(value=value, low=low, high=high, n=200)
    judged = parse("RecallAt1 >= 48%", INFOS).judge_figure(found, INFOS["RecallAt1"])
    assert (judged.result, judged.passed) == (result, result != "broken")
    assert (judged.needed is not None) == (result == "undecided")


def test_an_undecided_gate_says_how_many_sessions_would_decide() -> None:
    found = Estimate(value=0.51, low=0.444, high=0.576, n=200)
    judged = parse("RecallAt1 >= 48%", INFOS).judge_figure(found, INFOS["RecallAt1"])
    # The interval reaches 6.6 points to each side and must reach 3: (6.6 / 3)² times as many.
    assert judged.needed == 968
    assert "about 968 sessions would decide" in judged.reason


def test_sessions_that_were_all_asked_are_not_asked_for_but_a_second_round() -> None:
    found = Estimate(value=0.965, low=0.79, high=1.0, n=142, state="once")
    judged = parse("RecallAt1 >= 80%", INFOS).judge_figure(found, INFOS["RecallAt1"])
    assert (judged.result, judged.needed) == ("undecided", None)
    assert judged.reason.endswith("a second round (--repeat 2) with the same answers would decide")
    # Two rounds of 142 sessions reach 3/142 to each side: 2.1 points.
    close = parse("RecallAt1 >= 95%", INFOS).judge_figure(found, INFOS["RecallAt1"])
    assert (close.result, close.reason.endswith("either side of the limit")) == ("undecided", True)


def test_more_sessions_are_needed_than_were_asked() -> None:
    """An interval that ends at 100 % is longer to one side: half of its length would be too short a reach."""
    found = Estimate(value=0.965, low=0.79, high=1.0, n=142, state="sampled")
    assert parse("RecallAt1 >= 80%", INFOS).judge_figure(found, INFOS["RecallAt1"]).needed == 160


@pytest.mark.parametrize(("value", "sessions"), [(0.0, 1), (1.0, 2)])
def test_one_or_two_sessions_of_a_sample_decide_nothing(value: float, sessions: int) -> None:
    gate = parse("RecallAt1 >= 90%", INFOS)
    sampled = gate.judge_figure(Estimate(value=value, n=sessions, state="sampled"), INFOS["RecallAt1"])
    assert (sampled.result, sampled.needed) == ("undecided", 3)
    assert gate.judge_figure(Estimate(value=value, n=sessions, state="exact"), INFOS["RecallAt1"]).result == (
        "kept" if value else "broken"
    )


@pytest.mark.parametrize(
    ("policy", "rule", "passed"),
    [
        ("", "RecallAt1 >= -1pp", True),
        ("keep", "RecallAt1 >= -1pp", True),
        ("break", "RecallAt1 >= -1pp", False),
        ("", "RecallAt1 non-inferior 1pp", False),
        ("keep", "RecallAt1 non-inferior 1pp", True),
    ],
)
def test_what_is_undecided_passes_or_not_as_the_user_says(policy: Policy, rule: str, passed: bool) -> None:
    gate = replace(parse(rule, INFOS), undecided=policy)
    result = gate.judge({"ALL": figures(0.5, 0.49, -0.03, 0.01)}, "ALL", INFOS)
    assert (result.result, result.passed) == ("undecided", passed)


def test_an_exact_loss_too_small_to_count_says_so() -> None:
    found = Difference(
        base=0.5, new=0.4995, difference=-0.0005, low=-0.0005, high=-0.0005, verdict=Verdict.EQUIVALENT, state="exact"
    )
    result = parse("RecallAt1 >= -0pp", INFOS).judge({"ALL": {"RecallAt1": found}}, "ALL", INFOS)
    assert (result.result, result.passed) == ("kept", True)
    assert result.reason.endswith("(exact), beyond the limit by too little to count")


def random_case(random: np.random.Generator) -> plain_gates.Case:
    """A comparison whose size, share asked, changes and gate are drawn."""
    kind = str(random.choice(["difference", "difference", "non-inferior", "figure"]))
    of_code = bool(random.random() < 0.3) and kind != "figure"
    # Files count in gates on other code alone.
    files = int(random.choice([5, 60, 400])) if of_code else 1
    sizes = random.integers(1, int(random.choice([2, 5])) + 1, files) * (
        1 if of_code else int(random.choice([30, 250]))
    )
    count = int(sizes.sum())
    base = (random.random(count) < random.choice([0.3, 0.6, 0.95])).astype(float)
    lost, won = random.choice([0, 0.005, 0.02, 0.08], 2)
    new = np.where(random.random(count) < np.where(base == 1, lost, won), 1 - base, base)
    twice = int(random.choice([40, count, 2 * count]))
    limits = tuple(random.choice([0.0, 0.01, 0.02, 0.05], int(random.integers(1, 3)), replace=False).tolist())
    if kind == "non-inferior":
        limits = (float(random.choice([0.002, 0.005, 0.01, 0.03])),)
    elif kind == "figure":
        limits = (round(float(new.mean() + random.choice([0, 0.02, 0.05, -0.02, -0.05])), 2),)
    return plain_gates.Case(
        base=base,
        new=new,
        files=np.repeat(np.arange(files), sizes),
        population=round(count / random.choice([1, 1, 0.5, 0.02])),
        twice=twice,
        differed=int(random.choice([0, 0, 3])),
        is_known=bool(random.random() < 0.3),
        kind=kind,
        limits=tuple(min(limit, 1.0) for limit in limits),
        of_code=of_code,
    )


def rule_of(case: plain_gates.Case) -> str:
    percents = [f"{limit * 100:.10g}" for limit in case.limits]
    if case.kind == "figure":
        return f"RecallAt1 >= {percents[0]}%"
    rule = f"RecallAt1 non-inferior {percents[0]}pp"
    if case.kind == "difference":
        rule = "RecallAt1 >= " + " and ".join(f"-{percent}pp" for percent in percents)
    return f"{rule} population: {'code' if case.of_code else 'project'}"


def gate_result(case: plain_gates.Case) -> str:
    """Return the result of the case's gate by ci-eval's own code, from the sums of its sessions on."""
    (metric,) = (metric for metric in metrics.load() if metric.info.name == "RecallAt1")
    sums, ones = FilterSums(figures=1), np.ones(len(case.base))
    seen = np.stack([case.base, ones, case.new, ones], axis=1)[:, None]
    _, sizes = np.unique(case.files, return_counts=True)
    sums.rows = [sums.add(part) for part in np.split(seen, np.cumsum(sizes)[:-1])]
    is_known = case.is_known and not case.differed
    repeats = Repeats(asked=case.twice, differed=case.differed, whole=is_known)
    files = len(np.unique(case.files))
    judge = Judge([metric], len(case.base) / case.population, repeats=repeats, files=files)
    infos = {"RecallAt1": metric.info}
    return parse(rule_of(case), infos).judge({"ALL": judge.filter(sums)}, "ALL", infos).result


def test_a_thousand_random_gates_are_judged_as_by_an_independent_implementation() -> None:
    seen: Counter[tuple[str, bool, str]] = Counter()
    for turn in range(1000):
        case = random_case(np.random.default_rng([45, turn]))
        result = gate_result(case)
        assert result == plain_gates.check(case), (turn, rule_of(case))
        seen[case.kind, case.of_code, result] += 1
    of_code = {(kind, True) for kind in ("difference", "non-inferior")}
    kinds = of_code | {(kind, False) for kind in ("difference", "non-inferior", "figure")}
    # Of other code, 300 files and more seldom show a loss that is beyond the margin.
    rare = {("non-inferior", True, "broken")}
    expected = {(*kind, result) for kind in kinds for result in ("kept", "broken", "undecided")} - rare
    assert expected <= {key for key, count in seen.items() if count >= 5}, seen


SINCE_INFOS = {
    "RecallAt1": MetricInfo(name="RecallAt1", summary="", unit="share", better="higher"),
    "Latency": MetricInfo(name="Latency", summary="", unit="ms", better="lower"),
}


def judged(rule: str, folder: Path, *, history: bool = True) -> GateResult:
    """The gate about the newest night of the folder."""
    *past, new = sorted(read(folder).evaluations, key=lambda each: each.started)
    return judge_since(parse(rule, SINCE_INFOS), past if history else None, new, SINCE_INFOS)


@pytest.fixture
def drift(tmp_path: Path) -> Path:
    """Thirty nights that lose 0.2 points each."""
    for day in range(1, 31):
        night(tmp_path, day, version=f"1.{day}", RecallAt1=0.9 - 0.002 * day)
    return tmp_path


@pytest.mark.parametrize(
    ("since", "result", "said"),
    [
        ("best", "broken", "since 2026-01-01 (jedi 1.1)"),
        ("2026-01-03", "broken", "since 2026-01-03 (jedi 1.3)"),
        ("1.2", "broken", "since 2026-01-02 (jedi 1.2)"),
        ("2026-01-28", "undecided", "since 2026-01-28 (jedi 1.28)"),
    ],
)
def test_a_slow_drift_breaks_a_gate_against_a_fixed_night(drift: Path, since: str, result: str, said: str) -> None:
    found = judged(f"RecallAt1 >= -2pp since:{since}", drift)
    assert (found.result, said in found.reason) == (result, True)


def test_a_night_whose_figure_has_no_interval_decides_nothing(drift: Path) -> None:
    path = next(drift.glob("03-*.json"))
    path.write_text(path.read_text().replace('"low": ', '"other": '))
    found = judged("RecallAt1 >= -2pp since:2026-01-03", drift)
    assert (found.result, "one of the two figures has no interval" in found.reason) == ("undecided", True)


@pytest.mark.parametrize(
    ("since", "said"), [("9.9", "name a date not before the first"), ("2025-12-31", "go from 2026-01-01")]
)
def test_a_reference_that_is_not_there_is_said_and_does_not_pass(drift: Path, since: str, said: str) -> None:
    found = judged(f"RecallAt1 >= -2pp since:{since}", drift)
    assert not found.passed
    assert said in found.reason
    assert "--history" in judged("RecallAt1 >= -2pp since:best", drift, history=False).reason


@pytest.mark.parametrize("rule", ["RecallAt1 >= 40% since:best", "Latency <= +5% since:best"])
def test_a_limit_or_a_time_cannot_be_since_another_night(rule: str) -> None:
    with pytest.raises(ConfigError, match="`since:` is for a difference"):
        parse(rule, SINCE_INFOS)


def test_compare_judges_such_gates_and_fails_where_there_is_no_history(nights: dict[str, Path], tmp_path: Path) -> None:
    for day in (1, 2, 3):
        path = aged(nights["words"], tmp_path / "past", day)
        report = json.loads(path.read_text())
        (past,) = report["evaluations"]
        past["filters"][past["headline"]]["metrics"]["RecallAt1"] |= {"value": 0.99, "low": 0.98, "high": 1.0}
        path.write_text(json.dumps(report))
    rule = ("--gate", "RecallAt1 >= -2pp since:2020-01-02")
    sides = (nights["again"], nights["words"])
    code, report, said = compare(*sides, tmp_path / "out", *rule, "--history", tmp_path / "past")
    assert (code, report["gates"][0]["result"]) == (1, "broken")
    assert "since 2020-01-02" in " ".join(said.split())
    code, report, said = compare(*sides, tmp_path / "other", *rule)
    assert (code, report["gates"][0]["passed"]) == (1, False)
    assert "give --history FOLDER" in " ".join(said.split())
