"""Of the verdicts of a page, ▲ and ▼ mark those that hold among all of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from ci_eval.core.catalogs import metrics
from ci_eval.core.compare import compare
from ci_eval.core.compare.marks import mark
from ci_eval.core.filters import ReportFilter, ReportFilters
from ci_eval.core.model import Difference, Elsewhere, Verdict


def found(p: float | None, verdict: Verdict = Verdict.WORSE) -> Difference:
    return Difference(base=0.5, new=0.4, difference=-0.1, p=p, verdict=verdict, elsewhere=Elsewhere(p=0.5))


def test_a_verdict_is_marked_only_where_it_holds_among_all_of_the_page() -> None:
    filters = {"ALL": {"A": found(0.0001), "B": found(0.02)}, "names": {"A": found(0.03), "B": found(None)}}
    marked, _ = mark(filters, ("A", "B"), "ALL")
    assert [of.marked for part in marked.values() for of in part.values()] == [True, False, False, True]
    assert [of.verdict for part in marked.values() for of in part.values()] == [Verdict.WORSE] * 4


def test_what_is_not_declared_is_marked_only_if_nothing_is_uncertain() -> None:
    marked, _ = mark({"ALL": {"A": found(0.9, Verdict.NOT_SHOWN), "B": found(1e-9), "C": found(None)}}, ("A",), "ALL")
    assert [of.marked for of in marked["ALL"].values()] == [False, False, True]


def test_a_page_of_eleven_metrics_and_nine_filters_has_seldom_a_false_mark(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """3 of 16 have a chance of 4 % at 5 % each; without the adjustment, about a third of the pages have one."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    pages = [null_page(tmp_path / str(seed), seed) for seed in range(16)]
    assert sum(marked for marked, _ in pages) <= 2
    assert sum(judged for _, judged in pages) >= 1


def null_page(folder: Path, seed: int) -> tuple[bool, bool]:
    """Compare engines that are alike: (the page has any ▲ or ▼, single intervals would give it one)."""
    regimes = import_module("regimes")
    random = np.random.default_rng([61, seed])
    files = regimes.sizes_of(random, 20, 30_000)
    ranks = regimes.usual(random, 30_000)
    sides = [[regimes.waver(random, ranks, random.random(30_000) < 0.1)] * 2 for _ in range(2)]
    asked = random.choice(30_000, 600, replace=False)
    draw = regimes.Draw(files=files, base=sides[0], new=sides[1], truth=0.0, figure=0.5, asked=asked)
    base, new = (
        regimes.write(folder / name, draw, side, None, np.zeros(30_000, bool))
        for name, side in zip(("base", "new"), sides, strict=True)
    )
    parts = [ReportFilter(name=f"part {at}", file=f"f*[{at}{(at + 3) % 10}].py") for at in range(8)]
    filters = ReportFilters(all=(ReportFilter(name="ALL"), *parts), headline="ALL")
    declared = [metric.info.name for metric in METRICS]
    comparison = compare(base, new, METRICS, filters, declared)
    shown = [figures[name] for figures in comparison.filters.values() for name in declared]
    assert len(shown) == 11 * 9
    single = any(each.verdict in {Verdict.BETTER, Verdict.WORSE} for each in shown)
    return any(each.marked or each.elsewhere.marked for each in shown), single


METRICS = [metric for metric in metrics.load() if metric.of == "tokens" and metric.compared and not metric.timed][:11]
