"""Filter expressions: `report --filter E` has the figures of a run that asked the sessions of E alone."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from ci_eval.core.interpret.pack import Pack
from ci_eval.core.model import Definition, History, ObjectUsage, Session
from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.filtering import passes
from tests.learning.recommenders.trained import FIGURE_3, trained, usage
from tests.projects import GREETER, write

DRAWS = 6
"""The number of random expressions per workspace."""
VALUES = {
    "completion": {
        "kind": ["METHOD_CALL", "FIELD,VARIABLE", "KEYWORD", "TYPE_REFERENCE,ARGUMENT_NAME"],
        "prefix": ["0", "1", "3"],
        "file": ["one*", "*.py", "t?o.py"],
        "text": ["g*", "*e*", "[a-h]*"],
        "length": ["2", "5"],
        "argument": ["true", "false"],
        "first": ["true", "false"],
    },
    "tokens": {
        "kind": ["METHOD_CALL", "FIELD,VARIABLE", "KEYWORD"],
        "file": ["one*", "t?o.py"],
        "text": ["*e*", "[a-h]*"],
        "length": ["2", "5"],
    },
    "inline": {"file": ["one*", "t?o.py"], "text": ["*e*", "[a-h]*"], "length": ["6", "20"]},
    "method-calls": {
        "strategy": ["REAL", "LINEAR,RANDOM", "REAL*"],
        "scenario": ["1|2", "NEW,0|1"],
        "package": ["T", "T.*", "U"],
        "text": ["m1*", "*m2"],
    },
}


def measure(task: str, folder: Path) -> Path:
    """Return the workspace of a small run of a task, by an engine that is sometimes right."""
    argv = ["evaluate", "--task", task, "--jobs", 1, "--all", "--output", folder / "w"]
    if task == "method-calls":
        new = Definition(kind="NEW", member="T")
        states = [(None, usage("m1", new)), (usage("m1", new), usage("m1 m2", new)), (usage("mX"), usage("m2 m1"))]
        histories = [
            History(project="p", file=f"{number}.py", type=name, states=tuple(of_type(state, name) for state in pair))
            for number, pair in enumerate(states * 2)
            for name in ("T", "U")
        ]
        (folder / "histories.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, histories)))
        trained(folder, "pbn", FIGURE_3)
        model = f"engine.options.model={folder / 'pbn.model'}"
        argv += ["--dataset", folder / "histories.jsonl", "--engine", "recommender", "--set", model]
    else:
        project = write(folder / "p", one__py=GREETER, two__py=f"{GREETER}\nother = Greeter('x')\nother.greet()\n")
        argv += ["--project", f"path:{project}", "--engine", "words" if task == "completion" else "ngram"]
    code, _, err = command(*argv)
    assert code == 0, err
    return folder / "w"


def of_type(state: ObjectUsage | None, name: str) -> ObjectUsage | None:
    return state and replace(state, type=name)


def restrict(workspace: Path, copy: Path, conditions: dict[str, str]) -> int:
    """Make a copy in which only sessions that pass were ever asked; return their number."""
    copied = Workspace.open(Path(shutil.copytree(workspace, copy)))
    statuses: Counter[str] = Counter()
    for source in list(copied.sources()):
        pack = Pack(source)
        sessions = [each for each in copied.decode_sessions(source.path, Session) if passes(each, conditions)]
        for session in sessions:
            pack.add(session)
            statuses[session.status.value] += 1
        copied.drop_sessions(source.path)
        if sessions:
            copied.write_sessions(source.path, pack.close())
    asked = statuses.total()
    manifest = replace(copied.manifest(), generated=asked, planned=asked, finished=asked, statuses=dict(statuses))
    copied.write_manifest(manifest)
    copied.seal()
    return asked


def figures(workspace: Path, name: str) -> dict[str, Any]:
    (evaluation,) = json.loads((workspace / "reports" / "metrics.json").read_text())["evaluations"]
    return dict(evaluation["filters"][name])


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(VALUES))
def test_a_filter_has_the_figures_of_a_run_restricted_to_it(task: str, tmp_path: Path) -> None:
    workspace, rng, values = measure(task, tmp_path), random.Random(48), VALUES[task]
    draws = [
        {name: rng.choice(values[name]) for name in rng.sample(sorted(values), rng.choice((1, 2)))}
        for _ in range(DRAWS)
    ]
    expressions = {" ".join(f"{name}='{value}'" for name, value in draw.items()): draw for draw in draws}
    assert command("report", workspace, *(part for line in expressions for part in ("--filter", line)))[0] == 0
    sizes = set()
    for number, (expression, conditions) in enumerate(expressions.items()):
        filtered = figures(workspace, expression)
        asked = restrict(workspace, tmp_path / f"{number}", conditions)
        assert filtered["sessions"] == asked, expression
        sizes.add(asked)
        if asked:
            code, _, err = command("report", tmp_path / f"{number}", "--set", "reports.headline=all")
            assert code == 0, err
            restricted = figures(tmp_path / f"{number}", "ALL")["metrics"]
            for name, figure in filtered["metrics"].items():
                assert figure == restricted[name], (expression, name)
    assert len(sizes) > 2
