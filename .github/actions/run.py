"""Runs ci-eval for the composite actions: in an environment of its own, with the inputs as its options.

python run.py COMMAND [ARGUMENT...]

The environment lies under RUNNER_TEMP and is made of the checkout this file belongs to, so that the version of the
action is the version of the tool. Inputs come as INPUT_* variables, never as text of a script. Needs Python alone.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = {
    "evaluate": (
        "language", "engine", "project", "completion-type", "model", "shard", "jobs", "output",
    ),
    "generate-ml-logs": (
        "language", "engine", "project", "shard", "jobs", "output",
    ),
    "compare": ("history", "output"),
    "merge": ("output",),
}  # fmt: skip
REPEATED = {"set": "--set", "gates": "--gate", "log-formats": "--log-format"}
PLACES = {
    "evaluate": ("config",),
    "generate-ml-logs": ("config",),
    "compare": ("base", "new", "more"),
    "merge": ("new",),
}


def given(name: str) -> str:
    """An input; empty where the caller gave none."""
    return os.environ.get(f"INPUT_{name.upper().replace('-', '_')}", "").strip()


def arguments(command: str) -> Iterator[str]:
    """What ci-eval is called with. Inputs of several values have one on each line."""
    yield command
    for name in OPTIONS.get(command, ()):
        if value := given(name):
            yield f"--{name}={value}"
    for name, option in REPEATED.items():
        for line in given(name).splitlines():
            if line.strip():
                yield f"{option}={line.strip()}"
    values = [line.strip() for name in PLACES.get(command, ()) for line in given(name).splitlines()]
    if any(values):
        # A value that looks like an option is none.
        yield "--"
        yield from filter(None, values)


def program() -> Path:
    """ci-eval in its own environment, which is made when it is first needed."""
    # A runner of one's own may keep an environment that is there already.
    kept = os.environ.get("CI_EVAL_ENVIRONMENT")
    folder = Path(kept or Path(os.environ.get("RUNNER_TEMP") or ROOT / ".runner") / "ci-eval-environment")
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        ml = given("extras") == "ml" or given("model") or "generate-ml-logs" in sys.argv
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for options in installing(ml="-ml" if ml else ""):
            subprocess.run([*pip, *options], check=True)
    return python


def installing(ml: str) -> tuple[list[str], list[str]]:
    """The options of pip: first what the lock says, by digests, then ci-eval itself, for which nothing is fetched."""
    lock = ["--require-hashes", "--only-binary=:all:", "-r", str(ROOT / ".ci" / f"requirements{ml}.txt")]
    return lock, ["--no-index", "--no-deps", "--no-build-isolation", str(ROOT)]


def main() -> int:
    """The exit code of ci-eval."""
    if len(sys.argv) < 2:
        print("usage: run.py COMMAND [ARGUMENT...], a command of ci-eval", file=sys.stderr)
        return 2
    command, *more = sys.argv[1:]
    argv = [*arguments(command), *more]
    python = program()
    print(f"ci-eval {shlex.join(argv)}".replace("::", ": :"), flush=True)
    return subprocess.run([str(python), "-m", "ci_eval", *argv], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
