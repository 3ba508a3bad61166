"""What this machine has, what it lacks, and the command that helps."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ci_eval import engines, languages
from ci_eval.contracts import Query, Surroundings
from ci_eval.errors import CiEvalError
from ci_eval.support import machine, syntax


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    good: bool
    needed: bool
    """Whether nothing works without it."""
    detail: str
    """What it is, or what helps."""


def examine() -> Iterator[Finding]:
    """Look at everything ci-eval uses."""
    yield Finding("Python", sys.version_info >= (3, 10), True, machine.python())
    yield Finding("CPU", True, True, machine.cpu())
    yield _tried("cache", True, _cache)
    yield _tried("grammars", True, _grammars)
    yield _tried("engine jedi", True, _jedi)
    yield _tried("pip (pypi: projects, other releases of jedi)", False, _pip)
    for client, use, packages in (
        ("git", "git: projects", "apt-get install git"),
        ("npm", "npm: projects", "apt-get install npm"),
        ("mvn", "maven: projects", "apt-get install maven"),
        ("go", "go: projects", "apt-get install golang-go"),
        ("apt-get", "debian: projects", "a machine with Debian or a derivative"),
    ):
        found = shutil.which(client)
        yield Finding(f"{client} ({use})", found is not None, False, found or f"not found; for example: {packages}")


def _tried(what: str, needed: bool, attempt: Callable[[], str]) -> Finding:
    try:
        return Finding(what, True, needed, attempt())
    except (CiEvalError, OSError, ImportError, subprocess.SubprocessError) as error:
        return Finding(what, False, needed, str(error))


def _cache() -> str:
    folder = machine.cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        free = shutil.disk_usage(folder).free
    return f"{folder}, {free / 1e9:.0f} GB free; set CI_EVAL_CACHE to have it elsewhere"


def _grammars() -> str:
    for name in languages.names():
        languages.CATALOG.load(name).extract("", "empty", {})
    return f"{syntax.bundle()}: {', '.join(languages.names())}"


def _jedi() -> str:
    engine = engines.CATALOG.load("jedi")
    cache = machine.cache_folder()
    installation = engine.install(None, cache)
    with tempfile.TemporaryDirectory() as root:
        surroundings = Surroundings(
            root=Path(root), language="python", keywords=frozenset(), cache=cache, timeout=30.0, memory=0
        )
        running = engine.start(installation, surroundings)
        try:
            running.open("a.py", "import os\nos.")
            answer = running.complete(Query(offset=13, prefix="", expected=""))
        finally:
            running.close()
    return f"{installation.info.version}: {len(answer.suggestions)} suggestions after `os.` in {answer.latency:.0f} ms"


def _pip() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        raise OSError(f"missing in this environment: {sys.executable} -m ensurepip")
    return done.stdout.strip().partition(" from ")[0]
