"""From sums over sessions to verdicts, here and elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace as replace_info

from ci_eval.core.catalogs import metrics
from ci_eval.core.compare.judging import Judge
from ci_eval.core.compare.sums import FilterSums
from ci_eval.core.model import Difference, Verdict
from ci_eval.core.statistics import paired
from ci_eval.core.statistics.repeated.repeats import Repeats
from ci_eval.core.statistics.student import Floats

METRICS = [each for each in metrics.load() if each.info.name in {"RecallAt1", "RecallAt5", "MeanLatency"}]
DECLARED = frozenset({"RecallAt1", "RecallAt5"})


def judged(base: Floats, new: Floats, *, asked: float) -> dict[str, Difference]:
    """Hits (files x sessions) of both sides, which RecallAt1 and RecallAt5 share."""
    sums = FilterSums(figures=len(METRICS))
    for ours, theirs in zip(base, new, strict=True):
        seen = np.zeros((len(ours), len(METRICS), 4))
        seen[:, :2] = np.stack([ours, np.ones_like(ours), theirs, np.ones_like(ours)], axis=1)[:, None]
        sums.rows.append(sums.add(seen))
    return Judge(METRICS, DECLARED, asked).filter(sums)


@pytest.mark.parametrize("repeats", [Repeats(), Repeats(asked=100, whole=False)])
def test_sides_that_answered_in_different_files_have_a_verdict(repeats: Repeats) -> None:
    # 20 sessions with a list of base's, then 20 with one of new's; such as Precision observes them.
    base, new = np.array([1.0, 1, 0, 0]), np.array([0.0, 0, 0, 1])
    sums = FilterSums(figures=1)
    for seen in (base, new):
        sums.rows.append(sums.add(np.tile(seen, (20, 1, 1))))
    difference = Judge(METRICS[:1], DECLARED, 1.0, repeats=repeats).filter(sums)[METRICS[0].info.name]
    assert (difference.base, difference.new, difference.n) == (1, 0, 20)
    assert (difference.state, difference.verdict, difference.low) == ("exact", Verdict.WORSE, -1)


def hits(files: int, rate: float, seed: int = 1) -> Floats:
    return (np.random.default_rng(seed).random((files, 40)) < rate).astype(float)


def test_with_many_files_a_loss_is_shown_here_and_elsewhere() -> None:
    found = judged(hits(80, 0.7), hits(80, 0.5, 2), asked=0.2)["RecallAt1"]
    assert (found.verdict, found.elsewhere.verdict) == (Verdict.WORSE, Verdict.WORSE)
    assert found.elsewhere.effective == pytest.approx(80)
    assert found.elsewhere.why == "the whole interval is below 0"


def test_every_verdict_agrees_with_the_interval_and_p_beside_it() -> None:
    for seed in range(20):
        found = judged(hits(70, 0.5), hits(70, 0.52, seed), asked=0.5)["RecallAt1"]
        for each in (found, found.elsewhere):
            assert each.low is not None
            assert each.high is not None
            assert each.p is not None
            shown = each.low > 0 or each.high < 0
            assert shown == (each.p < 0.05) == (each.verdict in {Verdict.BETTER, Verdict.WORSE})


def test_the_same_twice_is_exactly_equivalent_here_and_bounded_elsewhere() -> None:
    same = hits(300, 0.5)
    found = judged(same, same, asked=1)["RecallAt1"]
    assert (found.low, found.high, found.p, found.verdict) == (0, 0, None, Verdict.EQUIVALENT)
    assert found.elsewhere.low is not None
    assert -0.005 < found.elsewhere.low < 0
    assert "what sits in fewer than 1.0% of such files may be there unseen" in found.elsewhere.why


def test_fewer_files_do_not_make_other_code_equivalent_though_nothing_changed() -> None:
    """A loss in one file of sixty is then missed too often: benchmarks/verdicts.py, fresh worlds."""
    same = hits(200, 0.5)
    there = judged(same, same, asked=1)["RecallAt1"].elsewhere
    assert there.verdict == Verdict.NOT_SHOWN
    assert "inside ±0.50 pp, but that takes 300 effective files; there are 200" in there.why


def test_without_enough_files_nothing_is_said_of_other_code() -> None:
    there = judged(hits(59, 0.9), hits(59, 0.1), asked=1)["RecallAt1"].elsewhere
    assert (there.low, there.p, there.verdict) == (None, None, Verdict.NOT_SHOWN)
    assert "not enough files to generalise: 59 effective files of the 60 needed" in there.why


def test_figures_that_move_together_are_judged_as_one() -> None:
    found = judged(hits(80, 0.7), hits(80, 0.68, 2), asked=0.2)
    assert found["RecallAt1"].elsewhere.p == pytest.approx(found["RecallAt5"].elsewhere.p)
    assert found["RecallAt1"].low == pytest.approx(found["RecallAt5"].low)


def test_a_figure_that_one_side_lacks_has_a_reason_and_no_verdict() -> None:
    found = judged(hits(3, 0.5), hits(3, 0.5), asked=1)["MeanLatency"]
    assert (found.base, found.verdict) == (None, Verdict.NOT_COMPARABLE)
    assert "nothing was observed" in found.why


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark of engines that waver."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    return import_module("wavering")


@pytest.mark.parametrize("share", [0.01, 0.1])
def test_an_engine_that_wavers_is_seldom_better_or_worse_than_itself(
    share: float, worlds: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few of the comparisons that benchmarks/wavering.py makes many of."""
    monkeypatch.setattr(paired, "DRAWS", 5_000)
    world, counts = worlds.Wavering(400, share, 0.0), worlds.Counts()
    for turn in range(60):
        counts.add(*world.compared(np.random.default_rng([1, turn])))
    assert counts.shown <= 5
    assert counts.exact == 0
    assert counts.covered >= 55


def test_the_interval_of_an_engine_that_wavers_holds_a_true_loss(worlds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired, "DRAWS", 5_000)
    world, counts = worlds.Wavering(1000, 0.01, 0.03), worlds.Counts()
    for turn in range(40):
        counts.add(*world.compared(np.random.default_rng([2, turn])))
    assert counts.exact == 0
    assert counts.covered >= 36
    assert counts.shown >= 30


def hits_judged(base: Floats, new: Floats, repeats: Repeats) -> Difference:
    sums = FilterSums(figures=1)
    seen = np.stack([base, np.ones_like(base), new, np.ones_like(base)], axis=1)[:, None]
    sums.rows.append(sums.add(seen))
    return Judge(METRICS[:1], frozenset({"RecallAt1"}), 1.0, repeats=repeats).filter(sums)["RecallAt1"]


@pytest.mark.parametrize(
    ("repeats", "lost", "state"),
    [
        (Repeats(asked=2000), 8, "exact"),
        (Repeats(asked=40, whole=False), 8, "partial"),
        (Repeats(asked=40, whole=False), 0, "exact"),
        (Repeats(asked=40, whole=False), 400, "exact"),
        (Repeats(asked=40, differed=1, whole=False), 400, "noisy"),
        (Repeats(checked=False, whole=False), 400, "partial"),
    ],
)
def test_only_what_was_shown_to_be_deterministic_is_exact(repeats: Repeats, lost: int, state: str) -> None:
    base = np.ones(1000)
    new = np.concatenate([np.zeros(lost), np.ones(1000 - lost)])
    found = hits_judged(base, new, repeats)
    assert found.state == state
    assert (found.low == found.high) == (state == "exact")
    assert (found.sign is not None) == (lost > 0)
    assert (found.better, found.worse) == (0, lost)


def test_beside_a_verdict_drawn_from_all_sessions_stands_a_sign_test() -> None:
    found = hits_judged(np.ones(1000), np.concatenate([np.zeros(8), np.ones(992)]), Repeats(asked=40, whole=False))
    assert found.sign == pytest.approx(2 / 2**8)
    assert "0 better, 8 worse, sign test p = 0.0078; every session was asked" in found.why


def test_a_comparison_says_how_many_sessions_show_one_point() -> None:
    """1,000 sessions of which 3 % change: (1.96 + 0.84)² · 0.032 / 0.01² = 2,508."""
    sums = FilterSums(figures=1)
    seen = np.ones((1000, 1, 4))
    seen[:15, 0, 0], seen[15:30, 0, 2] = 0, 0
    sums.rows.append(sums.add(seen))
    judge = Judge(METRICS[:1], frozenset({"RecallAt1"}), 0.0001, repeats=Repeats(asked=40, whole=False))
    found = judge.filter(sums)["RecallAt1"]
    assert found.needed == pytest.approx(2508, rel=0.02)
    assert found.detectable == pytest.approx(0.0159, rel=0.03)


def test_a_mean_rank_that_few_sessions_decide_has_no_verdict() -> None:
    ranks = [each for each in metrics.load() if each.info.name == "MeanRank"]
    seen = np.ones((1000, 1, 4))
    seen[:3, 0, 2] = 400
    sums = FilterSums(figures=1)
    sums.rows.append(sums.add(seen))
    found = Judge(ranks, frozenset({"MeanRank"}), 0.1).filter(sums)["MeanRank"]
    assert (found.low, found.verdict) == (None, Verdict.NOT_SHOWN)
    assert found.why == (
        "a few sessions decide: 3 effective sessions changed (as many as if all changes were of equal size), 12 needed"
    )


def test_figures_that_did_not_change_cost_the_others_nothing() -> None:
    """Of nine declared figures, eight are the same on both sides; what rounding leaves of them must not count."""
    random = np.random.default_rng(3)
    sums, ones = FilterSums(figures=9), np.ones(500)
    seen = np.stack([np.stack([(same := random.random(500) / 3), ones, same, ones], axis=1) for _ in range(9)], axis=1)
    seen[:40, 0, 2] += 0.5
    sums.rows.append(sums.add(seen))
    named = [replace(METRICS[0], info=replace_info(METRICS[0].info, name=f"M{number}")) for number in range(9)]
    judge = Judge(named, frozenset(each.info.name for each in named), 0.0001)
    found = judge.filter(sums)["M0"]
    alone = Judge(named, frozenset({"M0"}), 0.0001).filter(sums)["M0"]
    assert (found.low, found.high, found.p) == (alone.low, alone.high, alone.p)
    others = [judge.filter(sums)[each.info.name] for each in named[1:]]
    assert {each.difference for each in others} == {0.0}


def intervals_by(processor: str) -> tuple[str, list[float]] | None:
    """Return the kernel of that processor and the numbers that it gives, or None if this machine cannot run it."""
    program = [sys.executable, "-m", "tests.compare.kernels"]
    environment = {**os.environ, "OPENBLAS_CORETYPE": processor}
    done = subprocess.run(program, env=environment, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    if done.returncode < 0:
        return None
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    return printed["kernel"], printed["numbers"]


@pytest.mark.slow
def test_adjusted_intervals_are_equal_by_the_arithmetic_of_other_processors() -> None:
    by_kernel = dict(filter(None, map(intervals_by, ("Prescott", "Nehalem", "Haswell", "SkylakeX"))))
    if set(by_kernel) == {""}:
        pytest.skip("numpy multiplies matrices by another library than OpenBLAS")
    assert len(by_kernel) >= 2, by_kernel.keys()
    first, *others = by_kernel.values()
    for numbers in others:
        assert numbers == pytest.approx(first, rel=0, abs=1e-9)
