"""Association rules: against all rules there are, and against another library's."""

from __future__ import annotations

import json
import subprocess
import venv
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ci_eval.core.model import Definition, ObjectUsage
from ci_eval.plugins.learning.recommenders.training import definition_key
from tests.learning.recommenders.kinds.test_kinds import usages
from tests.learning.recommenders.trained import CREATE, NEW, PARAM, T, proposed, trained, usage


def items(of: ObjectUsage) -> set[str]:
    return {*of.calls, f"definition {definition_key(of.definition)}", *([f"method {of.method}"] if of.method else [])}


def brute(seen: Sequence[ObjectUsage], query: ObjectUsage, most: int) -> dict[str, float]:
    """Call → the highest confidence of any rule that fires, of at least two usages."""
    rows = [items(each) for each in seen if each.type == query.type]
    found: dict[str, float] = {}
    for size in range(most + 1):
        for antecedent in map(set, combinations(sorted(items(query)), size)):
            matching = [row for row in rows if antecedent <= row]
            for call in {call for row in matching for call in row if " " not in call} - set(query.calls):
                support = sum(call in row for row in matching)
                if support >= 2 and support / len(matching) >= 0.3:
                    found[call] = max(found.get(call, 0.0), round(support / len(matching), 4))
    return found


@pytest.mark.parametrize("most", [0, 1, 2, 3])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(seen=st.lists(usages, min_size=1, max_size=12), query=usages)
def test_the_best_rule_that_fires_decides(
    tmp_path: Path, seen: list[ObjectUsage], query: ObjectUsage, most: int
) -> None:
    model = trained(tmp_path, "rules", seen, antecedents=most)
    assert proposed(model, query) == brute(seen, query, most)


def test_of_rules_as_sure_the_one_with_more_support_goes_first(tmp_path: Path) -> None:
    model = trained(tmp_path, "rules", [*[usage("z", NEW)] * 3, *[usage("a", CREATE, "N")] * 2])
    assert list(proposed(model, usage("", CREATE, "M"))) == ["z", "a"]


PROGRAM = """
import json, sys
import pandas as pd
from mlxtend.frequent_patterns import association_rules, fpgrowth
from mlxtend.preprocessing import TransactionEncoder
rows = json.load(sys.stdin)
encoder = TransactionEncoder()
table = pd.DataFrame(encoder.fit(rows).transform(rows), columns=encoder.columns_)
frequent = fpgrowth(table, min_support=2 / len(rows) - 1e-9, use_colnames=True, max_len=3)
found = association_rules(frequent, metric="confidence", min_threshold=0.3)
json.dump([[sorted(a), sorted(c), v] for a, c, v in
           zip(found["antecedents"], found["consequents"], found["confidence"])], sys.stdout)
"""


def fired(rules: Iterable[tuple[list[str], list[str], float]], query: ObjectUsage) -> dict[str, float]:
    found: dict[str, float] = {}
    for antecedent, consequent, confidence in rules:
        (*others, call) = consequent
        if not others and " " not in call and call not in query.calls and set(antecedent) <= items(query):
            found[call] = max(found.get(call, 0.0), round(confidence, 4))
    return found


@pytest.mark.registry
@pytest.mark.slow
def test_another_library_finds_the_same_rules(tmp_path: Path) -> None:
    """mlxtend, whose rules follow from something at least: calls that the type alone tells are left out here."""
    seen = [*T, *[usage("m1 m3 m4", PARAM, "M")] * 3, *[usage("m2 m4", NEW, "N")] * 2, usage("m5", CREATE)]
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-compile", "mlxtend>=0.23"], check=True)
    given_ = json.dumps([sorted(items(each)) for each in seen])
    ended = subprocess.run([python, "-c", PROGRAM], input=given_, capture_output=True, text=True, check=True)
    rules = json.loads(ended.stdout)
    model = trained(tmp_path, "rules", seen)
    alone = brute(seen, usage(""), 0)
    for definition in (NEW, CREATE, PARAM, Definition()):
        for calls in ("", "m1", "m2", "m1 m4", "m3"):
            query = usage(calls, definition, "N")
            theirs = fired(rules, query)
            for call in set(alone) - set(query.calls):
                theirs[call] = max(theirs.get(call, 0.0), alone[call])
            assert proposed(model, query) == theirs, query
