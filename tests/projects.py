"""Small projects and what tests need around them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core import actions
from ci_eval.core.config import InterpretConfig
from ci_eval.core.contracts import Engine, Installation, Surroundings
from ci_eval.core.interpret import EngineSide, Progress, Setup, Share, play_files
from ci_eval.core.model import ActionsConfig, EngineInfo, ProjectInfo, Session
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.languages.python import LANGUAGE
from ci_eval.plugins.rankers.lists import RANKERS
from ci_eval.plugins.tasks import completion

GREETER = '''"""Greets."""

import os


class Greeter:
    def __init__(self, name):
        self.name = name

    def greet(self):
        return "Hello " + self.name + os.sep


print(Greeter("you").greet())
'''

INFO = ProjectInfo(spec="path:demo", name="demo", revision="1", checksum="0" * 64)


def write(root: Path, **files: str | bytes) -> Path:
    """A project of files; in the names `__` stands for `.`, so that they can be keywords."""
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        path = root / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def generate(
    root: Path,
    folder: Path,
    config: ActionsConfig | None = None,
    project: ProjectInfo = INFO,
    advance: Callable[[int, int, actions.Generated], None] = lambda *_: None,
) -> Workspace:
    """Stage 1 over a project, into a new workspace."""
    workspace = Workspace.create(folder)
    actions.generate(
        root,
        project,
        LANGUAGE,
        config or ActionsConfig(),
        workspace,
        task=completion.COMPLETION,
        jobs=1,
        advance=advance,
    )
    return workspace


def setup(engine: Engine, root: Path, *, timeout: float = 10.0, installation: Installation | None = None) -> Setup:
    """What stage 2 needs, with the defaults of a configuration."""
    surroundings = Surroundings(
        root=root, language="python", keywords=LANGUAGE.keywords, cache=root.parent / "cache", timeout=timeout, memory=0
    )
    return Setup(
        engine=engine,
        installation=installation or Installation(info=EngineInfo(name=engine.name, version="test")),
        surroundings=surroundings,
        ranker=RANKERS["BASIC"],
        task=completion.COMPLETION,
        settings=InterpretConfig(client="editor"),
    )


def ask(
    workspace: Workspace,
    wanted: Setup,
    *,
    jobs: int = 1,
    probability: float = 1.0,
    limit: int | None = None,
    rounds: int = 1,
) -> Progress:
    """Stage 2 over a workspace."""
    sides, advance = [EngineSide(workspace, wanted)], lambda *_: None
    (progress,) = play_files(sides, Share(probability, limit), jobs=jobs, advance=advance, rounds=rounds)
    return progress


def sessions(workspace: Workspace) -> list[Session]:
    """All of them."""
    return [session for _, found in workspace.sessions(Session) for session in found]


def timeless(folder: Path, without: Collection[str] = (), *, once: bool = False) -> list[bytes]:
    """Return everything about the sessions except latencies and whether the engine was fresh.

    `without`: the ids of sessions that are left out. `once`: what asking again showed is left out.
    """
    lines = []
    for file, sessions in Workspace(folder).sessions(Session):
        lines.append(msgspec.json.encode(file))
        for session in (session for session in sessions if session.id not in without):
            lookups = tuple(replace(lookup, latency=0, cpu=None, cold=False) for lookup in session.lookups)
            first = replace(session, again=0, differing=0, otherwise=()) if once else session
            lines.append(msgspec.json.encode(replace(first, lookups=lookups)))
    return lines
