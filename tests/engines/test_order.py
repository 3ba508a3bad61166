"""An answer depends on the question alone: not on what was asked before, nor on how often, nor on how many ask, nor on
whether the engine is confined."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from ci_eval import engines
from ci_eval.ci import Screen
from ci_eval.config import load
from ci_eval.contracts import Engine
from ci_eval.engines import clangd, typeprof
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.preparation import Prepared, prepare
from ci_eval.model import Action, DeleteRange, Session
from ci_eval.workspace import Workspace, pack_actions, read_actions
from tests.projects import ask

CONFIGS = Path(__file__).parents[2] / "configs"
KNOWN = [engine for name in engines.names() if (engine := engines.CATALOG.load(name)).verified]
ASKED = [(engine, language) for engine in KNOWN for language in sorted(engine.languages or ())]
FILES = 4
SESSIONS = 16
OTHERS = dict.fromkeys(("jshell", "kotlin-ide-services", "scala-presentation-compiler"), 8) | {"typeprof": 32}
"""Sessions of those that think for seconds about each question, and of one that finds little."""

pytestmark = [pytest.mark.engine, pytest.mark.registry, pytest.mark.slow(minutes=2)]


def prepared(name: str, language: str, *more: str) -> Prepared:
    """The engine, with the project of the language's night and what that needs."""
    given = [f"engine={name}", "project.dependencies=true", "interpret.timeout=120", *more]
    return prepare(load(CONFIGS / f"{language}.yaml", overrides=given).config, Screen())


def some_actions(made: Prepared, folder: Path, least: int = SESSIONS) -> Workspace:
    """Those of a few files with so many sessions at least, evenly spread over the project."""
    workspace = runs.begin(made, folder, 1)
    pipeline.make_actions(workspace, made, 2, Screen())
    files = [path for path in workspace.action_files() if read_actions(path).sessions >= least]
    for path in set(workspace.action_files()) - set(files[:: -(-len(files) // FILES)]):
        path.unlink()
    return workspace


def shuffled(workspace: Workspace) -> None:
    """The same sessions of each file in another order."""
    for path in workspace.action_files():
        actions = read_actions(path)
        first, *rest = _parts(actions.actions)
        random.Random(1).shuffle(rest)
        other = msgspec.structs.replace(actions, actions=tuple(each for part in (first, *rest) for each in part))
        workspace.write_actions(actions.path, pack_actions(other))


def _parts(actions: tuple[Action, ...]) -> Iterator[tuple[Action, ...]]:
    """What comes before the first session; then, session by session, from the deletion to where the text is whole."""
    starts = [number for number, action in enumerate(actions) if isinstance(action, DeleteRange)]
    for begin, end in zip([0, *starts], [*starts, len(actions)], strict=True):
        yield actions[begin:end]


def answers(workspace: Workspace) -> dict[str, bytes]:
    """Each session but for its latencies and whether the engine was fresh, by its id."""
    return {
        session.id: msgspec.json.encode(_timeless(session))
        for _, each in workspace.sessions(Session)
        for session in each
    }


def _timeless(session: Session) -> Session:
    lookups = tuple(msgspec.structs.replace(lookup, latency=0, cold=False) for lookup in session.lookups)
    return msgspec.structs.replace(session, lookups=lookups)


@pytest.mark.usefixtures("complete_walls")
@pytest.mark.parametrize(("engine", "language"), ASKED, ids=lambda value: getattr(value, "name", value))
def test_an_answer_depends_on_the_question_alone(engine: Engine, language: str, tmp_path: Path) -> None:
    made = prepared(engine.name, language, "interpret.confine=required")
    free = replace(made.setup, surroundings=replace(made.setup.surroundings, confine="off"))
    sessions = OTHERS.get(engine.name, SESSIONS)
    source = some_actions(made, tmp_path / "actions", max(sessions, SESSIONS))
    first, half, mixed = (runs.copy_actions(source, made, tmp_path / name, 1) for name in ("first", "half", "mixed"))
    shuffled(mixed)
    ask(first, made.setup, limit=sessions)
    ask(half, made.setup, limit=sessions // 2)
    ask(mixed, free, limit=sessions, jobs=2)
    told = answers(first)
    assert len(told) == sessions
    assert sum(b'"status":"ok"' in each for each in told.values()) > 0
    assert differing(told, answers(mixed)) == []
    assert differing({key: told[key] for key in answers(half)}, answers(half)) == []


def test_clangd_by_a_command_of_ones_own_answers_as_ours(tmp_path: Path) -> None:
    made = prepared("clangd", "cpp")
    assert made.installation.folder
    program = made.installation.folder / "clangd" / "data" / "bin" / "clangd"
    other = prepared(json.dumps({"command": [str(program), *clangd.FLAGS]}), "cpp")
    ours = some_actions(made, tmp_path / "ours")
    theirs = runs.copy_actions(ours, other, tmp_path / "theirs", 1)
    ask(ours, made.setup, limit=SESSIONS)
    ask(theirs, other.setup, limit=SESSIONS)
    assert differing(answers(ours), answers(theirs)) == []


@pytest.mark.needs("ruby")
def test_typeprof_has_no_clock_by_which_it_gives_up() -> None:
    """A clock of no seconds at all would have run out."""
    asked = "at_exit { exit !TypeProf::Utils::TimerCancelToken.new(0).cancelled? }"
    subprocess.run(["ruby", "-e", asked, "-e", typeprof.START, "--", "--version"], check=True)


def test_clangd_lists_a_name_that_is_a_struct_and_an_alias_the_same_in_each_process(tmp_path: Path) -> None:
    keys = (
        "evaluationRoots=[deps/leveldb/leveldb-1.20/db/c.cc]",
        "strategy.prefix={name: NoPrefix}",
        "strategy.filters.statementTypes=[VARIABLE]",
    )
    made = prepared("clangd", "cpp", *(f"actions.{key}" for key in keys))
    found = []
    for number in range(3):
        workspace = runs.begin(made, tmp_path / str(number), 1)
        pipeline.make_actions(workspace, made, 1, Screen())
        ask(workspace, made.setup, limit=8)
        found.append(answers(workspace))
    assert len(found[0]) == 8
    assert found[0] == found[1] == found[2]


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    """The sessions that are not the same in both."""
    return sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
