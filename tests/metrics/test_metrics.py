"""The formulas, on sessions small enough to check by hand."""

from __future__ import annotations

from math import log2

import pytest
from msgspec.structs import replace

from ci_eval.core.catalogs import metrics
from ci_eval.core.contracts import Metric
from ci_eval.core.model import Kind, LookupScore, Properties, SessionScore, Status
from ci_eval.core.model.sessions import Course
from ci_eval.core.scoring import observe_metrics
from ci_eval.core.statistics.stats import Collector, Observations, estimate, pack_location
from ci_eval.plugins.metrics.models import is_right

METRICS = {metric.info.name: metric for metric in metrics.load()}


def lookup(
    rank: int | None, *, prefix: str = "", total: int = 10, selected: bool = False, ms: float = 1.0
) -> LookupScore:
    return LookupScore(prefix=prefix, total=total, rank=rank, latency=ms, selected=selected)


def session(*lookups: LookupScore, text: str = "append", status: Status | None = None) -> SessionScore:
    last = lookups[-1] if lookups else None
    found = Status.OK if last and last.rank else Status.NO_MATCH if last and last.total else Status.EMPTY
    return SessionScore(
        id="0",
        file="a.py",
        offset=0,
        expected_text=text,
        properties=Properties(kind=Kind.FIELD),
        status=status or found,
        lookups=lookups,
    )


def value(name: str, *sessions: SessionScore) -> float | None:
    seen = Observations(METRICS[name])
    collector = Collector([seen])
    for file, each in enumerate(sessions):
        collector.add(pack_location(file), [METRICS[name].observe(each)])
    collector.flush_observations()
    return estimate(seen, 1).value


# Expected text at places 1, 3 and 5, and absent.
FOUR = [session(lookup(rank)) for rank in (1, 3, 5, None)]


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("Sessions", 4),
        ("RecallAt1", 0.25),
        ("RecallAt5", 0.75),
        ("Recall", 0.75),
        ("Precision", 0.75),
        ("FMeasure", 0.75),
        ("MeanRank", 3.0),
        ("MeanReciprocalRank", (1 + 1 / 3 + 1 / 5) / 4),
        ("NDCG", (1 + 1 / 2 + 1 / log2(6)) / 4),
        ("ESaved", 0.25),
    ],
)
def test_the_figure_is_the_formula(name: str, figure: float) -> None:
    assert value(name, *FOUR) == pytest.approx(figure)


def test_an_empty_answer_is_a_miss_for_recall_and_nothing_for_precision() -> None:
    two = [session(lookup(1)), session(lookup(None, total=0))]
    assert value("Recall", *two) == 0.5
    assert value("Precision", *two) == 1.0
    assert value("FMeasure", *two) == pytest.approx(2 * 0.5 * 1.0 / 1.5)


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.ENGINE_CRASH, Status.ERROR])
def test_a_failed_session_saves_nothing(status: Status) -> None:
    failed = session(lookup(1, selected=True), status=status)
    assert [value(name, failed) for name in ("ESaved", "TypingSaved", "KeystrokesSaved")] == [0, 0, 0]


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.ENGINE_CRASH, Status.ERROR])
def test_a_failed_session_is_a_miss(status: Status) -> None:
    assert value("RecallAt1", session(lookup(1)), session(lookup(1), status=status)) == 0.5
    assert value("Sessions", session(status=status)) == 1


def test_a_skipped_session_is_in_no_denominator() -> None:
    assert value("RecallAt1", session(lookup(1)), session(status=Status.SKIPPED)) == 1.0
    assert value("Sessions", session(status=Status.SKIPPED)) == 0


def test_mean_rank_is_none_where_nothing_was_found() -> None:
    assert value("MeanRank", session(lookup(None))) is None


def test_nothing_offered_has_precision_zero() -> None:
    assert value("Precision", session(lookup(None, total=0))) == 0.0


def test_rank_metrics_look_at_the_last_lookup() -> None:
    assert value("RecallAt1", session(lookup(1), lookup(7, prefix="a"))) == 0.0


def test_effort_saved_is_what_was_left_to_type_when_it_first_stood_first() -> None:
    typed = session(lookup(9), lookup(2, prefix="a"), lookup(1, prefix="ap"), lookup(1, prefix="app"))
    assert value("ESaved", typed) == pytest.approx(1 - 2 / 6)


def test_keystrokes_are_typed_characters_and_steps_and_one_to_accept() -> None:
    # append: 2 typed + 1 step down + 1 to accept = 4 of 6 keys.
    taken = session(lookup(9), lookup(2, prefix="ap", selected=True))
    assert value("KeystrokesSaved", taken) == pytest.approx((6 - 4) / 6)
    assert value("KeystrokesSaved", session(lookup(9))) == 0.0


def test_keystrokes_are_counted_from_the_highlighted_suggestion() -> None:
    # append: 2 typed + 1 step up + 1 to accept = 4 of 6 keys.
    taken = session(replace(lookup(2, prefix="ap", selected=True), highlighted=2))
    assert value("KeystrokesSaved", taken) == pytest.approx((6 - 4) / 6)


def test_duplicates_are_a_share_of_each_list() -> None:
    lists = [
        session(replace(lookup(1, total=4), duplicates=3)),
        session(lookup(1, total=100)),
        session(lookup(None, total=0)),
    ]
    assert value("DuplicateShare", *lists) == pytest.approx((3 / 4 + 0) / 2)
    assert value("DuplicateShare", session(lookup(None, total=0))) is None


def test_typing_saved_is_what_was_not_typed_when_it_was_taken_at_whatever_place() -> None:
    taken = session(lookup(1), lookup(7, prefix="ap", selected=True))
    assert value("TypingSaved", taken) == pytest.approx(1 - 2 / 6)
    assert value("TypingSaved", session(lookup(1))) == 0.0


def test_the_precision_of_suggestions_is_relevant_shown_of_all_shown() -> None:
    lists = [session(lookup(3, total=4)), session(lookup(None, total=6)), session(lookup(None, total=0))]
    assert value("SuggestionPrecision", *lists, session(lookup(1), status=Status.TIMEOUT)) == 1 / 10
    assert value("Precision", *lists) == 1 / 2


def test_recall_is_taken_at_any_place_in_order() -> None:
    found = {metric.info.name: metric for metric in metrics.load([10, 3])}
    assert list(found)[1:5] == ["RecallAt1", "RecallAt3", "RecallAt5", "RecallAt10"]
    assert [sum(found["RecallAt3"].observe(each)[0][0] for each in FOUR)] == [2]


def test_metrics_are_known_by_their_names_at_whatever_places() -> None:
    found = metrics.among(["MeanLatency", "RecallAt10", "RecallAtAll", "RecallAt5"])
    assert {name: info.unit for name, info in found.items()} == {
        "RecallAt5": "share", "RecallAt10": "share", "MeanLatency": "ms",
    }  # fmt: skip


def test_with_a_user_saved_effort_leads_and_ranks_are_marked() -> None:
    shown = [metric.info for metric in metrics.load(user=True)]
    assert [info.name for info in shown[:3]] == ["Sessions", "TypingSaved", "KeystrokesSaved"]
    marked = {info.name for info in shown if "depends on where the modelled user stops" in info.summary}
    assert {"RecallAt1", "MeanRank", "Precision", "ESaved"} <= marked
    assert not marked & {"Sessions", "TypingSaved", "KeystrokesSaved", "MeanLatency"}


@pytest.mark.parametrize(
    ("user", "emulated", "keys", "where"),
    [
        (False, False, "if that takes fewer keys than typing", ""),
        (True, False, "below 0 if typing is shorter", "depends on where the modelled user stops"),
        (True, True, "below 0 if typing is shorter", "depends on where emulated typing stops"),
    ],
)
def test_summaries_know_the_condition_that_figures_were_made_under(
    user: bool, emulated: bool, keys: str, where: str
) -> None:
    summaries = {metric.info.name: metric.info.summary for metric in metrics.load(user=user, emulated=emulated)}
    assert summaries["KeystrokesSaved"].endswith(keys)
    assert summaries["ESaved"].endswith(where or "when it first came first")


OF_USERS = [metric for metric in metrics.load(user=True) if metric.of in {"tokens", "either"}]
"""The metrics of the task in which users are modelled."""


@pytest.mark.parametrize("metric", OF_USERS, ids=lambda metric: metric.info.name)
def test_summaries_with_a_user_say_which_lists_decide(metric: Metric) -> None:
    firsts, lasts = (
        [
            replace(lookup(rank, prefix=prefix, total=total), duplicates=total // 3)
            for rank, total in ((1, 4), (3, 4), (None, 7), (None, 0))
        ]
        for prefix in ("", "a")
    )
    alone = [list(metric.observe(session(first))) for first in firsts]
    seen = [[list(metric.observe(session(first, last))) for last in lasts] for first in firsts]
    depends = any(observed != [shorter] * len(lasts) for shorter, observed in zip(alone, seen, strict=True))
    reads_last_alone = depends and all(observed == seen[0] for observed in seen)
    # Times have no list that decides.
    if metric.info.unit != "ms":
        assert ("depends on where the modelled user stops" in metric.info.summary) is depends
        assert ("in the last list" in metric.info.summary) is reads_last_alone


VARIED = [
    replace(session(*before, replace(last, offered=bool(offered), adds_import=offered is None), status=end), **user)
    for last in (lookup(1, total=1), lookup(1, prefix="ap"), lookup(4), lookup(None, prefix="a"), lookup(None, total=0))
    for offered in (False, True, None)
    for end in (None, Status.TIMEOUT, Status.CUT_OFF, Status.SKIPPED)
    for before in ((), (lookup(2, total=5, selected=True),))
    for user in ({}, {"reused": True}, {"courses": (Course(0, 1, taken=True, share=0.4),)})
]


@pytest.mark.parametrize("unit", sorted({metric.of for metric in METRICS.values()}))
def test_metrics_that_observe_equal_facts_once_observe_the_same(unit: str) -> None:
    known = [metric for metric in METRICS.values() if metric.of in {unit, "either"}]
    collector, plain = (Collector([Observations(metric) for metric in known]) for _ in range(2))
    for number, session in enumerate(VARIED):
        collector.observe(number, session)
        plain.add(number, observe_metrics(known, session))
    for column, expected in zip(collector.take(), plain.take(), strict=True):
        assert column.tolist() == expected.tolist()


def test_latencies_are_over_all_lookups_by_nearest_rank() -> None:
    many = [
        session(*(lookup(1, ms=float(ms)) for ms in range(1, 11))),
        session(*(lookup(1, ms=float(ms)) for ms in range(11, 21))),
    ]
    assert value("MeanLatency", *many) == 10.5
    assert value("MaxLatency", *many) == 20
    assert value("LatencyPercentile50", *many) == 10
    assert value("LatencyPercentile95", *many) == 19


FIRST = "Sessions"
RECALL = "RecallAt1 RecallAt5"
MORE_RECALL = "RecallAt1 RecallAt3 RecallAt5 RecallAt10"
RANKS = "Recall Precision SuggestionPrecision FMeasure MeanRank MeanReciprocalRank NDCG ESaved"
SAVED = "TypingSaved KeystrokesSaved"
LAST = (
    "DuplicateShare UnneededImportAt1 AcceptedRight TotalMoves MovesCountNormalised PerfectLine RightWithin100ms "
    "RightWithin200ms MeanLatency MaxLatency LatencyPercentile50 LatencyPercentile95 FirstCallLatency CpuPerLookup "
    "CpuPercentile95"
)


@pytest.mark.parametrize(
    ("places", "user", "order"),
    [
        ([], False, [FIRST, RECALL, RANKS, SAVED, LAST]),
        ([10, 3], False, [FIRST, MORE_RECALL, RANKS, SAVED, LAST]),
        ([], True, [FIRST, SAVED, RECALL, RANKS, LAST]),
        ([10, 3, 10], True, [FIRST, SAVED, MORE_RECALL, RANKS, LAST]),
    ],
)
def test_reports_of_completion_show_every_metric_in_this_order(places: list[int], user: bool, order: list[str]) -> None:
    loaded = metrics.load(places, user=user)
    shown = [metric.info.name for metric in loaded if metric.of in {"tokens", "lines", "either"}]
    assert shown == " ".join(order).split()


def test_what_a_modelled_user_gets_out_of_it_says_so_itself() -> None:
    assert metrics.list_user_metrics() == SAVED.split()


def line(*lookups: LookupScore, askable: int = 4) -> SessionScore:
    return replace(session(*lookups, text="return name"), askable=askable)


def taken(rank: int, accepted: int) -> LookupScore:
    return replace(lookup(rank, selected=True), accepted=accepted)


def test_a_line_that_the_first_suggestion_completes_takes_two_moves() -> None:
    assert value("TotalMoves", line(taken(1, 11))) == 2
    assert value("MovesCountNormalised", line(taken(1, 11))) == 0
    assert value("PerfectLine", line(taken(1, 11))) == 1


def test_a_line_without_suggestions_takes_a_move_per_character_and_call() -> None:
    assert value("TotalMoves", line(*[lookup(None)] * 4)) == 15
    assert value("MovesCountNormalised", line(*[lookup(None)] * 4)) == 1


def test_moves_are_characters_calls_steps_and_enters_summed_over_lines() -> None:
    played = line(lookup(None), taken(3, 5))
    assert value("TotalMoves", played, played) == 2 * (6 + 2 + 2 + 1)
    assert value("MovesCountNormalised", played, line(taken(1, 11))) == pytest.approx(9 / 26)
    assert value("PerfectLine", played) == 0


def suggested(
    *, line: int = 0, right: int = 0, prefix: str = "", total: int = 1, status: Status | None = None
) -> SessionScore:
    """Of a span of 30 characters, of whose first suggestion that many are right."""
    last = replace(lookup(None, prefix=prefix, total=total), grades={"firstLine": float(line), "matched": float(right)})
    return session(last, text="x" * 30, status=status)


@pytest.mark.parametrize(
    ("found", "saved"),
    [
        (suggested(line=30, right=30), 29),
        (suggested(line=5), 4),
        (suggested(line=5, right=20), 19),
        (suggested(right=8), 7),
        (suggested(right=7), None),
        (suggested(line=2, right=2), 1),
        (suggested(line=1, right=1), None),
        (suggested(), None),
    ],
)
def test_the_inline_user_accepts_an_exact_first_line_or_eight_right_characters(
    found: SessionScore, saved: int | None
) -> None:
    assert value("AcceptanceRate", found) == float(saved is not None)
    assert value("AcceptedTyping", found) == (saved or 0) / 30


def test_what_is_typed_already_is_not_saved_and_what_failed_saves_nothing() -> None:
    assert value("AcceptedTyping", suggested(right=12, prefix="xx")) == 9 / 28
    assert value("AcceptanceRate", suggested(right=9, prefix="xx")) == 0
    failed = suggested(line=30, right=30, status=Status.ERROR)
    assert (value("AcceptedTyping", failed), value("AcceptanceRate", failed)) == (0, None)
    assert value("AcceptanceRate", suggested(total=0)) is None
    assert value("AcceptedTyping", suggested(status=Status.SKIPPED)) is None


def test_a_figure_of_lines_is_none_of_tokens() -> None:
    assert {name for name, metric in METRICS.items() if metric.of == "lines"} == {
        "TotalMoves",
        "MovesCountNormalised",
        "PerfectLine",
    }


@pytest.mark.parametrize(
    ("grades", "right"),
    [
        ({"passes": 0.0, "judge": 1.0}, False),
        ({"judge": 0.2, "chrf": 0.1}, True),
        ({"lineMatch": 0.0}, False),
        ({"chrf": 1.0}, None),
        (None, None),
    ],
)
def test_an_answer_is_right_by_the_first_grade_that_tells(grades: dict[str, float] | None, right: bool | None) -> None:
    assert is_right(session(replace(lookup(None), grades=grades))) is right


def test_acceptance_is_right_in_a_share_of_the_sessions_that_offer_the_name() -> None:
    damaged = session(replace(lookup(None), offered=True))
    assert (
        value("AcceptedRight", session(lookup(3)), damaged, session(lookup(None)), session(lookup(None, total=0)))
        == 0.5
    )


def test_unneeded_imports_are_a_share_of_lists() -> None:
    added = session(replace(lookup(2), adds_import=True))
    assert value("UnneededImportAt1", added, FOUR[0], session(lookup(None, total=0))) == 0.5
