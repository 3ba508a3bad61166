"""The scoring of a session for metrics, comparisons and pages."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import comb, fsum, sqrt
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from ci_eval.core.contracts import Band, Item, Metric, Observation, Task
from ci_eval.core.model import FAILED, UNASKED, Kind, MetricInfo, SessionScore, Status, Suggestion, Token, pick
from ci_eval.core.model.report import Responses
from ci_eval.core.model.sessions import status


def each_token(_text: str, tokens: Sequence[Token]) -> Iterator[Item]:
    return (
        Item(begin=token.offset, end=token.offset + len(token.text), text=token.text, properties=token.properties)
        for token in tokens
    )


def rank(expected: str, _prefix: str, shown: Sequence[Suggestion]) -> int | None:
    return next(
        (number for number, suggestion in enumerate(shown, 1) if suggestion.text == expected and not suggestion.tail),
        None,
    )


def begins(suggestion: Suggestion, typed: str) -> bool:
    # clangd prefixes displayed names with a space or a bullet.
    return (suggestion.label or suggestion.text).lstrip(" \u2022").lower().startswith(typed.lower())


SAME_MODULE, SAME_OBJECT, COMPILES = "sameModule", "sameObject", "compiles"
"""The grades of a suggestion that imports the expected name. sameModule: it imports from the same module as the code.
sameObject: it imports the same object from a module that re-exports it. compiles: it adds no syntax errors."""


def imports_right(grades: Mapping[str, float]) -> bool:
    return grades[SAME_MODULE] + grades[SAME_OBJECT] > 0


def rank_of_import(_expected: str, _prefix: str, shown: Sequence[Suggestion]) -> int | None:
    graded = ((number, suggestion.grades) for number, suggestion in enumerate(shown, 1) if suggestion.grades)
    return next((number for number, grades in graded if imports_right(grades)), None)


Observe = Callable[[SessionScore], Sequence[Observation]]


def evaluated(session: SessionScore) -> bool:
    """Return whether a session is evaluated. Sessions in which the engine failed are evaluated and count as misses."""
    return session.status not in UNASKED


def observe_session(metric: Metric, session: SessionScore) -> Sequence[Observation]:
    """Return the observations of a metric in a session; none if the metric is timed and the session is reused."""
    return () if metric.timed and session.reused else expect_metrics([metric], session)[0]


def observe_metrics(metrics: Sequence[Metric], session: SessionScore) -> Sequence[Sequence[Observation]]:
    return [observe_session(of, session) for of in metrics] if session.reused else expect_metrics(metrics, session)


def expect_metrics(metrics: Sequence[Metric], session: SessionScore) -> Sequence[Sequence[Observation]]:
    """Return the observations of each metric. With a modelled user, ratios are expectations over the possible courses
    of the session. Times are those of all lookups. If the engine failed, the session is a miss in every course."""
    if not session.courses or session.status in FAILED:
        return [metric.observe(session) for metric in metrics]
    observed, sessions = list[Sequence[Observation]](), list[SessionScore]()
    for course in session.courses:
        lookups = session.lookups[course.first : course.end]
        if not lookups:
            sessions.append(session)
            continue
        last = replace(lookups[-1], selected=course.taken)
        lookups = (*(replace(of, selected=False) if of.selected else of for of in lookups[:-1]), last)
        typed = len(lookups[0].prefix)
        sessions.append(replace(session, lookups=lookups, status=status(lookups), typed=typed, courses=()))
    # The shares sum to less than 1 if a user may never ask: that case does not count in the expectation.
    whole = fsum(course.share for course in session.courses)
    for metric in metrics:
        if metric.statistic != "ratio" or metric.info.unit == "ms":
            observed.append(metric.observe(session))
            continue
        possible = [metric.observe(followed) for followed in sessions]
        if all(seen == possible[0] for seen in possible):
            observed.append(possible[0])
            continue
        shares = [course.share / whole for course in session.courses]
        pairs = [
            (share * above, share * below)
            for share, seen in zip(shares, possible, strict=True)
            for above, below in seen
        ]
        # Rounding removes floating-point noise, so that a certain session counts as exactly one.
        observed.append(
            [(round(fsum(above for above, _ in pairs), DIGITS), round(fsum(below for _, below in pairs), DIGITS))]
        )
    return observed


DIGITS = 12


def rank_of(session: SessionScore) -> int | None:
    """Return the rank of the expected text in the last list; None if the text is absent or the engine failed."""
    lookups = session.lookups
    if not lookups or session.status in FAILED:
        return None
    # Skip `until` if there are no courses, since a million sessions may have a dozen metrics of ranks each.
    return lookups[session.until - 1 if session.courses else -1].rank


def facts_of_list(session: SessionScore) -> tuple[Status, int | None, bool, bool, bool]:
    """Return what most metrics of ranks depend on: the status, and for the last list the rank, whether it has any
    suggestion, whether it has the expected name, and whether its first suggestion adds an import."""
    if not session.lookups:
        return session.status, None, False, False, False
    last = session.lookups[-1]
    return session.status, last.rank, last.total > 0, last.offered, last.adds_import


RANK_BANDS = (
    Band(name="1", outcome="first", label="rank 1"),
    Band(name="2-5", outcome="near", label="rank 2-5"),
    Band(name="6-10", outcome="low", label="rank 6-10"),
    Band(name="11+", outcome="low", label="rank 11+"),
    Band(name="absent", outcome="absent"),
)
_LAST = (1, 5, 10)


def reciprocal_rank(session: SessionScore) -> float:
    rank = rank_of(session)
    return 1 / rank if rank else 0.0


def band_of_rank(session: SessionScore) -> Band:
    rank = rank_of(session)
    return RANK_BANDS[-1] if rank is None else RANK_BANDS[bisect_left(_LAST, rank)]


def grades_of(session: SessionScore) -> Mapping[str, float]:
    """Return the grades of the last lookup; {} if the engine failed or nothing is graded."""
    grades = session.lookups[session.until - 1].grades if session.lookups and session.status not in FAILED else None
    return grades or {}


def grade(session: SessionScore, name: str) -> Sequence[Observation]:
    """Return the grade of an evaluated session; 0 if the engine failed, or nothing if the session has no reference."""
    if not evaluated(session):
        return []
    grades = grades_of(session)
    if name in grades:
        return [(grades[name], 1.0)]
    return [(0.0, 1.0)] if session.status in FAILED and session.expected_text else []


def is_ungraded(session: SessionScore) -> bool:
    """Return whether a record's session is evaluated but has no grade, since it has neither a reference nor a judge."""
    is_record = session.properties.kind is Kind.RECORD
    return is_record and evaluated(session) and not session.expected_text and not grades_of(session)


def score(task: Task, session: SessionScore) -> float:
    """Return the score of a session from 0 to 1. The score is 0 if the engine failed or was not asked."""
    return 0.0 if session.status in FAILED or not evaluated(session) else task.score(session)


def band(task: Task, session: SessionScore) -> str:
    """Return the name of an evaluated session's band; "failed" and "no reference" are separate bands."""
    is_failed = session.status in FAILED and not is_ungraded(session)
    return FAILED_BAND if is_failed else task_band(task, session)


def task_band(task: Task, session: SessionScore) -> str:
    return UNGRADED_BAND if is_ungraded(session) else task.band(session).name


FAILED_BAND, UNGRADED_BAND = "failed", "no reference"


def outcome(task: Task, session: SessionScore) -> str:
    """Return the outcome of the band; "failed" if the engine failed; "skipped" if not evaluated or without a grade."""
    if session.status in FAILED:
        return "failed"
    return task.band(session).outcome if evaluated(session) and not is_ungraded(session) else "skipped"


class ResponseCounts:
    def __init__(self) -> None:
        self.finishes: Counter[str] = Counter()
        self.rules: Counter[str] = Counter()
        self.empty: Counter[str] = Counter()
        self.unreadable = 0

    def add(self, session: SessionScore) -> None:
        for lookup in session.lookups:
            if lookup.usage:
                self.finishes[lookup.usage.finish] += 1
                self.rules.update(lookup.usage.read)
        self.unreadable += session.status is Status.UNREADABLE
        last = session.lookups[-1] if session.lookups else None
        if last and last.usage and not last.total and session.status in {Status.EMPTY, Status.CUT_OFF}:
            self.empty[last.usage.finish] += 1

    def add_all(self, counts: ResponseCounts) -> None:
        self.finishes += counts.finishes
        self.rules += counts.rules
        self.empty += counts.empty
        self.unreadable += counts.unreadable

    def figures(self) -> Responses | None:
        if not self.finishes:
            return None
        finishes, rules, empty = (dict(sorted(of.items())) for of in (self.finishes, self.rules, self.empty))
        return Responses(finishes=finishes, rules=rules, empty=empty, unreadable=self.unreadable)


def shown_rank(task: Task, session: SessionScore) -> int | None:
    """Return the rank of the expected text; None if the task plays its items, which have several lists each."""
    return None if task.play else rank_of(session)


def has_answer(session: SessionScore) -> bool:
    return session.status in ANSWERED


ANSWERED = frozenset({Status.OK, Status.NO_MATCH, Status.CUT_OFF})


def answers(session: SessionScore, rounds: int) -> Iterator[SessionScore]:
    """Yield the session as it was in each round. A round with the same results as the first is not stored again."""
    later = {answer.round: answer for answer in session.otherwise}
    for number in range(rounds):
        answer = later.get(number)
        if answer is None:
            yield session
            continue
        # Later rounds are stored without suggestions, so the copy is a SessionScore even if `session` is a Session.
        fields = pick(session, *SessionScore.__struct_fields__)
        yield SessionScore(**fields | pick(answer, "status", "lookups", "courses") | {"otherwise": ()})


def observe_rounds(metric: Metric, session: SessionScore, rounds: int) -> list[Sequence[Observation]]:
    if metric.by_round:
        return list(metric.by_round(session, rounds))
    return [observe_session(metric, answer) for answer in answers(session, rounds)]


class PassAt(msgspec.Struct, frozen=True):
    """The probability that at least one of k answers passes, in sessions that were asked more than k times. If c of the
    n answers of all rounds pass, 1 - C(n - c, k) / C(n, k) is an unbiased estimate (Chen et al. 2021, "Evaluating Large
    Language Models Trained on Code", equation 1)."""

    k: int
    passed: Callable[[SessionScore], bool | None]
    """A function: the session of one round → whether its answer passed; None if that is unknown."""

    def observe(self, session: SessionScore) -> Sequence[Observation]:
        """Return the estimate; nothing if the session is not evaluated or has at most k known results."""
        known = [result for result in self._results(session, session.rounds) if result is not None]
        return [(self._chance(len(known), sum(known)), 1.0)] if evaluated(session) and len(known) > self.k else []

    def by_round(self, session: SessionScore, rounds: int) -> Iterator[Sequence[Observation]]:
        """Yield a value for each round. The mean of the values is the estimate; their spread shows the noise."""
        results = self._results(session, rounds)
        known = [result for result in results if result is not None]
        count, passes = len(known), sum(known)
        if not self.observe(session):
            yield from ([] for _ in results)
            return
        estimate = self._chance(count, passes)
        # With this factor, the variance over the rounds leads to the jackknife variance of the estimate.
        unit = sqrt((rounds - 1) * (count - 1) / count)
        for result in results:
            without = estimate if result is None else self._chance(count - 1, passes - result)
            yield [(estimate + unit * (estimate - without), 1.0)]

    def _results(self, session: SessionScore, rounds: int) -> list[bool | None]:
        return [self.passed(answer) for answer in answers(session, rounds)]

    def _chance(self, count: int, passes: int) -> float:
        return 1 - comb(count - passes, self.k) / comb(count, self.k)


def make_metric(
    name: str,
    summary: str,
    observe: Observe,
    unit: str = "share",
    *,
    better: Literal["higher", "lower", "neither"] = "higher",
    shown: bool = False,
    bounds: tuple[float | None, float | None] | None = None,
    **facts: Any,
) -> Metric:
    """Return a metric. `facts` are fields of `Metric`; most other arguments are fields of `MetricInfo`."""
    info = MetricInfo(name=name, summary=summary, unit=unit, better=better, shown=shown, bounds=bounds)
    return Metric(info=info, observe=observe, **facts)


def observe_each(value: Callable[[SessionScore], float]) -> Observe:
    # This inlines `evaluated`, since a million sessions may have a dozen such metrics each.
    return lambda session: [] if session.status in UNASKED else [(float(value(session)), 1.0)]


def observe_present(key: str) -> Observe:
    """Return a function that observes a grade in the evaluated sessions that have this grade."""

    def observe(session: SessionScore) -> Sequence[Observation]:
        grades = grades_of(session)
        return [(grades[key], 1.0)] if evaluated(session) and key in grades else []

    return observe


def observe_withheld(session: SessionScore) -> Sequence[Observation]:
    """Return an observation if the record has no reference. Such records do not count in similarities."""
    return [(1.0, 1.0)] if evaluated(session) and not session.expected_text else []


def mean_over_sessions(
    name: str, summary: str, value: Callable[[SessionScore], float], unit: str = "share", **facts: Any
) -> Metric:
    """Return a metric that is the mean of `value` over all evaluated sessions; higher is better."""
    return make_metric(name, summary, observe_each(value), unit, **facts)


def recall_within(
    k: int,
    name: str = "RecallAt",
    summary: str = "share of sessions in which the expected text stood PLACE",
    **info: Any,
) -> Metric:
    """Return a metric: the share of sessions whose expected text is among the first `k` suggestions. Empty and failed
    answers count as misses. In `summary`, PLACE is replaced by "first" or "among the first K"."""

    def hit(session: SessionScore) -> bool:
        rank = rank_of(session)
        return rank is not None and rank <= k

    summary = summary.replace("PLACE", "first" if k == 1 else f"among the first {k}")
    return mean_over_sessions(
        f"{name}{k}", summary, hit, facts=facts_of_list, **info or {"order": (1, k), "of_the_user": True}
    )
