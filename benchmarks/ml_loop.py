"""The loop closed: logs of many projects → a ranker → BASIC against ML and the baselines, on projects it never saw.

python benchmarks/ml_loop.py [python] [go] [--sessions N] [--folder DIR]

Per language: `generate-ml-logs` over the training projects, `train-ranker`, then on each of the other projects the same
sessions (0, 1 and 3 characters typed) in the engine's own order, in that of each baseline and in the model's; `merge`
and `compare`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECTS = {
    "python": (
        "jedi",
        [
            "pypi:requests==2.32.3", "pypi:click==8.1.7", "pypi:jinja2==3.1.4", "pypi:werkzeug==3.0.4",
            "pypi:attrs==24.2.0", "pypi:httpx==0.27.2", "pypi:markdown==3.7", "pypi:sqlparse==0.5.1",
            "pypi:marshmallow==3.22.0", "pypi:urllib3==2.2.3", "pypi:packaging==24.1", "pypi:rich==13.9.4",
        ],
        ["pypi:flask==3.0.3", "pypi:starlette==0.38.6", "pypi:poetry-core==1.9.0", "pypi:tornado==6.4.1"],
    ),
    "go": (
        "gopls",
        [
            "go:github.com/spf13/cobra@v1.8.1", "go:github.com/gorilla/mux@v1.8.1",
            "go:github.com/go-chi/chi/v5@v5.1.0", "go:github.com/sirupsen/logrus@v1.9.3",
            "go:github.com/urfave/cli/v2@v2.27.4",
            "go:github.com/stretchr/testify@v1.9.0", "go:gopkg.in/yaml.v3@v3.0.1", "go:github.com/spf13/pflag@v1.0.5",
            "go:github.com/pelletier/go-toml/v2@v2.2.3", "go:github.com/julienschmidt/httprouter@v1.3.0",
        ],
        ["go:github.com/gin-gonic/gin@v1.10.0", "go:github.com/spf13/viper@v1.19.0", "go:go.uber.org/zap@v1.27.0"],
    ),
}  # fmt: skip
BASELINES = ("FREQUENCY", "RECENCY", "NGRAM")
LADDER = "actions.strategy.prefix={name: Ladder, lengths: [0, 1, 3]}"


def ci_eval(*arguments: object) -> str:
    """The output of a command, which is shown where it fails."""
    argv = [sys.executable, "-m", "ci_eval", *map(str, arguments)]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{' '.join(argv)}\n{ended.stdout}\n{ended.stderr}")
    return ended.stdout


def close(language: str, folder: Path, sessions: int) -> None:
    """One language."""
    engine, training, held_out = PROJECTS[language]
    # gopls answers nothing in a module whose requirements are not there.
    needs = ("--set", "project.dependencies=true") if language == "go" else ()
    what = ("--language", language, "--engine", engine, "--set", f"interpret.sessionsLimit={sessions}", *needs)
    logs = [folder / f"logs{number}" for number in range(len(training))]
    for spec, output in zip(training, logs, strict=True):
        if not (output / "logs" / "manifest.json").exists():
            ci_eval("generate-ml-logs", "--project", spec, *what, "--output", output)
            print(spec, flush=True)
    model = folder / "model.json"
    print(ci_eval("train-ranker", *logs, "--output", model))
    sides: dict[str, list[Path]] = {name: [] for name in ("BASIC", *BASELINES, "ML")}
    for number, spec in enumerate(held_out):
        basic, ml = folder / f"basic{number}", folder / f"ml{number}"
        ci_eval("evaluate", "--project", spec, *what, "--set", LADDER, "--output", basic)
        ci_eval("interpret", basic, "--completion-type", "ML", "--model", model, "--output", ml)
        ci_eval("report", ml)
        sides["BASIC"].append(basic)
        sides["ML"].append(ml)
        for name in BASELINES:
            ci_eval("rerank", basic, "--completion-type", name, "--output", folder / f"{name}{number}")
            sides[name].append(folder / f"{name}{number}")
        print(spec, _difference(basic, ml, folder / f"compare{number}"), flush=True)
    for name, folders in sides.items():
        ci_eval("merge", *folders, "--output", folder / name)
    print("all", _difference(folder / "BASIC", folder / "ML", folder / "compare"))
    for name in BASELINES:
        print(name, _difference(folder / "BASIC", folder / name, folder / f"compare-{name}"))
        print(f"{name} against ML", _difference(folder / name, folder / "ML", folder / f"ml-{name}"))
    print(ci_eval("compare", folder / "BASIC", folder / "ML", "--output", folder / "shown"))
    for part in json.loads((folder / "compare" / "comparison.json").read_text())["parts"]:
        if part["dimension"] in {"prefix length", "kind"}:
            print(part["dimension"], part["value"], part["sessions"], _said(part["difference"]))


def _difference(base: Path, new: Path, output: Path) -> str:
    ci_eval("compare", base, new, "--output", output)
    found = json.loads((output / "comparison.json").read_text())["filters"]["ALL"]["metrics"]
    return _said(found["RecallAt1"])


def _said(found: dict[str, float]) -> str:
    low, high = found["low"] or 0.0, found["high"] or 0.0
    return (
        f"{found['base']:.1%} -> {found['new']:.1%}, {found['difference'] * 100:+.1f} points "
        f"({low * 100:+.1f} to {high * 100:+.1f}), {found['verdict']}"
    )


def main() -> None:
    """Print the table of docs/results/ml.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", default=list(PROJECTS))
    parser.add_argument("--sessions", type=int, default=1500)
    parser.add_argument("--folder", type=Path, help="keeps what is made there; logs that are there are used")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for language in given.languages:
            folder = (given.folder or Path(temporary)) / language
            folder.mkdir(parents=True, exist_ok=True)
            close(language, folder, given.sessions)


if __name__ == "__main__":
    main()
