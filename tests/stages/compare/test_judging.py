"""From sums over sessions to verdicts, here and elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval import metrics
from ci_eval.model import Difference, Verdict
from ci_eval.stages.compare.judging import Judge
from ci_eval.stages.compare.sums import FilterSums
from ci_eval.statistics.student import Floats

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
    assert "inside ±0.50 pp, but that takes 300 files of equal size or their worth; here are 200" in there.why


def test_without_enough_files_nothing_is_said_of_other_code() -> None:
    there = judged(hits(59, 0.9), hits(59, 0.1), asked=1)["RecallAt1"].elsewhere
    assert (there.low, there.p, there.verdict) == (None, None, Verdict.NOT_SHOWN)
    assert "too few files: 59, worth 59 of equal size; it takes 60" in there.why


def test_figures_that_move_together_are_judged_as_one() -> None:
    found = judged(hits(80, 0.7), hits(80, 0.68, 2), asked=0.2)
    assert found["RecallAt1"].elsewhere.p == pytest.approx(found["RecallAt5"].elsewhere.p)
    assert found["RecallAt1"].low == pytest.approx(found["RecallAt5"].low)


def test_a_figure_that_one_side_lacks_has_a_reason_and_no_verdict() -> None:
    found = judged(hits(3, 0.5), hits(3, 0.5), asked=1)["MeanLatency"]
    assert (found.base, found.verdict) == (None, Verdict.NOT_COMPARABLE)
    assert "nothing was observed" in found.why
