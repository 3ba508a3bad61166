"""The job `doctor`: it checks what ci-eval needs on this machine, and names commands that install what is missing."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ci_eval.core import logs, machine
from ci_eval.core.base.catalog import Catalog, Plugin, all_plugins
from ci_eval.core.base.errors import CiEvalError, ConfigError
from ci_eval.core.catalogs import engines, graders, languages, metrics, rankers, tasks
from ci_eval.core.contracts import Query, Surroundings
from ci_eval.core.grammar import syntax
from ci_eval.fetch import schemes
from ci_eval.plugins.adapters.endpoints import apis, probing
from ci_eval.plugins.adapters.engine import TOOLCHAINS, is_at_least, read_toolchain
from ci_eval.plugins.adapters.place import measure_confinement
from ci_eval.plugins.adapters.process import NOTHING_OPEN
from ci_eval.plugins.learning.rankers import lightgbm
from ci_eval.rendering import reporters

PROGRAMS = {
    "git": "apt-get install git",
    "npm": "apt-get install npm",
    "node": "apt-get install nodejs",
    "mvn": "apt-get install maven",
    "java": "apt-get install default-jdk-headless",
    "go": "apt-get install golang-go",
    "ruby": "apt-get install ruby",
    "gem": "apt-get install ruby",
    "php": "apt-get install php-cli",
    "apt-get": "a machine with Debian or a derivative",
}


EXTENSIBLE: Mapping[str, Catalog[Any]] = {
    "endpoints": apis.CATALOG,
    "engines": engines.CATALOG,
    "graders": graders.CATALOG,
    "languages": languages.CATALOG,
    "metrics": metrics.CATALOG,
    "rankers": rankers.CATALOG,
    "reports": reporters.CATALOG,
    "schemes": schemes.CATALOG,
    "tasks": tasks.CATALOG,
}


class Finding(msgspec.Struct, frozen=True):
    what: str
    good: bool
    needed: bool
    detail: str
    tried: bool = True
    """True if the check used the program or engine, False if the check only looked for it."""


def examine() -> Iterator[Finding]:
    yield Finding("Python", sys.version_info >= (3, 10), True, machine.python())
    yield Finding("CPU", True, True, machine.cpu())
    yield _try("cache", True, _cache)
    yield _try("grammars", True, _grammars)
    yield _try("engine jedi", True, _jedi)
    confined = measure_confinement("auto")
    # Full confinement is not needed: with `interpret.confine: auto`, engines run without it.
    yield Finding("confinement of engines", confined.endswith(NOTHING_OPEN), False, confined)
    yield _try("pip (pypi: projects, other releases of jedi)", False, _pip)
    yield _try("extra ml (logs as Parquet, train-ranker, completion type ML)", False, _ml)
    for plugin in all_plugins():
        what = f"{plugin.point.group} {plugin.point.name} of {plugin.package} {plugin.version}"
        yield _try(what, True, partial(_plugin, plugin))
    yield from programs_and_engines()


examine_endpoint = probing.examine


def programs_and_engines() -> Iterator[Finding]:
    cache = machine.cache_folder()
    installable = [engine for engine in engines.CATALOG.all() if engine.is_ready(cache) is not None]
    fetching = {name: schemes.CATALOG.load(name).needs for name in schemes.names()}
    needed = [
        program for programs in (*fetching.values(), *(engine.needs for engine in installable)) for program in programs
    ]
    for program in dict.fromkeys((*PROGRAMS, *needed)):
        location = shutil.which(program)
        fetched = [f"{name}: projects" for name, needs in fetching.items() if program in needs]
        served = [engine.name for engine in installable if program in engine.needs]
        use = "; ".join([*fetched, *([", ".join(served)] if served else [])])
        helps = f"not found; for example: {PROGRAMS[program]}" if program in PROGRAMS else "not found"
        yield Finding(f"{program} ({use})", location is not None, False, location or helps, tried=False)
    here = {name: read_toolchain(name) for name in TOOLCHAINS}
    for engine in installable:
        what = f"engine {engine.name} {engine.version}"
        # A toolchain that is present may be too old for the engine.
        old = [name for name, lowest in engine.toolchains.items() if not is_at_least(here[name], lowest)]
        if missing := [program for program in engine.needs if not shutil.which(program)]:
            yield Finding(what, False, False, f"needs {' and '.join(missing)}; see above")
        elif old:
            lacks = (f"{name} {engine.toolchains[name]} or newer; here is {here[name] or 'none'}" for name in old)
            yield Finding(what, False, False, f"needs {' and '.join(lacks)}")
        elif engine.is_ready(cache):
            said = "installed" if engine.version != "system" else f"in the version of {engine.source}"
            yield Finding(what, True, False, said, tried=False)
        else:
            # This check installs nothing, so it does not know whether the source can be reached.
            yield Finding(what, True, False, f"is installed from {engine.source} on first use", tried=False)


def _try(what: str, needed: bool, attempt: Callable[[], str]) -> Finding:
    try:
        return Finding(what, True, needed, attempt())
    except (CiEvalError, OSError, ImportError, subprocess.SubprocessError) as error:
        return Finding(what, False, needed, str(error))


def _cache() -> str:
    folder = machine.cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    # Creating a file shows that the cache can be written to.
    with tempfile.TemporaryFile(dir=folder):
        free = shutil.disk_usage(folder).free
    return f"{folder}, {free / 1e9:.0f} GB free; CI_EVAL_CACHE chooses another folder"


def _grammars() -> str:
    for name in languages.names():
        # Extracting from an empty text loads the grammar.
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


def _plugin(plugin: Plugin) -> str:
    group = plugin.point.group.removeprefix("ci_eval.")
    if group not in EXTENSIBLE:
        raise ConfigError(
            f"no group has that name; the groups are {', '.join(f'ci_eval.{name}' for name in EXTENSIBLE)}"
        )
    EXTENSIBLE[group].load(plugin.point.name)
    if group == "metrics":
        # Loading all metrics raises an error if two families define the same name.
        metrics.load()
    return plugin.point.value


def _ml() -> str:
    logs.tables()
    return f"lightgbm {lightgbm().__version__}"


def _pip() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        raise OSError(f"missing in this environment: {sys.executable} -m ensurepip")
    return done.stdout.strip().partition(" from ")[0]
