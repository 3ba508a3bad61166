"""Runs ci-eval for the action and the workflows: in an environment of its own, made of the checkout this file is in.

python run.py ARGUMENT...

The version of the action is so the version of the tool. The environment lies under RUNNER_TEMP; a runner of one's own
may have one that CI_EVAL_ENVIRONMENT names, which is used as it is. Needs Python alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION, PREPARATION = 2, 4
"""The exit codes of ci-eval for a wrong configuration, and if something could not be made ready."""
NEEDS = "It needs Python 3.10 or newer with venv, and PyPI or a mirror of it: the lines above say what is missing"
LEARNING = ("generate-ml-logs", "train-ranker", "fit-user-model", "ML")


def needs_ml(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether a job is about learning, or ranks by what was learned."""
    inputs = {name: text for name, text in environment.items() if name.startswith("INPUT_")}
    inputs |= json.loads(environment.get("CI_EVAL_INPUTS") or "{}")
    model = inputs.get("model") or inputs.get("INPUT_MODEL")
    return bool(model) or any(name in (*arguments, *inputs.values()) for name in LEARNING)


def lock(ml: bool) -> Path:
    """What is installed, with digests."""
    return ROOT / ".ci" / f"requirements{'-ml' if ml else ''}.txt"


def python_of(folder: Path) -> Path:
    """The interpreter of an environment."""
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def program(ml: bool, environment: Mapping[str, str]) -> Path:
    """The Python that has ci-eval and what the job needs; made when it is first needed."""
    if kept := environment.get("CI_EVAL_ENVIRONMENT"):
        return checked(python_of(Path(kept)), ml)
    # An environment that has more is as good.
    full = folder_of(True, environment)
    folder = full if (full / "complete").exists() else folder_of(ml, environment)
    if not (folder / "complete").exists():
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python_of(folder)), "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for options in installing(ml):
            subprocess.run([*pip, *options], check=True)
        (folder / "complete").touch()
    return python_of(folder)


def folder_of(ml: bool, environment: Mapping[str, str]) -> Path:
    """Return the folder of the environment; its name has the digest of the lock, of ci-eval and of the Python."""
    digest = hashlib.sha256(lock(ml).read_bytes() + bytes(ROOT) + f"{sys.executable} {sys.version}".encode())
    for path in (ROOT / "pyproject.toml", *sorted((ROOT / "ci_eval").rglob("*.py"))):
        digest.update(path.read_bytes())
    return Path(environment.get("RUNNER_TEMP") or ROOT / ".runner") / f"ci-eval-{digest.hexdigest()[:16]}"


def where(ml: bool, environment: Mapping[str, str]) -> None:
    """Tells a step by which key the CI may keep the environment, and where it lies; of a runner's own, nothing."""
    if not environment.get("CI_EVAL_ENVIRONMENT"):
        folder = folder_of(ml, environment)
        with Path(environment["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as outputs:
            outputs.write(f"path={folder}\nkey=ci-eval-environment-{platform.platform()}-{folder.name}\n")


def installing(ml: bool) -> tuple[list[str], list[str]]:
    """The options of pip: first what the lock says, by digests, then ci-eval itself, for which nothing is fetched."""
    packages = ["--require-hashes", "--only-binary=:all:", "-r", str(lock(ml))]
    return packages, ["--no-index", "--no-deps", "--no-build-isolation", str(ROOT)]


def checked(python: Path, ml: bool) -> Path:
    """An environment of the runner's own, if it has what the job needs."""
    modules = ["ci_eval", *(["lightgbm", "pyarrow"] if ml else [])]
    # To import them takes two seconds, at each step of a job; whether they are there is known at once.
    look = f"import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, {modules})))"
    if subprocess.run([str(python), "-I", "-c", look], check=False).returncode:
        extra = "[ml]" if ml else ""
        raise OSError(
            f"{python} lacks one of {', '.join(modules)}: install ci-eval{extra} there, or unset CI_EVAL_ENVIRONMENT"
        )
    return python


def registries(text: str) -> dict[str, str]:
    """NAME=VALUE on each line, the variables of package clients."""
    found = dict(line.strip().split("=", 1) for line in text.splitlines() if "=" in line)
    if len(found) != sum(bool(line.strip()) for line in text.splitlines()):
        # Not the line itself, which is a secret.
        print("the secret `registries` has a line that is not NAME=VALUE, or a name twice: see docs/ci.md")
        sys.exit(CONFIGURATION)
    return found


def main() -> int:
    """The exit code of ci-eval."""
    argv = sys.argv[1:]
    if argv[:1] == ["--where"]:
        where(argv[1:] == ["true"], os.environ)
        return 0
    os.environ |= registries(os.environ.pop("CI_EVAL_REGISTRIES", ""))
    temporary = os.environ.get("RUNNER_TEMP")
    if temporary:
        os.environ.setdefault("CI_EVAL_CACHE", str(Path(temporary) / "ci-eval-cache"))
    try:
        python = program(needs_ml(argv, os.environ), os.environ)
    except (OSError, subprocess.CalledProcessError) as error:
        message = f"ci-eval could not be installed: {error}. {NEEDS}".replace("\n", " ")
        print(f"::error title=ci-eval::{message}" if os.environ.get("GITHUB_ACTIONS") else message, flush=True)
        return PREPARATION
    print(f"ci-eval {shlex.join(argv)}".replace("::", ": :"), flush=True)
    # Isolated: a file of the caller's checkout must not stand for one of Python's modules.
    return subprocess.run([str(python), "-I", "-m", "ci_eval", *argv], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
