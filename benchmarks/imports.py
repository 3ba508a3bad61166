"""Prints the table of docs/results/engines.md about names whose import is missing.

python benchmarks/imports.py [--sessions N] [--folder DIR] [ENGINE=PROJECT …]

Each engine gets names of the project whose import was taken out of the file (`actions.strategy.imports: removed`), with
3 and with all letters typed. DIR keeps the runs, and what is there already is not run again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from ci_eval.core.catalogs import engines
from ci_eval.core.model import Lookup, Session
from ci_eval.core.scoring import COMPILES, SAME_MODULE, SAME_OBJECT
from ci_eval.core.workspace import Workspace

PYTHON = ("pypi:flask==3.0.3", "pypi:click==8.1.7")
TYPESCRIPT = ("npm:immer@10.1.1", "npm:rxjs@7.8.1")
RUNS = (
    *(f"{engine}={project}" for engine in ("ty", "pyright", "basedpyright", "pyrefly") for project in PYTHON),
    *(f"{engine}={project}" for engine in ("typescript", "typescript-language-server") for project in TYPESCRIPT),
    "gopls=go:github.com/spf13/cobra@v1.8.1",
    "jdtls=maven:org.apache.commons:commons-text:1.12.0",
)
TIMEOUT = 120
"""The seconds for a lookup: on a busy machine the first one, which reads all modules, takes its time."""


def run(engine: str, project: str, sessions: int, folder: Path) -> Path:
    """Evaluate the engine, unless that was done before, and return the workspace."""
    workspace = folder / f"{engine}-{project.partition(':')[2].replace('/', '-')}"
    if not (workspace / "reports").exists():
        language = (
            "typescript" if project.startswith("npm:") else sorted(engines.CATALOG.load(engine).languages or ())[0]
        )
        argv = [sys.executable, "-m", "ci_eval", "evaluate", "--engine", engine, "--project", project]
        argv += ["--language", language, "--dependencies", "--sessions", str(sessions), "--jobs", "1"]
        for setting in (
            "actions.strategy.imports=removed",
            f"interpret.timeout={TIMEOUT}",
            "engine.initializeTimeout=300",
            "interpret.allowedFailures=1",
            "interpret.allowedEmpty=1",
            # npm packages hold their build as well.
            f"actions.evaluationRoots={['src'] if project.startswith('npm:') else []}",
        ):
            argv += ["--set", setting]
        subprocess.run([*argv, "--output", str(workspace)], check=True, stdout=subprocess.DEVNULL)
    return workspace


def rows(workspace: Path) -> Iterator[str]:
    """Yield a line of the table for three letters, and one for all."""
    manifest = Workspace.open(workspace).manifest()
    lookups: dict[bool, list[Lookup]] = {False: [], True: []}
    failed: Counter[bool] = Counter()
    for _, sessions in Workspace.open(workspace).sessions(Session):
        for session in sessions:
            whole = session.typed == len(session.expected_text)
            failed[whole] += not session.lookups
            lookups[whole] += session.lookups[-1:]
    for whole, asked in lookups.items():
        cells = [manifest.engine.name, manifest.engine.version, manifest.project.name, "all" if whole else "3"]
        cells += [str(len(asked) + failed[whole]), *counts(asked)]
        yield f"| {' | '.join(cells)} |"


def counts(lookups: Iterable[Lookup]) -> Iterator[str]:
    """Yield the cells with numbers of places."""
    asked = list(lookups)
    grades = [lookup.grades for lookup in asked if lookup.grades]
    yield str(sum(lookup.rank == 1 for lookup in asked))
    yield str(sum(lookup.rank is not None and lookup.rank <= 5 for lookup in asked))
    yield str(len(grades))
    same, through = (sum(grade[name] for grade in grades) for name in (SAME_MODULE, SAME_OBJECT))
    yield from (f"{number:.0f}" for number in (same, through, len(grades) - same - through))
    yield f"{sum(grade[COMPILES] for grade in grades):.0f}"


def main() -> None:
    """Print the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", metavar="ENGINE=PROJECT", help="default: those of the table")
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--folder", type=Path, help="keeps the runs there")
    arguments = parser.parse_args()
    columns = "engine|version|project|letters|places|right @1|right @5|offered|same module|same object|other|compiles"
    print(f"| {columns.replace('|', ' | ')} |\n|---|---|---|" + "--:|" * 9)
    with tempfile.TemporaryDirectory() as temporary:
        for pair in arguments.runs or RUNS:
            engine, _, project = pair.partition("=")
            workspace = run(engine, project, arguments.sessions, arguments.folder or Path(temporary))
            print("\n".join(rows(workspace)), flush=True)


if __name__ == "__main__":
    main()
