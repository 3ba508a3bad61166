"""From sums over sessions to verdicts, here and elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ci_eval.core.catalogs import metrics
from ci_eval.core.compare.judging import Judge
from ci_eval.core.compare.sums import FilterSums
from ci_eval.core.model import Difference, Verdict
from ci_eval.core.statistics.repeated import Repeats
from ci_eval.core.statistics.student import Floats

METRICS = [each for each in metrics.load() if each.info.name in {"RecallAt1", "RecallAt5", "MeanLatency"}]


def judged(base: Floats, new: Floats, *, asked: float) -> dict[str, Difference]:
    """Hits (files x sessions) of both sides, which RecallAt1 and RecallAt5 share."""
    sums = FilterSums(figures=len(METRICS))
    for ours, theirs in zip(base, new, strict=True):
        seen = np.zeros((len(ours), len(METRICS), 4))
        seen[:, :2] = np.stack([ours, np.ones_like(ours), theirs, np.ones_like(ours)], axis=1)[:, None]
        sums.rows.append(sums.add(seen))
    return Judge(METRICS, asked).filter(sums)


def test_sides_that_answered_in_different_files_have_a_verdict() -> None:
    # 20 sessions with a list of base's, then 20 with one of new's; such as Precision observes them.
    base, new = np.array([1.0, 1, 0, 0]), np.array([0.0, 0, 0, 1])
    sums = FilterSums(figures=1)
    for seen in (base, new):
        sums.rows.append(sums.add(np.tile(seen, (20, 1, 1))))
    difference = Judge(METRICS[:1], 1.0).filter(sums)[METRICS[0].info.name]
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
    assert "a change in fewer than 1.0% of such files may be missing here" in found.elsewhere.why


def test_fewer_files_do_not_make_other_code_equivalent_though_nothing_changed() -> None:
    """A loss in one file of sixty is then missed too often: benchmarks/verdicts.py, fresh worlds."""
    same = hits(200, 0.5)
    there = judged(same, same, asked=1)["RecallAt1"].elsewhere
    assert there.verdict == Verdict.NOT_SHOWN
    assert "inside ±0.50 pp, but that takes 300 effective files; there are 200" in there.why


def test_a_single_file_says_nothing_of_other_code_and_two_say_little() -> None:
    there = judged(hits(1, 0.9), hits(1, 0.1), asked=1)["RecallAt1"].elsewhere
    assert (there.low, there.p, there.verdict) == (None, None, Verdict.NOT_SHOWN)
    assert "a sample of one says nothing about other files" in there.why
    of_two = judged(hits(2, 0.6), hits(2, 0.4), asked=1)["RecallAt1"].elsewhere
    assert of_two.low is not None
    assert of_two.verdict == Verdict.NOT_SHOWN


def test_an_interval_does_not_depend_on_the_figures_next_to_it() -> None:
    base, new = hits(80, 0.7), hits(80, 0.68, 2)
    sums, alone = FilterSums(figures=2), FilterSums(figures=1)
    for ours, theirs in zip(base, new, strict=True):
        seen = np.ones((len(ours), 2, 4))
        seen[:, 0, 0], seen[:, 0, 2], seen[:5, 1, 2] = ours, theirs, 0
        sums.rows.append(sums.add(seen))
        alone.rows.append(alone.add(seen[:, :1]))
    repeats = Repeats(asked=36, whole=False)
    both, one = (Judge(METRICS[:n], 0.18, repeats=repeats).filter(of) for n, of in ((2, sums), (1, alone)))
    assert both["RecallAt1"] == one["RecallAt1"]


def test_a_figure_that_one_side_lacks_has_a_reason_and_no_verdict() -> None:
    found = judged(hits(3, 0.5), hits(3, 0.5), asked=1)["MeanLatency"]
    assert (found.base, found.verdict) == (None, Verdict.NOT_COMPARABLE)
    assert "nothing was observed" in found.why


def hits_judged(base: Floats, new: Floats, repeats: Repeats, files: int = 10, asked: float = 1.0) -> Difference:
    sums = FilterSums(figures=1)
    seen = np.stack([base, np.ones_like(base), new, np.ones_like(base)], axis=1)[:, None]
    for part in range(files):
        sums.rows.append(sums.add(seen[part::files]))
    judge = Judge(METRICS[:1], asked, repeats=repeats, population=round(len(base) / asked), files=files)
    return judge.filter(sums)["RecallAt1"]


@pytest.mark.parametrize(
    ("repeats", "lost", "state", "verdict"),
    [
        (Repeats(), 2, "exact", Verdict.WORSE),
        (Repeats(asked=2000), 2, "exact", Verdict.WORSE),
        (Repeats(asked=2000), 1, "exact", Verdict.EQUIVALENT),
        (Repeats(asked=40, whole=False), 0, "once", Verdict.EQUIVALENT),
        (Repeats(asked=40, whole=False), 400, "once", Verdict.WORSE),
        (Repeats(asked=40, differed=1, whole=False), 400, "noisy", Verdict.WORSE),
        (Repeats(whole=False), 400, "once", Verdict.WORSE),
        (Repeats(whole=False), 7, "once", Verdict.NOT_SHOWN),
    ],
)
def test_only_rounds_and_functions_are_exact(repeats: Repeats, lost: int, state: str, verdict: Verdict) -> None:
    base = np.ones(1000)
    new = np.concatenate([np.zeros(lost), np.ones(1000 - lost)])
    found = hits_judged(base, new, repeats)
    assert (found.state, found.verdict) == (state, verdict)
    assert (found.p is None) == (state == "exact")
    assert (found.better, found.worse) == (0, lost)


def test_an_exact_difference_reaches_as_far_as_three_of_the_sessions_asked_again() -> None:
    found = hits_judged(np.ones(1000), np.concatenate([np.zeros(8), np.ones(992)]), Repeats(asked=2000))
    assert (found.low, found.high) == pytest.approx((-0.0095, -0.0065))
    assert found.why == "exact: every session was asked, in rounds that agreed (at most 0.15% may differ unseen)"


def test_a_crash_in_one_file_is_no_verdict_on_engines_asked_once() -> None:
    base, new = np.ones(1000), np.ones(1000)
    new[0::20] = 0
    found = hits_judged(base, new, Repeats(asked=40, whole=False), files=20)
    assert found.verdict is Verdict.NOT_SHOWN
    assert found.sign == pytest.approx(2 / 2**50)
    assert "0 better, 50 worse, sign test p = 1.8e-15; every session was asked once" in found.why


@pytest.mark.parametrize(
    ("files", "again", "verdict"),
    [
        (2, Repeats(whole=False), Verdict.NOT_SHOWN),
        (10, Repeats(whole=False), Verdict.WORSE),
        (1, Repeats(asked=40, whole=False), Verdict.WORSE),
        (1, Repeats(asked=40, differed=1, whole=False), Verdict.NOT_SHOWN),
    ],
)
def test_a_verdict_on_engines_asked_once_takes_three_changed_files_or_equal_second_answers(
    files: int, again: Repeats, verdict: Verdict
) -> None:
    new = np.concatenate([np.zeros(400), np.ones(600)])
    assert hits_judged(np.ones(1000), new, again, files).verdict is verdict


def test_a_comparison_says_how_many_sessions_show_one_point() -> None:
    """Of 1,000 sessions 3 % change both ways, and 1 % would by the loss: (1.96 + 0.84)² · 0.04 / 0.01² = 3,140."""
    sums = FilterSums(figures=1)
    seen = np.ones((1000, 1, 4))
    seen[:15, 0, 0], seen[15:30, 0, 2] = 0, 0
    sums.rows.append(sums.add(seen))
    judge = Judge(METRICS[:1], 0.0001)
    found = judge.filter(sums)["RecallAt1"]
    assert found.needed == pytest.approx(3140, rel=0.05)
    assert found.detectable == pytest.approx(0.0159, rel=0.03)


def answered(seed: int, size: int, *, loss: float, change: float, twice: bool, asked: float = 1e-4) -> Difference:
    """The comparison of two engines, of which the second answers otherwise, and may lose first ranks."""
    random = np.random.default_rng([size, seed])
    base = (random.random(size) < 0.5).astype(float)
    new = np.where(random.random(size) < change, random.random(size) < 0.5, base)
    new = new * (random.random(size) >= loss / 0.5)
    return hits_judged(base, new, Repeats(asked=2 * size if twice else 0, whole=twice), 40, asked)


@pytest.mark.parametrize(("change", "twice"), [(0.0, True), (0.1, True), (0.1, False)])
def test_the_sessions_needed_for_one_point_show_it_four_times_out_of_five(change: float, twice: bool) -> None:
    pilots = [answered(seed, 600, loss=0, change=change, twice=twice).needed or 0 for seed in range(20)]
    needed = int(np.median(pilots))
    found = [answered(seed, needed, loss=0.01, change=change, twice=twice).verdict for seed in range(200)]
    assert 0.7 < np.mean([verdict is Verdict.WORSE for verdict in found]) < 0.92


def test_no_more_sessions_are_needed_than_two_rounds_of_all() -> None:
    """Of engines that do not vary, all 1,000 sessions in two rounds are exact, however many change."""
    found = [answered(1, 200, loss=0, change=0.6, twice=twice, asked=0.2) for twice in (True, False)]
    assert all(950 <= (each.needed or 0) <= 1000 for each in found)


def test_a_mean_rank_that_few_sessions_decide_has_no_verdict() -> None:
    ranks = [each for each in metrics.load() if each.info.name == "MeanRank"]
    seen = np.ones((1000, 1, 4))
    seen[:3, 0, 2] = 400
    sums = FilterSums(figures=1)
    sums.rows.append(sums.add(seen))
    found = Judge(ranks, 0.1).filter(sums)["MeanRank"]
    assert (found.low, found.verdict) == (None, Verdict.NOT_SHOWN)
    assert found.why == ("a few sessions decide: all changes count as 3 equal ones, 12 needed")


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
