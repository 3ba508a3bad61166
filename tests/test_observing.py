"""How a session went, in the words of reports."""

from __future__ import annotations

import pytest

from ci_eval.model import Kind, LookupScore, Properties, SessionScore, Status
from ci_eval.observing import answered, band, evaluated, outcome, rank_of, score, shown_rank
from ci_eval.tasks import completion, golf


def session(status: Status, *ranks: int | None) -> SessionScore:
    lookups = tuple(LookupScore(prefix="", rank=rank, total=9, latency=1.0) for rank in ranks)
    properties = Properties(kind=Kind.FIELD)
    return SessionScore(
        id="1", file="a", offset=0, expected_text="x", properties=properties, status=status, lookups=lookups
    )


def test_the_rank_is_that_of_the_last_lookup_and_of_nothing_that_failed() -> None:
    assert rank_of(session(Status.OK, 4, 2)) == 2
    assert rank_of(session(Status.NO_MATCH, 1, None)) is None
    assert rank_of(session(Status.TIMEOUT, 1)) is None
    assert rank_of(session(Status.SKIPPED)) is None


@pytest.mark.parametrize(
    ("status", "rank", "expected"),
    [
        (Status.OK, 1, (True, True, "1", "first")),
        (Status.NO_MATCH, None, (True, True, "absent", "absent")),
        (Status.EMPTY, None, (True, False, "absent", "absent")),
        (Status.ENGINE_CRASH, None, (True, False, "failed", "failed")),
    ],
)
def test_a_session_is_evaluated_answered_and_in_a_band(
    status: Status, rank: int | None, expected: tuple[bool, bool, str, str]
) -> None:
    found = session(status, rank)
    assert (
        evaluated(found),
        answered(found),
        band(completion.TASK, found),
        outcome(completion.TASK, found),
    ) == expected


def test_what_was_not_asked_is_neither_evaluated_nor_a_failure() -> None:
    skipped = session(Status.SKIPPED)
    assert (evaluated(skipped), outcome(completion.TASK, skipped), score(completion.TASK, skipped)) == (
        False,
        "skipped",
        0.0,
    )


def test_one_rank_does_not_sum_up_a_line() -> None:
    assert shown_rank(completion.TASK, session(Status.OK, 3)) == 3
    assert shown_rank(golf.TASK, session(Status.OK, 3)) is None
