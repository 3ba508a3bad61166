"""The quality of the last list of a session: the expected text's rank, the list's length, and the typing saved.

Ranks are 1-based. Every evaluated session is in the denominator of recall; a failure of the engine is a miss.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import log2

from ci_eval.core import scoring
from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import FAILED, LookupScore, SessionScore
from ci_eval.core.model.sessions import count_keys
from ci_eval.plugins.tasks.tokens import GRADED, TASK


def precision(session: SessionScore) -> Sequence[Observation]:
    """Return found / answered. Only non-empty answers are in the denominator; without any, the metric is 0."""
    return [(float(scoring.rank_of(session) is not None), 1.0)] if scoring.has_answer(session) else []


def suggestion_precision(session: SessionScore) -> Sequence[Observation]:
    """Return relevant suggestions / displayed suggestions, over the last lists.

    This is the precision of the thesis, |made and relevant| / |made|. At most one suggestion of a list is relevant, so
    the metric mainly tells how long the lists are.
    """
    last = _last_list(session)
    return [(float(scoring.rank_of(session) is not None), float(last.total))] if last else []


def _last_list(session: SessionScore) -> LookupScore | None:
    """Return the last list of the session, or None if the last lookup returned no suggestion."""
    last = session.lookups[-1] if session.lookups and session.status not in FAILED else None
    return last if last and last.total else None


def f_measure(session: SessionScore) -> Sequence[Observation]:
    """Return 2PR / (P + R), computed as 2 · found / (answered + asked): a ratio of sums over all evaluated sessions."""
    if not scoring.evaluated(session):
        return []
    # The harmonic mean of two ratios cannot be summed over sessions; this ratio of sums equals it.
    return [(2.0 * (scoring.rank_of(session) is not None), 1.0 + scoring.has_answer(session))]


def observe_rank(session: SessionScore) -> Sequence[Observation]:
    """Return the rank of the expected text. Sessions without the text are not counted, so read Recall as well."""
    rank = scoring.rank_of(session)
    return [] if rank is None else [(float(rank), 1.0)]


def gain(session: SessionScore) -> float:
    """Return 1 / log2(1 + rank), or 0 if the expected text is absent. This is NDCG with one relevant item."""
    rank = scoring.rank_of(session)
    return 0.0 if rank is None else 1 / log2(1 + rank)


def duplicate_share(session: SessionScore) -> Sequence[Observation]:
    """Return the share of suggestions in the last list that insert the same text as a suggestion above them.

    Sessions without a list are not in the denominator. All other sessions have the same weight.
    """
    last = _last_list(session)
    return [(last.duplicates / last.total, 1.0)] if last else []


def unneeded_import(session: SessionScore) -> Sequence[Observation]:
    """Return 1 if the first suggestion adds an import, else 0. The code already has all imports that it needs.

    Sessions without a list are not in the denominator.
    """
    if session.status in FAILED or not session.lookups or not session.lookups[session.until - 1].total:
        return []
    return [(float(session.lookups[session.until - 1].adds_import), 1.0)]


def accepted_right(session: SessionScore) -> Sequence[Observation]:
    """Return 1 if accepting a suggestion with the expected name restores the original file, else 0.

    Sessions in which no suggestion has that name are not in the denominator.
    """
    if session.status in FAILED or not session.lookups:
        return []
    last = session.lookups[session.until - 1]
    return [(float(last.rank is not None), 1.0)] if last.rank is not None or last.offered else []


def saved_effort(session: SessionScore) -> float:
    """Return 1 - i/L, or 0 if the expected text never came first. L is the length of the expected text; i is the length
    of the shortest prefix (which may be empty) at which the expected text came first.

    The deterministic user of Kharitonov et al., SIGIR 2013, takes only the first suggestion.
    """
    # A loop takes half the time of a generator, and a million sessions have one lookup each.
    for lookup in () if session.status in FAILED else session.lookups:
        if lookup.rank == 1:
            return max(0.0, 1 - len(lookup.prefix) / _length(session))
    return 0.0


def saved_typing(session: SessionScore) -> float:
    """Return 1 - i/L, or 0 if the expected text (of length L) was not accepted. i is the prefix length at acceptance.

    With a modelled user, this is the saved effort of that user (Kharitonov et al., SIGIR 2013: satisfied once, at i).
    """
    return 1 - len(taken.prefix) / _length(session) if (taken := _taken(session)) else 0.0


def _length(session: SessionScore) -> int:
    # A stored session may have an empty expected text; a length of 0 would cause a division by zero.
    return len(session.expected_text) or 1


def _taken(session: SessionScore) -> LookupScore | None:
    # A failed session saves nothing, even if earlier lookups of the session were answered.
    for lookup in () if session.status in FAILED else session.lookups:
        if lookup.selected:
            return lookup
    return None


def saved_keystrokes(session: SessionScore) -> float:
    """Return (L - keys) / L, where L is the length of the expected text. If it was accepted, `keys` = typed characters
    + steps from the highlighted suggestion + 1 to accept; if not, `keys` = L.

    Without a modelled user, only suggestions that save keys are accepted, so the result is never negative.
    """
    taken = _taken(session)
    if taken is None or not taken.rank:
        return 0.0
    length = _length(session)
    return (length - len(taken.prefix) - count_keys(taken.rank, taken.highlighted)) / length


_metric = partial(scoring.make_metric, of_the_user=True)
_of_list = partial(_metric, facts=scoring.facts_of_list)
_mean = partial(scoring.mean_over_sessions, of_the_user=True)
_mean_of_list = partial(_mean, facts=scoring.facts_of_list)
_saving = partial(scoring.mean_over_sessions, order=(5,), order_of_a_user=(0, 1))
_of_token = partial(scoring.mean_over_sessions, unit="score", of=TASK.unit, order=(5,))


def _of_grade(name: str, summary: str, grade: str) -> Metric:
    """Return the metric that is the mean of a grade over lookups. A failure or a missing prediction counts as 0."""
    return _of_token(name, summary, lambda session: scoring.grades_of(session).get(grade, 0.0), shown=True)


METRICS: tuple[Metric, ...] = (
    scoring.make_metric(
        "Sessions",
        "evaluated sessions",
        scoring.observe_each(lambda _: 1.0),
        "count",
        better="neither",
        order=(0,),
        statistic="count",
        without=0.0,
        of="either",
        facts=scoring.facts_of_list,
    ),
    scoring.recall_within(1),
    scoring.recall_within(5),
    _mean_of_list(
        "Recall",
        "share of sessions in which the expected text was suggested at all",
        lambda session: scoring.rank_of(session) is not None,
        order=(2,),
    ),
    _of_list(
        "Precision", "share of non-empty lists that contain the expected text", precision, order=(3,), without=0.0
    ),
    _metric(
        "SuggestionPrecision",
        "share of all suggestions shown that are the expected text",
        suggestion_precision,
        order=(3,),
        without=0.0,
    ),
    _of_list("FMeasure", "harmonic mean of Precision and Recall", f_measure, order=(3,)),
    _of_list(
        "MeanRank",
        "mean place (1 = first) of the expected text, over the sessions that found it",
        observe_rank,
        "rank",
        better="lower",
        bounds=(1.0, None),
        order=(4,),
        found_by_both=True,
    ),
    _mean_of_list(
        "MeanReciprocalRank",
        "mean of 1/place of the expected text, 0 if it is absent",
        scoring.reciprocal_rank,
        "score",
        order=(4,),
    ),
    _mean_of_list(
        "NDCG", "mean of 1/log2(1 + place) of the expected text, 0 if it is absent", gain, "score", order=(4,)
    ),
    _metric(
        "DuplicateShare",
        "mean share of the suggestions in a list that repeat an earlier suggestion",
        duplicate_share,
        better="lower",
        order=(6,),
    ),
    _of_list(
        "UnneededImportAt1",
        "share of lists whose first suggestion adds an import that the code does not need",
        unneeded_import,
        better="lower",
        order=(6,),
    ),
    _of_list(
        "AcceptedRight",
        "share of offered names whose acceptance restores the original file: nothing doubled, removed or added",
        accepted_right,
        order=(6,),
        found_by_both=True,
    ),
    _mean(
        "ESaved",
        "share of the text that was not typed yet when it first came first",
        saved_effort,
        order=(5,),
        summary_of_a_user="share of the text that was not typed yet when it first came first in any list",
    ),
    _saving(
        "TypingSaved",
        "share of the text taken from the list rather than typed, if taking it needs fewer keys",
        saved_typing,
        summary_of_a_user="share of the text taken from the list rather than typed",
    ),
    _saving(
        "KeystrokesSaved",
        "share of keys saved by selecting the text with the arrow keys, if that takes fewer keys than typing",
        saved_keystrokes,
        summary_of_a_user="share of keys saved by selecting the text with the arrow keys; below 0 if typing is shorter",
        # A user may accept a suggestion far down the list, which takes more keys than typing.
        bounds_of_a_user=(None, 1.0),
    ),
    _of_grade(
        "GradedReciprocalRank",
        f"mean of the highest (F1 of sub-tokens / place) among the first {GRADED} predictions",
        "f1.reciprocalRank",
    ),
    _of_grade("SubtokenF1At1", "mean F1 of sub-tokens of the first prediction", "f1"),
    _of_grade("SubtokenF1Best", f"mean of the best F1 of sub-tokens among the first {GRADED} predictions", "f1.best"),
    _of_grade(
        "GradedNDCG",
        f"NDCG of the first {GRADED} predictions: each gains what it adds to the best F1; ideal is an exact first one",
        "f1.ndcg",
    ),
    _of_grade("SubtokenLcsAt1", "as SubtokenF1At1, but the order of sub-tokens counts", "subtoken-lcs.f1"),
    _of_grade("SubtokenLcsBest", "as SubtokenF1Best, but the order of sub-tokens counts", "subtoken-lcs.f1.best"),
    _of_grade(
        "GradedReciprocalRankInOrder",
        "as GradedReciprocalRank, but the order of sub-tokens counts",
        "subtoken-lcs.f1.reciprocalRank",
    ),
    # Exactly one text is relevant: the masked one.
    _of_token(
        "MeanAveragePrecision",
        "mean average precision of the exact text; only one text is relevant, so this is the mean reciprocal rank",
        scoring.reciprocal_rank,
        facts=scoring.facts_of_list,
    ),
)
