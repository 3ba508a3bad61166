"""What is drawn is expected exactly or is in the interval, and other seeds alone never make a verdict."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from ci_eval.core.manifest import Manifest
from ci_eval.core.model import History, Session
from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.learning.recommenders.trained import CREATE, NEW, usage
from tests.projects import GREETER, write

pytestmark = pytest.mark.usefixtures("in_one_process")

WALKER = "import os\n\n\nclass Walker:\n    def walk(self, top):\n        return os.listdir(top) if top else None\n"
PROJECTS = {
    "greeter": {f"file{number}__py": GREETER + f"name_{number} = Greeter()\n" for number in range(3)},
    "walker": {"a__py": WALKER * 3, "b__py": WALKER + GREETER},
}
SEEDS = range(8)


def evaluate(output: Path, *given: object, seed: int = 0) -> Path:
    argv = ("--jobs", 1, "--seed", seed, "--output", output)
    code, _, err = command("evaluate", *given, *argv)
    assert code == 0, err
    return output


def figures(folder: Path) -> dict[str, dict[str, Any]]:
    (found,) = json.loads((folder / "reports" / "metrics.json").read_text())["evaluations"]
    return {
        f"{part}/{name}": each
        for part, of in found["filters"].items()
        for name, each in of["metrics"].items()
        if each["state"] != "noisy"
    }


def compared(base: Path, new: Path, output: Path, *gates: str) -> dict[str, Any]:
    command("compare", base, new, "--output", output, *(part for gate in gates for part in ("--gate", gate)))
    return dict(json.loads((output / "comparison.json").read_text()))


def verdicts(comparison: dict[str, Any]) -> set[str]:
    judged = [each for of in comparison["filters"].values() for each in of["metrics"].values()]
    return {each["verdict"] for each in judged} | {each["elsewhere"]["verdict"] for each in judged}


@pytest.mark.parametrize("name", PROJECTS)
def test_another_seed_changes_no_figure_of_a_modelled_user(name: str, tmp_path: Path) -> None:
    project = write(tmp_path / "p", **PROJECTS[name])
    given = ("--project", f"path:{project}", "--engine", "words", "--set", "interpret.userModel=thesis")
    runs = [evaluate(tmp_path / f"{seed}", *given, seed=seed) for seed in SEEDS]
    exact = [{key: each for key, each in figures(run).items() if each["state"] == "exact"} for run in runs]
    assert all(found == exact[0] for found in exact)
    assert {"ALL/TypingSaved", "ALL/MeanRank", "names/RecallAt1", "names/ESaved"} <= exact[0].keys()
    for base, new in combinations(runs[:3], 2):
        found = compared(base, new, tmp_path / f"{base.name}{new.name}", "TypingSaved >= -0.1pp", "TypingSaved >= 1%")
        assert not {"better", "worse"} & verdicts(found)
        assert {"name": "seed", "base": base.name, "new": new.name} in found["conditions"]
        assert [gate["result"] for gate in found["gates"]] == ["kept", "kept"]


def test_the_figures_of_a_modelled_user_are_those_that_expect_computes(tmp_path: Path) -> None:
    given = ("--project", f"path:{write(tmp_path / 'p', **PROJECTS['walker'])}", "--engine", "words", "--set")
    every = evaluate(tmp_path / "every", *given, "actions.strategy.prefix={name: EveryPrefix}")
    user = evaluate(tmp_path / "user", *given, "interpret.userModel=calibrated")
    code, out, err = command("expect", every, "--user-model", "calibrated")
    assert code == 0, err
    (saved,) = (line.split()[1] for line in out.splitlines() if line.startswith("TypingSaved"))
    assert f"{figures(user)['ALL/TypingSaved']['value']:.1%}" == saved


def test_a_session_is_shown_as_it_likeliest_goes_and_keeps_all_it_may_be_asked(tmp_path: Path) -> None:
    project = write(tmp_path / "p", **PROJECTS["walker"])
    given = ("--project", f"path:{project}", "--engine", "oracle", "--set", "interpret.userModel=thesis")
    folder = evaluate(tmp_path / "o", *given)
    all_of_them = [session for _, of_file in Workspace.open(folder).sessions(Session) for session in of_file]
    listdir = next(session for session in all_of_them if session.expected_text == "listdir")
    assert [len(lookup.prefix) for lookup in listdir.lookups] == [1, 2, 3, 4, 5, 6]
    # 80 % begin after one letter, and half of these take what is first.
    assert listdir.courses[0][:3] == (0, 1, True)
    assert listdir.courses[0].share == pytest.approx(0.4)
    assert sum(course.share for course in listdir.courses) == pytest.approx(1)
    assert [lookup.selected for lookup in listdir.lookups] == [True] + [False] * 5


def test_sessions_that_were_drawn_by_another_program_are_never_exact(tmp_path: Path) -> None:
    """A workspace without `drawn` in its manifest has one draw of each session's user."""
    project = write(tmp_path / "p", **PROJECTS["walker"])
    given = ("--project", f"path:{project}", "--engine", "words", "--set", "interpret.userModel=always")
    made = [evaluate(tmp_path / f"{seed}", *given, seed=seed) for seed in (0, 1)]
    assert figures(made[0])["ALL/TypingSaved"]["state"] == "exact"
    for folder in made:
        workspace, manifest = Workspace.open(folder), manifest_of(folder)
        other = manifest.user.replace('"attend":1.0', '"attend":0.5')
        workspace.write_manifest(replace(manifest, user=other, drawn=None))
        workspace.seal()
    code, _, err = command("report", made[0])
    assert code == 0, err
    assert {each["state"] for each in figures(made[0]).values()} <= {"sampled", "none"}
    found = compared(made[0], made[1], tmp_path / "out", "TypingSaved >= -1pp")
    assert not {"better", "worse", "equivalent"} & verdicts(found)
    assert [(gate["result"], gate["passed"]) for gate in found["gates"]] == [("undecided", True)]
    assert "seed of the modelled user" in found["gates"][0]["reason"]


@pytest.mark.parametrize("rounds", [1, 2])
def test_figures_of_an_evolution_have_an_interval_however_often_they_are_asked(rounds: int, tmp_path: Path) -> None:
    project = write(tmp_path / "p", **PROJECTS["greeter"])
    evolution = "actions.strategy.evolution={share: 0.5, what: lines, how: missing}"
    given = ("--project", f"path:{project}", "--engine", "words", "--repeat", rounds, "--set", evolution)
    runs = [evaluate(tmp_path / f"{seed}", *given, seed=seed) for seed in SEEDS]
    found = [figures(run)["ALL/RecallAt1"] for run in runs]
    middle = sum(each["value"] for each in found) / len(found)
    assert {each["state"] for each in found} == {"sampled"}
    assert len({each["value"] for each in found}) > 1
    assert all(each["low"] < middle < each["high"] for each in found)


HISTORIES = [
    History(project="p", file=f"{name}.py", type="T", method="M", states=(usage("a b", NEW), usage(after, CREATE)))
    for name, after in (("x", "a b c d e f g"), ("y", "a b q r s t u"), ("z", "a b"), ("w", "a b h"))
]


def test_queries_that_a_seed_draws_are_not_judged_against_those_of_another(tmp_path: Path) -> None:
    (tmp_path / "h.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, HISTORIES)))
    given = ("--task", "method-calls", "--dataset", tmp_path / "h.jsonl", "--engine", "oracle", "--set")
    all_choices = evaluate(tmp_path / "all", *given, "queries.subsets=21")
    assert manifest_of(all_choices).draws == {}
    runs = [evaluate(tmp_path / f"{seed}", *given, "queries.subsets=3", seed=seed) for seed in (0, 1)]
    assert [manifest_of(run).draws for run in runs] == [{"queries": "0"}, {"queries": "1"}]
    assert {each["state"] for each in figures(runs[0]).values()} <= {"sampled", "none"}
    found = compared(runs[0], runs[1], tmp_path / "out", "F1 >= -1pp")
    assert not {"better", "worse", "equivalent"} & verdicts(found)
    assert [gate["result"] for gate in found["gates"]] == ["undecided"]
    code, _, err = command("compare", *runs, runs[0], "--output", tmp_path / "ranking")
    assert code == 0, err
    pairs = json.loads((tmp_path / "ranking" / "overview.json").read_text())["ranking"]["pairs"]["F1"]
    assert not {"better", "worse"} & {each["verdict"] for row in pairs for each in row if each}


def manifest_of(folder: Path) -> Manifest:
    return Workspace.open(folder).manifest()
