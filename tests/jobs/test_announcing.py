"""What a CI keeps from run to run: the identity of a problem."""

from __future__ import annotations

import re
from itertools import combinations

from ci_eval.jobs.announcing import identity_of

RULES = [
    "MeanRank <= +1", "MeanRank <= 1", "RecallAt1 >= -1pp", "RecallAt1 >= 1%", "RecallAt1 non-inferior 1pp",
    "LatencyPercentile95 <= +20% and +50ms", "LatencyPercentile95 <= +20% and +500ms", "x" * 100, "x" * 101,
]  # fmt: skip


def test_each_rule_has_an_identity_of_its_own_that_teamcity_takes_and_that_stays() -> None:
    found = [identity_of(rule) for rule in RULES]
    assert all(one != other for one, other in combinations(found, 2))
    assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,59}", each) for each in found)
    assert identity_of("RecallAt1 >= -1pp") == "gate_RecallAt1_1pp_10477b67"
