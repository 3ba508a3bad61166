"""How a session went, in the words of reports."""

from __future__ import annotations

import math
from itertools import combinations, product
from statistics import fmean, variance

import msgspec
import pytest

from ci_eval.core.model import Kind, LookupScore, Otherwise, Properties, SessionScore, Status, Suggestion
from ci_eval.core.model.sessions import status
from ci_eval.core.scoring import PassAt, band, evaluated, has_answer, outcome, rank, rank_of, score, shown_rank
from ci_eval.plugins.tasks import completion, golf


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
    first_hit = session(status, rank)
    assert (
        evaluated(first_hit),
        has_answer(first_hit),
        band(completion.COMPLETION, first_hit),
        outcome(completion.COMPLETION, first_hit),
    ) == expected


def test_what_was_not_asked_is_neither_evaluated_nor_a_failure() -> None:
    skipped = session(Status.SKIPPED)
    assert (evaluated(skipped), outcome(completion.COMPLETION, skipped), score(completion.COMPLETION, skipped)) == (
        False,
        "skipped",
        0.0,
    )


def test_one_rank_does_not_sum_up_a_line() -> None:
    assert shown_rank(completion.COMPLETION, session(Status.OK, 3)) == 3
    assert shown_rank(golf.TASK, session(Status.OK, 3)) is None


def asked(*passed: bool) -> SessionScore:
    """A session that found the text in some rounds and not in others."""
    first, *others = (session(Status.OK, 1 if each else None) for each in passed)
    otherwise = tuple(
        Otherwise(round=number, status=Status.OK, lookups=each.lookups)
        for number, each in enumerate(others, 1)
        if each.lookups != first.lookups
    )
    return msgspec.structs.replace(first, rounds=len(passed), otherwise=otherwise)


def first_hit(each: SessionScore) -> bool:
    return rank_of(each) == 1


class TestPassAt:
    @pytest.mark.parametrize(("count", "k"), [(2, 1), (5, 2), (6, 5)])
    def test_it_is_the_share_of_all_choices_of_k_answers_in_which_one_passes(self, count: int, k: int) -> None:
        for passed in product([False, True], repeat=count):
            share = fmean(any(chosen) for chosen in combinations(passed, k))
            ((chance, _),) = PassAt(k, first_hit).observe(asked(*passed))
            assert chance == pytest.approx(share)

    def test_sessions_asked_no_more_than_k_times_are_not_observed(self) -> None:
        assert PassAt(2, first_hit).observe(asked(True, False)) == []
        assert list(PassAt(2, first_hit).by_round(asked(True, False), 2)) == [[], []]
        assert PassAt(1, lambda _: None).observe(asked(True, False)) == []

    def test_of_one_answer_its_noise_is_that_of_a_mean(self) -> None:
        passed = (True, False, False, True, True)
        seen = [value for [(value, _)] in PassAt(1, first_hit).by_round(asked(*passed), 5)]
        assert fmean(seen) == pytest.approx(3 / 5)
        assert variance(seen) == pytest.approx(variance(map(float, passed)) / 5)

    def test_of_more_answers_its_noise_is_about_the_variance_of_the_estimate(self) -> None:
        """Of all outcomes of 12 rounds, weighted by how likely each is where 3 answers in 10 pass."""
        of, chance, k = 12, 0.3, 3
        likely, means, variances = [], [], []
        for passes in range(of + 1):
            it = asked(*[True] * passes, *[False] * (of - passes))
            likely.append(math.comb(of, passes) * chance**passes * (1 - chance) ** (of - passes))
            means.append(PassAt(k, first_hit).observe(it)[0][0])
            variances.append(variance(value for [(value, _)] in PassAt(k, first_hit).by_round(it, of)))
        mean = sum(map(float.__mul__, likely, means))
        true = sum(weight * (each - mean) ** 2 for weight, each in zip(likely, means, strict=True))
        assert mean == pytest.approx(1 - (1 - chance) ** k)
        assert sum(map(float.__mul__, likely, variances)) == pytest.approx(true, rel=0.15)

    def test_a_round_that_cannot_be_told_is_left_out(self) -> None:
        def told(each: SessionScore) -> bool | None:
            return None if rank_of(each) == 2 else rank_of(each) == 1

        it = msgspec.structs.replace(
            asked(True, False, False),
            otherwise=(
                Otherwise(round=1, status=Status.OK, lookups=session(Status.OK, 2).lookups),
                Otherwise(round=2, status=Status.OK, lookups=session(Status.OK, None).lookups),
            ),
        )
        assert PassAt(1, told).observe(it) == [(0.5, 1.0)]
        seen = [value for [(value, _)] in PassAt(1, told).by_round(it, 3)]
        assert seen[1] == 0.5
        assert variance(seen) == pytest.approx(variance([1.0, 0.0]) / 2)


def shown(*texts: str) -> list[Suggestion]:
    return [Suggestion(text=text) for text in texts]


def test_of_equal_suggestions_the_first_counts() -> None:
    assert rank("b", "", shown("a", "b", "b")) == 2
    assert rank("b", "", shown("B", "bb")) is None


@pytest.mark.parametrize(
    ("total", "place", "expected"), [(3, 2, Status.OK), (3, None, Status.NO_MATCH), (0, None, Status.EMPTY)]
)
def test_a_session_is_as_its_last_lookup(total: int, place: int | None, expected: Status) -> None:
    earlier = LookupScore(prefix="", total=9, rank=1, latency=1.0)
    assert status([earlier, LookupScore(prefix="x", total=total, rank=place, latency=1.0)]) == expected
