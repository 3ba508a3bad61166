"""The network: its posteriors, and that its closed form is exact."""

from __future__ import annotations

import json
import subprocess
import venv
from itertools import product
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.model import Definition, ObjectUsage
from ci_eval.plugins.learning.recommenders.kinds.pbn import RECOMMENDER, Network, PbnOptions, canopies
from ci_eval.plugins.learning.recommenders.model import Floats, load
from ci_eval.plugins.learning.recommenders.training import encode_usage, parse_options
from tests.learning.recommenders.kinds.test_kinds import usages
from tests.learning.recommenders.trained import CREATE, FIGURE_3, NEW, PARAM, T2, UNSEEN, T, proposed, trained, usage


def posterior(folder: Path, query: ObjectUsage, *, unknown: bool = True, **options: object) -> list[float]:
    """Of each pattern, to four digits."""
    options_ = PbnOptions(**options)  # type: ignore[arg-type]
    model = load(folder / "pbn.model").type("T")
    assert model
    calls, *values = ({text: place for place, text in enumerate(of)} for of in (model.calls, *model.values))
    network = Network(model, options_)
    found = network.posterior(encode_usage(query, calls, values, options_, unknown=unknown))
    return [round(float(each), 4) for each in found]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (usage("", NEW), [1, 0, 0]),
        (usage("m1", CREATE), [0, 1, 0]),
        (usage(""), [0.625, 0.375, 0]),
        (usage("", UNSEEN), [0.625, 0.375, 0]),
        (usage("", PARAM, "N"), [0, 0, 1]),
        (usage("m1", NEW), [1, 0, 0]),
    ],
)
def test_golden_posteriors(query: ObjectUsage, found: list[float], tmp_path: Path) -> None:
    trained(tmp_path, "pbn", T)
    assert posterior(tmp_path, query) == found


def test_evidence_that_contradicts_itself_leaves_the_priors(tmp_path: Path) -> None:
    trained(tmp_path, "pbn", T2, t1=0.301, t2=0.3)
    assert posterior(tmp_path, usage("", CREATE)) == [0.8, 0.2]


def test_at_the_papers_distance_the_sets_stay_apart(tmp_path: Path) -> None:
    model = trained(tmp_path, "pbn", T2)
    assert len(posterior(tmp_path, usage(""))) == 3
    assert proposed(model, usage("", NEW)) == {"a": 1.0, "b": 1.0, "c": 0.75}


def test_an_unknown_definition_is_evidence_unless_it_is_ignored(tmp_path: Path) -> None:
    model = trained(tmp_path, "pbn", [*T, *[usage("m4")] * 5])
    asked = usage("", Definition())
    assert posterior(tmp_path, asked) == [0, 0, 1, 0]
    assert posterior(tmp_path, asked, unknown=False) == [0.4762, 0.2857, 0.2381, 0]
    assert [each.call for each in model.proposals(asked, unknown_definition=False)] == ["m1", "m2"]


def test_a_pattern_takes_in_what_is_near_and_keeps_what_is_very_near(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"t2 is 0\.5, above t1"):
        parse_options(RECOMMENDER, {"t1": 0.4, "t2": 0.5})
    seen = [*[usage("a b c")] * 3, usage("a b"), usage("b c")]
    trained(tmp_path, "pbn", seen, t1=0.9, t2=0.1)
    # Sets in several patterns count in each of them.
    (members,) = [load(tmp_path / "pbn.model").type("T")]
    assert members
    assert members.numbers("members").tolist() == [5, 2, 1]


def by_enumeration(network: Network, contexts: tuple[int, ...], asked: list[int], calls: int) -> Floats:
    """Bayes' rule over all patterns, without logarithms, from the conditional tables."""
    least, model = 1e-6, network._model
    table = np.zeros((len(network._members), model.features))
    for feature in range(model.features):
        at = slice(network._starts[feature], network._starts[feature + 1])
        table[network._patterns[at], feature] = network._shares[at]
    weights = network._members / network._members.sum()
    for call in asked:
        weights = weights * np.clip(table[:, call], least, 1 - least)
    for slot, value in enumerate(contexts):
        if value >= 0:
            weights = weights * (table[:, model.feature(slot, value)] + least)
    return np.asarray((weights / weights.sum()) @ np.clip(table[:, :calls], least, 1 - least))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(seen=st.lists(usages, min_size=1, max_size=12), query=usages)
def test_the_closed_form_is_bayes_rule(tmp_path: Path, seen: list[ObjectUsage], query: ObjectUsage) -> None:
    trained(tmp_path, "pbn", [*seen, usage("a")], t1=0.5, t2=0.3)
    model, options = load(tmp_path / "pbn.model").type("T"), PbnOptions()
    assert model
    calls, *values = ({text: place for place, text in enumerate(of)} for of in (model.calls, *model.values))
    known, network = encode_usage(query, calls, values, options, unknown=True), Network(model, options)
    wanted = by_enumeration(network, known.contexts, known.calls.tolist(), len(calls))
    assert network(known).scores == pytest.approx(wanted, abs=1e-6)


PROGRAM = """
import json, sys
from pgmpy.factors.discrete import TabularCPD
from pgmpy.inference import VariableElimination
from pgmpy.models import DiscreteBayesianNetwork
given = json.load(sys.stdin)
patterns = len(given["prior"])
network = DiscreteBayesianNetwork([("pattern", name) for name in given["tables"]])
network.add_cpds(TabularCPD("pattern", patterns, [[each] for each in given["prior"]]))
for name, rows in given["tables"].items():
    network.add_cpds(TabularCPD(name, len(rows), rows, ["pattern"], [patterns]))
network.check_model()
inference = VariableElimination(network)
found = []
for query in given["queries"]:
    names = [name for name in given["calls"] if name not in query]
    found.append({n: float(inference.query([n], query, show_progress=False).values[1]) for n in names})
json.dump(found, sys.stdout)
"""


@pytest.mark.registry
@pytest.mark.slow
def test_another_library_infers_the_same(tmp_path: Path) -> None:
    """pgmpy, by variable elimination, from tables that are made here by the description of the network."""
    least = 1e-6
    groups: list[tuple[dict[str, float], dict[str, float], dict[str, float]]] = [
        ({"m1": 1.0}, {"M": 1.0}, {"CREATE": 1.0}),
        ({"m1": 1.0, "mX": 1.0, "mY": 1.0}, {"M": 1.0}, {"NEW": 1.0}),
        ({"m1": 1.0, "m2": 1.0}, {"M": 1.0}, {"CREATE": 1.0}),
    ]
    names = ("m1", "m2", "mX", "mY")
    shares = {name: [min(max(group[0].get(name, 0.0), least), 1 - least) for group in groups] for name in names}
    tables = {name: [[1 - share for share in each], each] for name, each in shares.items()}
    slots = {
        "method": ([group[1] for group in groups], ["M", "?"]),
        "definition": ([group[2] for group in groups], ["CREATE", "NEW", "?"]),
    }
    for name, (of, states) in slots.items():
        rows = [[each.get(state, 0.0) + least for each in of] for state in states]
        sums = [sum(column) for column in zip(*rows, strict=True)]
        tables[name] = [[each / total for each, total in zip(row, sums, strict=True)] for row in rows]
    asked = [
        (calls, definition)
        for calls, definition in product([(), ("m1",), ("m2",), ("m1", "mX")], [("NEW", NEW), ("CREATE", CREATE)])
    ]
    queries = [
        dict.fromkeys(calls, 1) | {"method": 0, "definition": ["CREATE", "NEW"].index(name)}
        for calls, (name, _) in asked
    ]
    given_ = {"prior": [6 / 12, 4 / 12, 2 / 12], "tables": tables, "calls": names, "queries": queries}
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-compile", "pgmpy==1.1.2"], check=True)
    ended = subprocess.run(
        [python, "-c", PROGRAM], input=json.dumps(given_), capture_output=True, text=True, check=True
    )
    model = trained(tmp_path, "pbn", FIGURE_3)
    for (calls, (_, definition)), found in zip(asked, json.loads(ended.stdout), strict=True):
        query = usage(" ".join(calls), definition)
        ours = {each.call: each.score for each in model.proposals(query, threshold=0)}
        assert ours == pytest.approx(found, abs=1e-5), query


def plain(sets: list[frozenset[int]], t1: float, t2: float) -> list[list[int]]:
    """The same, one distance after the other."""
    left, found = list(range(len(sets))), []
    while left:
        centre = left[0]
        distance = {
            each: 1 - len(sets[centre] & sets[each]) / sqrt(len(sets[centre]) * len(sets[each])) for each in left
        }
        found.append([each for each in left if each == centre or distance[each] < t1])
        left = [each for each in left if each != centre and distance[each] >= t2]
    return found


def of(sets: list[frozenset[int]], t1: float, t2: float) -> list[list[int]]:
    starts = np.cumsum([0, *map(len, sets)])
    flat = np.array([number for each in sets for number in sorted(each)], dtype=np.int64)
    owner, member = canopies(starts, flat, t1, t2)
    return [member[owner == number].tolist() for number in range(int(owner.max(initial=-1)) + 1)]


@given(
    st.lists(st.frozensets(st.integers(0, 11), min_size=1), unique=True, max_size=25),
    st.sampled_from([(0.001, 0.002), (0.1, 0.101), (0.3, 0.301), (0.3, 0.6), (0.9, 1.0)]),
)
def test_they_are_what_the_definition_says(sets: list[frozenset[int]], distances: tuple[float, float]) -> None:
    t2, t1 = distances
    assert of(sets, t1, t2) == plain(sets, t1, t2)


@pytest.mark.parametrize(("t1", "t2", "found"), [(0.301, 0.3, [[0, 1], [2]]), (0.101, 0.1, [[0], [1], [2]])])
def test_golden_canopies(t1: float, t2: float, found: list[list[int]]) -> None:
    assert of([frozenset({0, 1, 2}), frozenset({0, 1}), frozenset({3})], t1, t2) == found


def test_no_sets_make_no_canopy() -> None:
    assert of([], 0.1, 0.1) == []
