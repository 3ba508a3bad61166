"""The same sessions of a real project asked in order, and shuffled: what an answer depends on."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core.config import load
from ci_eval.core.model import Action, DeleteRange, Lookup, Session, Suggestion
from ci_eval.core.model.sessions import ELSEWHERE
from ci_eval.core.workspace import Workspace, pack_actions, read_actions
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.preparation import Prepared, prepare
from tests.projects import ask

CONFIGS = Path(__file__).parents[2] / "configs"
FILES = 4
SESSIONS = 16
OTHERS = dict.fromkeys(("kotlin-ide-services", "scala-presentation-compiler"), 8)
"""Sessions of those that think for seconds about each question."""
REPEATING = frozenset({"typescript"})
"""Engines that list a name once more or once less often in another process.

TypeScript 7 collects what may be imported in parallel, and lists `ArgumentOutOfRangeError` of rxjs twice in most
processes and three times in others. A person sees it once.
"""

OF_SEVERAL_HEADERS = frozenset({"clangd"})
"""Engines that list what several headers declare (`std::operator!=`) in another order in another process."""


def sessions_of(name: str) -> int:
    """Return how many sessions the engine is asked."""
    return OTHERS.get(name, SESSIONS)


def ask_in_two_orders(name: str, language: str, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the answers of one confined process, and those of two unconfined ones that are asked in another order.

    Each question then comes after others than before, and after another number of them.
    """
    prepared = prepare_engine(name, language, "interpret.confine=required")
    free = replace(prepared.setup, surroundings=replace(prepared.setup.surroundings, confine="off"))
    count = sessions_of(name)
    ordered = some_actions(prepared, folder / "ordered", max(count, SESSIONS))
    mixed = runs.copy_actions(ordered, prepared, folder / "mixed", 1)
    shuffle(mixed)
    ask(ordered, prepared.setup, limit=count)
    ask(mixed, free, limit=count, jobs=2)
    return answers(ordered, name), answers(mixed, name)


def prepare_engine(name: str, language: str, *more: str) -> Prepared:
    """Return the engine, with the project of the language's configuration and its dependencies."""
    # On a busy machine a server may need minutes to read the project.
    patient = ("interpret.timeout=120", "engine.ready=900")
    overrides = [f"engine={name}", "project.dependencies=true", *patient, *more]
    return prepare(load(CONFIGS / f"{language}.yaml", overrides=overrides).config, Screen())


def some_actions(prepared: Prepared, folder: Path, least: int = SESSIONS) -> Workspace:
    """Return a workspace with a few files of at least so many sessions, evenly spread over the project."""
    workspace = runs.begin(prepared, folder, 1)
    pipeline.make_actions(workspace, prepared, 2, Screen())
    files = [path for path in workspace.action_files() if read_actions(path).sessions >= least]
    for path in set(workspace.action_files()) - set(files[:: -(-len(files) // FILES)]):
        path.unlink()
    return workspace


def shuffle(workspace: Workspace) -> None:
    """Put the sessions of each file in another order."""
    for path in workspace.action_files():
        actions = read_actions(path)
        first, *others = _parts(actions.actions)
        random.Random(1).shuffle(others)
        mixed = tuple(action for part in (first, *others) for action in part)
        workspace.write_actions(actions.path, pack_actions(msgspec.structs.replace(actions, actions=mixed)))


def _parts(actions: tuple[Action, ...]) -> Iterator[tuple[Action, ...]]:
    """Yield what comes before the first session, then each session: from its deletion to where the text is whole."""
    starts = [number for number, action in enumerate(actions) if isinstance(action, DeleteRange)]
    for begin, end in zip([0, *starts], [*starts, len(actions)], strict=True):
        yield actions[begin:end]


def answers(workspace: Workspace, engine: str = "") -> dict[str, str]:
    """Return status and digest of each session by its id.

    Latencies and whether the engine was fresh do not count, nor what is known to differ between processes of it.
    """
    return {
        session.id: f"{session.status.value} {_digest(session, engine)}"
        for _, sessions in workspace.sessions(Session)
        for session in sessions
    }


def _digest(session: Session, engine: str) -> str:
    lookups = tuple(msgspec.structs.replace(lookup, latency=0, cpu=None, cold=False) for lookup in session.lookups)
    if engine in REPEATING:
        lookups = tuple(
            msgspec.structs.replace(lookup, total=lookup.total - lookup.duplicates, duplicates=0) for lookup in lookups
        )
    if engine in OF_SEVERAL_HEADERS:
        lookups = tuple(msgspec.structs.replace(lookup, suggestions=_without_headers(lookup)) for lookup in lookups)
    return hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(session, lookups=lookups))).hexdigest()


def _without_headers(lookup: Lookup) -> tuple[Suggestion, ...]:
    return tuple(msgspec.structs.replace(each, tail=each.tail.partition(ELSEWHERE)[0]) for each in lookup.suggestions)


def differing(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Return the sessions that are not the same in both."""
    return sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
