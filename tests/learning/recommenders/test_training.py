"""Options of training, and what there is nothing to learn from."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.model import Definition, ObjectUsage
from ci_eval.plugins.learning import recommenders
from ci_eval.plugins.learning.recommenders import training as reading
from ci_eval.plugins.learning.recommenders.model import TrainingOptions
from ci_eval.plugins.learning.recommenders.training import (
    Collected,
    context_values,
    definition_key,
    parse_options,
    train,
)
from tests.learning.recommenders.trained import NEW, PARAM, usage, write

PBN = recommenders.CATALOG.load("pbn")


def test_an_unknown_option_is_answered_with_those_that_are_known() -> None:
    with pytest.raises(ConfigError, match=r"options of pbn: .*`t3`; known are methodContext, .*t1, t2, smoothing"):
        parse_options(PBN, {"t3": 1})
    with pytest.raises(ConfigError, match="options of rules"):
        parse_options(recommenders.CATALOG.load("rules"), {"antecedents": 9})


def test_usages_without_calls_teach_nothing(tmp_path: Path) -> None:
    source = write(tmp_path / "u.jsonl", [usage("")])
    source.write_bytes(source.read_bytes() + b"{}\n")
    with pytest.raises(NothingToEvaluate, match=r"none of 1 usages has a call .*; the first of 1 bad lines: .*"):
        train(PBN, [source], tmp_path / "m", PBN.options())
    assert not (tmp_path / "m").exists()


def test_what_is_no_usage_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 200)
    path = write(tmp_path / "u.jsonl", [usage("a"), usage("a b"), usage("")])
    bad = [
        b"{",
        b"[1]",
        b'{"calls": ["a"]}',
        b'{"type": ""}',
        b'{"type": "T", "calls": "a"}',
        b"[" * 150,
        b"x" * 999,
        b'{"type": "T", "calls": ["a\\nb"]}',
    ]
    path.write_bytes(path.read_bytes() + b"\n\n".join(bad) + b"\n" + path.read_bytes())
    found = Collected(TrainingOptions())
    found.read(path)
    assert (found.usages, found.without_calls, found.bad) == (6, 2, len(bad))
    assert [each.partition(", ")[2].partition(":")[0] for each in found.named] == [
        f"line {4 + 2 * n}" for n in range(len(bad))
    ]
    (of,) = found.types()
    assert (of.calls, of.counts.tolist()) == (["a", "b"], [2, 2])


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read the usages in .*none\.jsonl: No such file"):
        Collected(TrainingOptions()).read(tmp_path / "none.jsonl")


def test_equal_usages_are_one_row_whatever_the_order_of_their_calls() -> None:
    found = Collected(TrainingOptions())
    for calls in ("a b", "b a", "b b a", "c"):
        found.add(usage(calls, NEW))
    (of,) = found.types()
    assert of.counts.tolist() == [3, 1]
    assert of.flat.tolist() == [0, 1, 2]
    assert of.values == [["M"], [], ["NEW\tT"]]


def test_of_a_frequent_type_a_sample_is_learned_from_always_the_same() -> None:
    def sample(seed: int) -> tuple[list[int], list[int]]:
        found = Collected(TrainingOptions(most_usages=50, seed=seed))
        for number in range(400):
            found.add(usage(f"a{number % 7} b"))
        (of,) = found.types()
        return of.counts.tolist(), of.flat.tolist()

    assert sample(0) == sample(0) != sample(1)
    assert sum(sample(0)[0]) == 50
    assert sample(0)[0] == sorted(sample(0)[0], reverse=True)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (TrainingOptions(), ("p.C.m(int)", None, "PARAM\tf\t0")),
        (TrainingOptions(method_context="name"), ("m", None, "PARAM\tf\t0")),
        (TrainingOptions(method_context="off", class_context=True, definition=False), (None, "p.C", None)),
    ],
)
def test_what_surrounds_a_usage_is_looked_at_as_options_say(
    options: TrainingOptions, found: tuple[str | None, ...]
) -> None:
    of = ObjectUsage(type="T", class_="p.C", method="p.C.m(int)", definition=PARAM, calls=("a",))
    assert context_values(of, options) == found
    assert context_values(ObjectUsage(type="T"), TrainingOptions(class_context=True)) == (None, None, "UNKNOWN")


def test_definitions_are_told_apart_by_all_their_parts() -> None:
    parts = [Definition(kind="PARAM", member="f", argument=each) for each in (None, 0, 1)]
    assert len({definition_key(each) for each in (*parts, Definition(kind="PARAM"), Definition())}) == 5


def test_the_name_of_a_method_is_without_its_class_and_parameters() -> None:
    usages = [ObjectUsage(type="T", method=each) for each in ("f", "p.C.f(java.util.List)", "p.C.<init>()")]
    named = [context_values(usage, TrainingOptions(method_context="name"))[0] for usage in usages]
    assert named == ["f", "f", "<init>"]


def test_a_history_is_said_to_be_one(tmp_path: Path) -> None:
    path = write(tmp_path / "u.jsonl", [usage("states")])
    path.write_bytes(path.read_bytes() + b'{"type": "T", "states": [null]}\n')
    found = Collected(TrainingOptions())
    found.read(path)
    assert (found.usages, found.bad) == (1, 1)
    assert found.named[0].endswith(
        "line 2: it is a history, not a usage: histories are evaluated (`--dataset`), not learned"
    )
