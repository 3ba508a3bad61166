"""Whether an independent client finds what ours finds: the same sessions, presence and rank of each.

python benchmarks/agreement.py [--sessions N] [ENGINE…]     (clangd, gopls)

Ours is `ci-eval evaluate` over the project of the language's night; the other one is minimal_client.py, which is told
the server's command and options, and shares no code with ci-eval. Ends with 1 where less than 99 % agree.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ci_eval.ci import Screen
from ci_eval.core.catalogs import engines
from ci_eval.core.config import load
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.preparation import Prepared, prepare
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.place import Place, variables

HERE = Path(__file__).parent
ENOUGH = 0.99


def ours(made: Prepared, folder: Path) -> list[tuple[Session, str]]:
    """The sessions with the text of their file, as evaluated."""
    workspace = runs.begin(made, folder, 1)
    pipeline.make_actions(workspace, made, 2, Screen())
    pipeline.make_sessions([(workspace, made)], 1, Screen())
    return [(each, source.text) for source, found in Workspace(folder).sessions(Session) for each in found]


def theirs(made: Prepared, sessions: list[tuple[Session, str]], scratch: Path) -> list[dict[str, Any]]:
    """What the minimal client finds, with the same server in a copy of the project."""
    engine, setup = made.engine, made.setup
    assert isinstance(engine, LspEngine)
    assert made.installation.folder
    root = scratch / "project"
    shutil.copytree(setup.surroundings.root, root, symlinks=True)
    place = Place(folder=made.installation.folder, root=root, base=scratch, surroundings=setup.surroundings)
    place.renew()
    command = [sys.executable, str(HERE / "minimal_client.py"), "--root", str(root), "--language", made.language.name]
    command += ["--options", json.dumps(engine.options(place)), *(["--anew"] if engine.quirks.restarts else [])]
    command += ["--no-hidden"] if engine.quirks.hides_tags else []
    environment = {**os.environ, **variables(place), **engine.variables(place)}
    asked = "".join(json.dumps(_place(session, text)) + "\n" for session, text in sessions)
    said = subprocess.run(
        [*command, "--", *engine.command(place)],
        input=asked,
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return [json.loads(line) for line in said.stdout.splitlines()]


def _place(session: Session, text: str) -> dict[str, Any]:
    expected, begin = session.expected_text, session.offset
    cut = text[:begin] + text[begin + len(expected) :]
    return {"file": session.file, "text": cut, "offset": begin, "expected": expected}


def compare(name: str, limit: int) -> bool:
    """Print a line of the table; whether it is enough."""
    language = min(engines.CATALOG.load(name).languages or ())
    given = [f"engine={name}", "project.dependencies=true", "interpret.timeout=120"]
    given += [f"interpret.sessionsLimit={limit}", "interpret.sessionProbability=1"]
    made = prepare(load(HERE.parent / "configs" / f"{language}.yaml", overrides=given).config, Screen())
    with tempfile.TemporaryDirectory() as folder:
        sessions = ours(made, Path(folder, "ours"))
        found = theirs(made, sessions, Path(folder))
    pairs = [
        (session, session.lookups[0].rank, other["rank"])
        for (session, _), other in zip(sessions, found, strict=True)
        if session.lookups
    ]
    presence = sum((a is None) == (b is None) for _, a, b in pairs) / len(sessions)
    rank = sum(a == b for _, a, b in pairs) / len(sessions)
    print(f"| {name} | {len(sessions)} | {presence:.1%} | {rank:.1%} |", flush=True)
    for session, a, b in pairs:
        if a != b:
            print(f"{session.file}:{session.offset} {session.expected_text}: ours {a}, theirs {b}", file=sys.stderr)
    return presence >= ENOUGH and rank >= ENOUGH


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*", default=["clangd", "gopls"])
    parser.add_argument("--sessions", type=int, default=300)
    wanted = parser.parse_args()
    print("| engine | sessions | presence agrees | rank agrees |\n|---|--:|--:|--:|")
    enough = [compare(name, wanted.sessions) for name in wanted.engines]
    sys.exit(0 if all(enough) else 1)


if __name__ == "__main__":
    main()
