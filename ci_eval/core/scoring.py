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
from ci_eval.core.model import FAILED, UNASKED, Kind, MetricInfo, SessionScore, Status, Suggestion, Token
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
    # clangd puts a sign before the names that it shows.
    return (suggestion.label or suggestion.text).lstrip(" \u2022").lower().startswith(typed.lower())


SAME_MODULE, SAME_OBJECT, COMPILES = "sameModule", "sameObject", "compiles"
"""The grades of a suggestion that imports the expected name: whether it uses the same module as the code, whether
another module re-exports the same object, and whether the file has no more syntax errors than before."""


def imports_right(grades: Mapping[str, float]) -> bool:
    return grades[SAME_MODULE] + grades[SAME_OBJECT] > 0


def rank_of_import(_expected: str, _prefix: str, shown: Sequence[Suggestion]) -> int | None:
    graded = ((number, suggestion.grades) for number, suggestion in enumerate(shown, 1) if suggestion.grades)
    return next((number for number, grades in graded if imports_right(grades)), None)


Observe = Callable[[SessionScore], Sequence[Observation]]


def evaluated(session: SessionScore) -> bool:
    """Return whether a session is evaluated. A failure of the engine is evaluated, too: it counts as a miss."""
    return session.status not in UNASKED


def observe_session(metric: Metric, session: SessionScore) -> Sequence[Observation]:
    """Return the observations of a metric in a session; no times if the session was not asked in this run."""
    return () if metric.timed and session.reused else expect_metrics([metric], session)[0]


def observe_metrics(metrics: Sequence[Metric], session: SessionScore) -> Sequence[Sequence[Observation]]:
    if session.reused:
        return [observe_session(metric, session) for metric in metrics]
    return expect_metrics(metrics, session)


def expect_metrics(metrics: Sequence[Metric], session: SessionScore) -> Sequence[Sequence[Observation]]:
    """Return the observations of each metric: if a modelled user decides how the session goes, their expectation. A
    session on which the engine failed is a miss whatever the user does, and times are of all lookups."""
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
    # Some users may never ask, and such a session does not count: the expectation is over the others.
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
        # Without the noise of the last digits, what is certain counts as one session.
        observed.append(
            [(round(fsum(above for above, _ in pairs), DIGITS), round(fsum(below for _, below in pairs), DIGITS))]
        )
    return observed


DIGITS = 12


def rank_of(session: SessionScore) -> int | None:
    """Return the rank of the expected text at the last lookup; None if the text is absent or the engine failed."""
    is_known = session.lookups and session.status not in FAILED
    return session.lookups[session.until - 1].rank if is_known else None


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
    """Return the grades of the last lookup; none if the engine failed, or nothing is graded."""
    grades = session.lookups[session.until - 1].grades if session.lookups and session.status not in FAILED else None
    return grades or {}


def grade(session: SessionScore, name: str) -> Sequence[Observation]:
    """Return the grade of an evaluated session, 0 if the engine failed; nothing if the reference is withheld."""
    if not evaluated(session):
        return []
    grades = grades_of(session)
    if name in grades:
        return [(grades[name], 1.0)]
    return [(0.0, 1.0)] if session.status in FAILED and session.expected_text else []


def is_ungraded(session: SessionScore) -> bool:
    """Return whether an evaluated session of a record has no grade: no reference is known, and no judge was asked."""
    is_record = session.properties.kind is Kind.RECORD
    return is_record and evaluated(session) and not session.expected_text and not grades_of(session)


def score(task: Task, session: SessionScore) -> float:
    """Return the score from 0 to 1; 0 if the engine failed or was not asked."""
    return 0.0 if session.status in FAILED or not evaluated(session) else task.score(session)


def band(task: Task, session: SessionScore) -> str:
    """Return the name of the evaluated session's band, or `failed`, or `no reference`."""
    is_failed = session.status in FAILED and not is_ungraded(session)
    return FAILED_BAND if is_failed else task_band(task, session)


def task_band(task: Task, session: SessionScore) -> str:
    return UNGRADED_BAND if is_ungraded(session) else task.band(session).name


FAILED_BAND, UNGRADED_BAND = "failed", "no reference"


def outcome(task: Task, session: SessionScore) -> str:
    """Return the outcome of the session's band, or `failed`; `skipped` if it was not evaluated or has no grade."""
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
    """Return the rank of the expected text; None for tasks that play their items, since one rank cannot sum them up."""
    return None if task.play else rank_of(session)


def has_answer(session: SessionScore) -> bool:
    return session.status in ANSWERED


ANSWERED = frozenset({Status.OK, Status.NO_MATCH, Status.CUT_OFF})


def answers(session: SessionScore, rounds: int) -> Iterator[SessionScore]:
    """Yield the session of each round. If a round went like the first one, yield the session of the first round."""
    later = {answer.round: answer for answer in session.otherwise}
    for number in range(rounds):
        answer = later.get(number)
        if answer is None:
            yield session
            continue
        # Other rounds are stored without suggestions, so the copy of a Session is a plain SessionScore.
        fields = {name: getattr(session, name) for name in SessionScore.__struct_fields__}
        changed = {"status": answer.status, "lookups": answer.lookups, "courses": answer.courses, "otherwise": ()}
        yield SessionScore(**fields | changed)


def observe_rounds(metric: Metric, session: SessionScore, rounds: int) -> list[Sequence[Observation]]:
    if metric.by_round:
        return list(metric.by_round(session, rounds))
    return [observe_session(metric, answer) for answer in answers(session, rounds)]


class PassAt(msgspec.Struct, frozen=True):
    """The chance that at least one of k answers passes, in sessions that were asked more than k times. Estimated
    without bias from the n answers of all rounds, of which c pass: 1 - C(n - c, k) / C(n, k) (Chen et al. 2021,
    "Evaluating Large Language Models Trained on Code", equation 1)."""

    k: int
    passed: Callable[[SessionScore], bool | None]
    """A function: the session as it went in one round → whether it passed; None if that is unknown."""

    def observe(self, session: SessionScore) -> Sequence[Observation]:
        """Return the estimate for an evaluated session with more than k known answers; else nothing."""
        known = [result for result in self._results(session, session.rounds) if result is not None]
        return [(self._chance(len(known), sum(known)), 1.0)] if evaluated(session) and len(known) > self.k else []

    def by_round(self, session: SessionScore, rounds: int) -> Iterator[Sequence[Observation]]:
        """Yield the estimate for each round, moved so that the variance of rounds is that of the jackknife."""
        results = self._results(session, rounds)
        known = [result for result in results if result is not None]
        count, passes = len(known), sum(known)
        if not self.observe(session):
            yield from ([] for _ in results)
            return
        estimate = self._chance(count, passes)
        # The variance over the rounds of what is yielded is then the jackknife's variance of the estimate.
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
    """Return a metric. `facts` are fields of `Metric`, the others of `MetricInfo`."""
    info = MetricInfo(name=name, summary=summary, unit=unit, better=better, shown=shown, bounds=bounds)
    return Metric(info=info, observe=observe, **facts)


def observe_each(value: Callable[[SessionScore], float]) -> Observe:
    # As `evaluated` says, without a call: there are a dozen of these for each of a million sessions.
    return lambda session: [] if session.status in UNASKED else [(float(value(session)), 1.0)]


def observe_present(key: str) -> Observe:
    """Return a function that observes a grade in the evaluated sessions that have it."""

    def observe(session: SessionScore) -> Sequence[Observation]:
        grades = grades_of(session)
        return [(grades[key], 1.0)] if evaluated(session) and key in grades else []

    return observe


def observe_withheld(session: SessionScore) -> Sequence[Observation]:
    """Return an observation of a record without a reference, which similarities leave out."""
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
    **facts: Any,
) -> Metric:
    """Return a metric: the share of sessions whose expected text is among the first `k`. Empty and failed answers count
    as misses. `summary`: PLACE becomes `first` or `among the first K`."""

    def hit(session: SessionScore) -> bool:
        rank = rank_of(session)
        return rank is not None and rank <= k

    summary = summary.replace("PLACE", "first" if k == 1 else f"among the first {k}")
    return mean_over_sessions(f"{name}{k}", summary, hit, **facts or {"order": (1, k), "of_the_user": True})
