"""What all recommenders have in common, and golden values that two of them share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ci_eval.core.model import Definition, ObjectUsage
from ci_eval.core.model.settings import StrategyName
from ci_eval.core.queries.cases import STRATEGIES, Sampling, agreement, missing_calls
from ci_eval.plugins.learning import recommenders
from tests.learning.recommenders.trained import (
    CREATE,
    FIGURE_3,
    NEW,
    PARAM,
    T2,
    UNSEEN,
    T,
    proposed,
    trained,
    usage,
)
from tests.queries.usages import case

KINDS = recommenders.names()
MODELS = ("pbn", "bmn")


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    ("query", "found"),
    [
        (usage("", NEW), {"m1": 1.0, "m2": 1.0}),
        (usage("m1", CREATE), {}),
        (usage(""), {"m1": 1.0, "m2": 0.625}),
        (usage("", UNSEEN), {"m1": 1.0, "m2": 0.625}),
        (usage("", PARAM, "N"), {"m3": 1.0}),
        (usage("m1", NEW), {"m2": 1.0}),
    ],
)
def test_golden_proposals(kind: str, query: ObjectUsage, found: dict[str, float], tmp_path: Path) -> None:
    assert proposed(trained(tmp_path, kind, T), query) == found


@pytest.mark.parametrize(("kind", "options"), [("pbn", {"t1": 0.301, "t2": 0.3}), ("bmn", {})])
@pytest.mark.parametrize(
    ("query", "found"),
    [
        (usage("", NEW), {"a": 1.0, "b": 1.0, "c": 0.75}),
        (usage("", CREATE), {"a": 0.8, "b": 0.8, "c": 0.6}),
    ],
)
def test_golden_proposals_of_a_pattern_of_two_sets(
    kind: str, options: dict[str, object], query: ObjectUsage, found: dict[str, float], tmp_path: Path
) -> None:
    assert proposed(trained(tmp_path, kind, T2, **options), query) == found


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(("strategy", "f1"), [("LINEAR", 1.0), ("RANDOM", 0.5), ("REAL*", 0.0), ("REAL", 0.0)])
def test_figure_3_is_lucky_with_the_linear_query_alone(
    kind: str, strategy: StrategyName, f1: float, tmp_path: Path
) -> None:
    model = trained(tmp_path, kind, FIGURE_3)
    made = case(usage("m1 mX mY", NEW), usage("m2 m1", CREATE))
    queries = STRATEGIES[strategy](made, Sampling())
    found = [agreement(list(proposed(model, each)), missing_calls(each, made))["f1"] for each in queries]
    assert sum(found) / len(found) == f1


@pytest.mark.parametrize("kind", KINDS)
def test_a_type_that_was_never_seen_gets_no_proposals(kind: str, tmp_path: Path) -> None:
    assert proposed(trained(tmp_path, kind, T), usage("", NEW, type_="U")) == {}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_usages_in_any_order_make_the_same_file(kind: str, tmp_path: Path) -> None:
    trained(tmp_path, kind, [*T, *T2, *FIGURE_3])
    one = (tmp_path / f"{kind}.model").read_bytes()
    trained(tmp_path, kind, [*reversed(FIGURE_3), *T2, *T])
    assert (tmp_path / f"{kind}.model").read_bytes() == one


definitions = st.sampled_from([NEW, CREATE, PARAM, UNSEEN, Definition()])
usages = st.builds(
    usage,
    st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5).map(" ".join),
    definitions,
    st.sampled_from(["M", "N", ""]),
    st.sampled_from("TU"),
)


@pytest.mark.parametrize("kind", KINDS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(seen=st.lists(usages, min_size=1, max_size=12), query=usages, unknown=st.booleans())
def test_proposals_are_calls_of_the_type_that_the_query_lacks_the_likeliest_first(
    kind: str, tmp_path: Path, seen: list[ObjectUsage], query: ObjectUsage, unknown: bool
) -> None:
    found = trained(tmp_path, kind, seen).proposals(query, threshold=0, unknown_definition=unknown)
    calls = {call for each in seen if each.type == query.type for call in each.calls}
    assert {each.call for each in found} <= calls - set(query.calls)
    assert all(0 < each.score <= 1 for each in found)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
