"""Compute the figures of usage queries: F1 by scenario, context and type, and differences between strategies."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import cast

import msgspec
import numpy as np

from ci_eval.core.model import Histories, Optimism, Properties, QueryFigures, QueryRow, SessionScore, Steps, pick
from ci_eval.core.model.settings import Scenario
from ci_eval.core.queries.cases import EVOLUTIONS, SCENARIOS, STRATEGIES, coarse, grade_of_next, has_end
from ci_eval.core.statistics.clustered import estimate_other_code
from ci_eval.core.statistics.nonparametric import mann_whitney
from ci_eval.core.statistics.paired import make_intervals

EVERYTHING = "ALL"
TYPES = 10
PAIRS = (("REAL*", "REAL"), ("LINEAR", "REAL"), ("RANDOM", "REAL"))
NEXT_STATE = "REAL, next state"
LABEL = re.compile(r"(\d+)(?:-(\d+))?(?:\+(\d+))?")
"""The label of a case (`QueryCase.label`): the number of calls at the start, minus removed, plus added calls."""
KEPT, WANTED = ("0", "1", "2", "3", "4", "5+"), ("1", "2", "3", "4", "5", "6+")
"""Rows (kept calls) and columns (calls at the end) of table 3 in the paper that `core/queries` names."""


class _Case(msgspec.Struct, frozen=True):
    cluster: str
    about: Properties
    f1: dict[str, float] = msgspec.field(default_factory=dict)
    """The score of each strategy. NEXT_STATE has the score of REAL if the next state, not the end, is expected."""

    @property
    def part(self) -> str:
        return coarse(cast("Scenario", self.about.scenario))


class Cases:
    def __init__(self) -> None:
        self._cases: dict[Hashable, _Case] = {}
        self._have_ends = True

    def add(self, file: str, cluster: str, session: SessionScore, f1: float) -> None:
        about = session.properties
        self._have_ends = self._have_ends and has_end(session)
        scores = self._cases.setdefault((file, about.case), _Case(cluster, about)).f1
        scores[about.strategy or ""] = f1
        if (of_next := grade_of_next(session)) is not None:
            scores[NEXT_STATE] = of_next

    def add_all(self, other: Cases) -> None:
        self._have_ends = self._have_ends and other._have_ends
        self._cases |= other._cases

    def figures(self, pairs: Mapping[str, int], histories: Histories | None = None) -> QueryFigures | None:
        cases = list(self._cases.values())
        if not cases:
            return None
        types = Counter(case.about.package or "" for case in cases)
        listed = sorted(types, key=lambda name: (-types[name], name))[:TYPES]
        parts = dict.fromkeys(map(coarse, SCENARIOS))
        transitions = Counter[tuple[int, int]]()
        for case in cases:
            parts_of = LABEL.fullmatch(case.about.change or "")
            calls, removed, added = (int(digits or 0) for digits in parts_of.groups()) if parts_of else (0, 0, 1)
            kept = calls - removed
            transitions[min(kept, len(KEPT) - 1), min(kept + added, len(WANTED)) - 1] += 1
        by_part = [(part, [case for case in cases if part in {EVERYTHING, case.part}]) for part in (EVERYTHING, *parts)]
        optimism = [_optimism(more, less, part, of) for more, less in PAIRS for part, of in by_part]
        steps = None
        if of_steps := _optimism("REAL", NEXT_STATE, EVERYTHING, cases):
            both = np.array([[case.f1["REAL"], case.f1[NEXT_STATE]] for case in cases if NEXT_STATE in case.f1])
            u, p = mann_whitney(*both.T)
            goal, following = map(float, both.mean(axis=0))
            known = pick(of_steps, "difference", "low", "high", "effective")
            steps = Steps(cases=len(both), goal=goal, next=following, u=u, p=p, **known)
        return QueryFigures(
            figure="F1" if self._have_ends else "R-precision",
            pairs=dict(pairs),
            transitions={
                remaining: {called: transitions[row, column] for column, called in enumerate(WANTED)}
                for row, remaining in enumerate(KEPT)
            },
            scenarios=(_row(EVERYTHING, cases), *_rows(cases, SCENARIOS, lambda case: case.about.scenario)),
            evolutions=_rows(cases, EVOLUTIONS, lambda case: case.about.evolution),
            types=_rows(cases, listed, lambda case: case.about.package or ""),
            all_types=len(types),
            optimism=tuple(filter(None, optimism)),
            steps=steps,
            histories=histories,
        )


def _rows(cases: Iterable[_Case], names: Sequence[str], of: Callable[[_Case], str | None]) -> tuple[QueryRow, ...]:
    groups: dict[str | None, list[_Case]] = defaultdict(list)
    for case in cases:
        groups[of(case)].append(case)
    return tuple(_row(name, groups[name]) for name in names)


def _row(name: str, cases: Sequence[_Case]) -> QueryRow:
    asked = {strategy: [case.f1[strategy] for case in cases if strategy in case.f1] for strategy in STRATEGIES}
    f1: dict[str, float] = {strategy: sum(values) / len(values) for strategy, values in asked.items() if values}
    return QueryRow(name=name, cases=len(cases), f1=f1)


def _optimism(more: str, less: str, part: str, cases: Sequence[_Case]) -> Optimism | None:
    """Return the mean of `more` - `less` over the cases with both strategies; None without such cases."""
    both = [(case.cluster, case.f1[more], case.f1[less]) for case in cases if more in case.f1 and less in case.f1]
    if not both:
        return None
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    for cluster, more_f1, less_f1 in both:
        # A mean is a ratio of sums, whose denominators are the numbers of cases.
        sums[cluster] = [total + new for total, new in zip(sums[cluster], (less_f1, 1.0, more_f1, 1.0), strict=True)]
    spread, effective = estimate_other_code(np.array(list(sums.values()))[:, None, :])
    (interval,) = make_intervals(spread)
    # Cases of one file resemble each other, so files (or projects) are the sample.
    has_interval = len(sums) > 1
    return Optimism(
        more=more,
        less=less,
        part=part,
        cases=len(both),
        difference=float(spread.difference[0]),
        low=interval.low if has_interval else None,
        high=interval.high if has_interval else None,
        effective=float(effective[0]),
    )
