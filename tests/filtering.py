"""An independent reading of filter expressions, by the words of the documentation; workspaces to filter, and random
expressions."""

from __future__ import annotations

import random
import re
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.model import Definition, History, ObjectUsage, SessionScore
from tests.command import command
from tests.learning.recommenders.trained import FIGURE_3, trained, usage
from tests.projects import GREETER, write


def passes(session: SessionScore, conditions: dict[str, str]) -> bool:
    """Return whether a session passes all conditions, decided apart from ci-eval's own filters."""
    known = session.properties
    lists = {
        "kind": known.kind.value,
        "strategy": known.strategy,
        "scenario": known.scenario,
        "evolution": known.evolution,
    }
    flags = {"argument": known.is_argument, "first": known.first_use}
    patterns = {"file": session.file, "text": session.expected_text}
    for name, value in conditions.items():
        if name in lists and lists[name] not in value.split(","):
            return False
        if name in flags and flags[name] is not (value == "true"):
            return False
        if name in patterns and not fnmatchcase(patterns[name], value):
            return False
        if name == "prefix" and session.typed != int(value):
            return False
        if name == "length" and len(session.expected_text) < int(value):
            return False
        if name == "package" and not re.fullmatch(value, known.package or ""):
            return False
    return True


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


def measure(task: str, folder: Path, *options: str, files: int = 2, name: str = "w", kind: str = "pbn") -> Path:
    """Return the workspace of a small run of a task over so many files or more, by an engine that is sometimes right.

    `name`: that of the workspace below the folder. `kind`: that of the recommender of method calls.
    """
    argv = ["evaluate", "--task", task, "--jobs", 1, "--all", "--output", folder / name]
    if task == "method-calls":
        new = Definition(kind="NEW", member="T")
        states = [(None, usage("m1", new)), (usage("m1", new), usage("m1 m2", new)), (usage("mX"), usage("m2 m1"))]
        histories = [
            History(project="p", file=f"{number}.py", type=name, states=tuple(of_type(state, name) for state in pair))
            for number, pair in enumerate(states * files)
            for name in ("T", "U")
        ]
        (folder / "histories.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, histories)))
        trained(folder, kind, FIGURE_3)
        model = f"engine.options.model={folder / kind}.model"
        argv += ["--dataset", folder / "histories.jsonl", "--engine", "recommender", "--set", model]
    else:
        sources = {f"one{number}__py": f"{GREETER}\n{'x = 1' * (number % 2)}\n" for number in range(files - 2)}
        two = f"{GREETER}\nother = Greeter('x')\nother.greet()\n"
        project = write(folder / "p", one__py=GREETER, two__py=two, **sources)
        argv += ["--project", f"path:{project}", "--engine", "words" if task == "completion" else "ngram"]
    code, _, err = command(*argv, *options)
    assert code == 0, err
    return folder / name


def of_type(state: ObjectUsage | None, name: str) -> ObjectUsage | None:
    return state and replace(state, type=name)


def draw_expressions(task: str) -> dict[str, dict[str, str]]:
    """Return random expressions for the workspace of a task, with their conditions."""
    rng, values = random.Random(48), VALUES[task]
    draws = [
        {name: rng.choice(values[name]) for name in rng.sample(sorted(values), rng.choice((1, 2)))}
        for _ in range(DRAWS)
    ]
    return {" ".join(f"{name}='{value}'" for name, value in draw.items()): draw for draw in draws}
