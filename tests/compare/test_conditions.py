"""What two engines were told differently."""

from __future__ import annotations

import msgspec

from ci_eval.core.compare.conditions import between
from ci_eval.core.model.engine.sent import SentConfiguration


def names(base: SentConfiguration, new: SentConfiguration, *, same_kind: bool) -> list[str]:
    return [each.name for each in between(base, new, same_kind=same_kind)]


BASE = SentConfiguration(
    settings={"ty": {"deep": {"x": False, "same": 1}}},
    arguments=("server",),
    auto_import="off",
    dependencies="told",
    limits={"timeout": 10.0, "heap": 1.0},
)
NEW = SentConfiguration(
    like="ty",
    settings={"ty": {"deep": {"same": 1}}},
    auto_import="on",
    dependencies="not told",
    limits={"timeout": 5.0},
)


def test_of_one_engine_every_part_counts_and_what_matters_most_is_first() -> None:
    found = between(BASE, NEW, same_kind=True)
    assert [each.name for each in found] == [
        "autoImport",
        "dependencies",
        "arguments",
        "limits.heap",
        "limits.timeout",
        "settings.ty.deep.x",
    ]
    assert (found[-1].base, found[-1].new) == ("false", None)


def test_of_two_engines_only_what_means_the_same_for_both() -> None:
    assert names(BASE, NEW, same_kind=False) == ["autoImport", "dependencies", "limits.timeout"]
    without = SentConfiguration(auto_import="none", limits={"timeout": 10.0})
    assert names(BASE, without, same_kind=False) == []


def test_what_is_empty_was_not_told() -> None:
    (found,) = between(BASE, msgspec.structs.replace(BASE, arguments=()), same_kind=True)
    assert (found.name, found.base, found.new) == ("arguments", '["server"]', None)


def test_of_an_engine_that_was_told_the_same_nothing() -> None:
    assert names(BASE, BASE, same_kind=True) == []
