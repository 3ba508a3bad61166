"""What two engines were told differently."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ci_eval.core.compare.conditions import compare_settings, conditions, name_sides
from ci_eval.core.model import EngineInfo
from ci_eval.core.model.engine import SentConfiguration
from ci_eval.core.workspace import Workspace
from ci_eval.rendering.advice import sentence
from tests.jobs.test_pipeline import manifest


def names(base: SentConfiguration, new: SentConfiguration, *, same_kind: bool) -> list[str]:
    return [condition.name for condition in compare_settings(base, new, same_kind=same_kind)]


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
    differing = compare_settings(BASE, NEW, same_kind=True)
    assert [condition.name for condition in differing] == [
        "autoImport",
        "dependencies",
        "arguments",
        "limits.heap",
        "limits.timeout",
        "settings.ty.deep.x",
    ]
    assert (differing[-1].base, differing[-1].new) == ("false", None)


def test_of_two_engines_only_what_means_the_same_for_both() -> None:
    assert names(BASE, NEW, same_kind=False) == ["autoImport", "dependencies", "limits.timeout"]
    without = SentConfiguration(auto_import="none", limits={"timeout": 10.0})
    assert names(BASE, without, same_kind=False) == []


def test_what_is_empty_was_not_told() -> None:
    (differing,) = compare_settings(BASE, msgspec.structs.replace(BASE, arguments=()), same_kind=True)
    assert (differing.name, differing.base, differing.new) == ("arguments", '["server"]', None)


def test_of_an_engine_that_was_told_the_same_nothing() -> None:
    assert names(BASE, BASE, same_kind=True) == []


def test_another_grammar_is_a_condition_even_if_nothing_is_known_of_what_was_told() -> None:
    base = manifest({}, planned=0, finished=0)
    new = replace(base, grammar="h")
    (differing,) = conditions(base, new)
    assert (differing.name, differing.base, differing.new) == ("grammar", "g", "h")
    assert sentence([differing]) == "the sources of base were read by `g`, those of new by `h`"
    assert conditions(base, base) == ()


def named(tmp_path: Path, programs: Sequence[str] = (), **runs: dict[str, Any]) -> list[str]:
    """The names of runs, each with these changes of one manifest, and with these own engines."""
    titles = {}
    for name, changes in runs.items():
        workspace = Workspace.create(tmp_path / name)
        workspace.write_manifest(replace(manifest({}, planned=0, finished=0), **changes))
        titles[workspace] = workspace.manifest().title
    return list(name_sides(titles, dict(zip(titles, programs, strict=False))).values())


def test_runs_of_one_title_are_named_by_what_differs(tmp_path: Path) -> None:
    x, basic, ml = {"title": "x"}, {"completion_type": "BASIC"}, {"completion_type": "ML"}
    sent, less = {"sent": BASE}, {"sent": replace(BASE, arguments=())}
    assert named(tmp_path / "1", a=x, b={"title": "y"}) == ["x", "y"]
    assert named(tmp_path / "2", a=x | basic, b=x | ml) == ["x, BASIC", "x, ML"]
    assert named(tmp_path / "3", a=basic | {"title": "ML"}, b=ml | {"title": "ML"}) == ["BASIC", "ML"]
    assert named(tmp_path / "4", a=x | sent, b=x | less) == ["x, server", "x"]
    assert named(tmp_path / "5", a=x, b=x) == ["x, a", "x, b"]


def test_own_engines_are_named_by_their_paths_or_commits_and_never_by_digests(tmp_path: Path) -> None:
    a, b = ({"title": "server BASIC", "engine": EngineInfo(name="server", version=digest)} for digest in ("0f", "1e"))
    paths = ("/x/main/server", "/x/change/server")
    assert named(tmp_path / "1", paths, a=a, b=b) == ["main/server BASIC", "change/server BASIC"]
    built_again = named(tmp_path / "2", paths[:1] * 2, night=a, tonight=b)
    assert built_again == ["server BASIC, night", "server BASIC, tonight"]
    commits = ({"revision": "ab"}, {"revision": "cd"})
    assert named(tmp_path / "3", paths, a=a | commits[0], b=b | commits[1]) == ["server BASIC, ab", "server BASIC, cd"]
    mine = {"title": "mine"}
    assert named(tmp_path / "4", paths, a=a | mine, b=b | mine) == ["mine, main/server", "mine, change/server"]


def test_names_of_three_runs_differ_even_if_one_has_the_title_of_another_s_type(tmp_path: Path) -> None:
    ml = {"completion_type": "ML"}
    runs = named(tmp_path, a={"title": "BASIC"}, b={"title": "BASIC"} | ml, c={"title": "ML"} | ml)
    assert runs == ["BASIC", "ML, b", "ML, c"]
