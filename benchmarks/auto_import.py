"""The cost of auto-import for ordinary names, in docs/results/engines.md: ranks of the same names, off and on.

python benchmarks/auto_import.py [--sessions N] [--folder DIR] [ENGINE…]

Names after one letter (the headline's), whose imports are there: auto-import can only put other names above them. The
projects are those of the nightly configurations, a few files of each. `default` is `on` for all of these engines but
pylsp. DIR keeps the runs, and what is there already is not run again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from ci_eval.core.model import Lookup, Session
from ci_eval.core.workspace import Workspace

CONFIGS = Path(__file__).parent.parent / "configs"
SUBJECTS = {
    "ty": ("python", "[flask/app.py, flask/cli.py]"),
    "pyrefly": ("python", "[flask/app.py, flask/cli.py]"),
    "typescript": ("typescript", "[src/internal/observable]"),
    "clangd": ("cpp", "[deps/leveldb/leveldb-1.20/db/db_impl.cc, deps/leveldb/leveldb-1.20/db/version_set.cc]"),
    "gopls": ("go", "[command.go, completions.go]"),
    "typescript-language-server": ("typescript", "[src/internal/observable]"),
    "pyright": ("python", "[flask/app.py, flask/cli.py]"),
    "basedpyright": ("python", "[flask/app.py, flask/cli.py]"),
}
"""Engine → the configuration of its language, and the evaluation roots."""


def evaluate(engine: str, mode: str, sessions: int, workspace: Path) -> None:
    """Evaluate, unless that was done before."""
    if (workspace / "reports").exists():
        return
    language, roots = SUBJECTS[engine]
    argv = [sys.executable, "-m", "ci_eval", "evaluate", str(CONFIGS / f"{language}.yaml"), "--engine", engine]
    argv += ["--dependencies", "--sessions", str(sessions), "--jobs", "1"]
    kinds = "METHOD_CALL, FIELD, VARIABLE, TYPE_REFERENCE, ARGUMENT_NAME"
    for setting in (
        f"interpret.autoImport={mode}",
        f"actions.evaluationRoots={roots}",
        "actions.strategy.prefix={name: SimplePrefix, n: 1}",
        f"actions.strategy.filters={{statementTypes: [{kinds}]}}",
        "interpret.sessionProbability=1",
        "interpret.timeout=120",
        "interpret.allowedFailures=1",
    ):
        argv += ["--set", setting]
    subprocess.run([*argv, "--output", str(workspace)], check=True, stdout=subprocess.DEVNULL)


def lookups(workspace: Path) -> dict[str, Lookup]:
    """Return the answered lookups by session."""
    stored = Workspace.open(workspace).sessions(Session)
    return {session.id: session.lookups[-1] for _, sessions in stored for session in sessions if session.lookups}


def row(engine: str, sessions: int, folder: Path) -> str:
    """Return the line of the table for an engine."""
    runs = []
    for mode in ("off", "on"):
        workspace = folder / f"{engine}-{mode}"
        evaluate(engine, mode, sessions, workspace)
        runs.append(lookups(workspace))
    off, on = runs
    both = sorted(off.keys() & on.keys())
    cells = [engine, Workspace.open(folder / f"{engine}-on").manifest().project.name, str(len(both))]
    for limit in (1, 5, 10**9):
        shares = [sum((run[key].rank or 10**9 + 1) <= limit for key in both) / len(both) for run in runs]
        cells.append(" → ".join(f"{share * 100:.1f}" for share in shares))
    ranks = [(off[key].rank or 10**9, on[key].rank or 10**9) for key in both]
    cells.append(f"{sum(b > a for a, b in ranks)} / {sum(b < a for a, b in ranks)}")
    cells.append(" → ".join(f"{median(run[key].total for key in both):.0f}" for run in runs))
    # The two runs follow each other, so the times tell a factor rather than a few percent.
    cells.append(" → ".join(f"{median(run[key].latency for key in both):,.0f}" for run in runs))
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engines", nargs="*", metavar="ENGINE")
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="keeps the runs there")
    arguments = parser.parse_args()
    columns = "engine|project|names|RecallAt1 %|RecallAt5 %|Recall %|lower / higher rank|listed (median)|ms (median)"
    print(f"| {columns.replace('|', ' | ')} |\n|---|---|" + "--:|" * 7)
    with tempfile.TemporaryDirectory() as temporary:
        for engine in arguments.engines or SUBJECTS:
            print(row(engine, arguments.sessions, arguments.folder or Path(temporary)), flush=True)


if __name__ == "__main__":
    main()
