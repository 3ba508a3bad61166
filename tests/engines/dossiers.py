"""Dossiers: what one engine did in one language, observed once and read by many tests.

A dossier is rebuilt if anything that it depends on changed. The engines in `SENTINELS` are observed in every run, and
with `--all-engines` all of them.
"""

from __future__ import annotations

import ast
import fcntl
import hashlib
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import msgspec

import ci_eval
from ci_eval.core import machine
from ci_eval.core.catalogs import engines
from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.engine import TOOLCHAINS, FromRecipe, read_toolchain

SENTINELS = frozenset({"jedi", "zuban", "typescript"})
VERIFIED = [engine for name in engines.names() if (engine := engines.CATALOG.load(name)).verified]
PAIRS = [(engine.name, language) for engine in VERIFIED for language in sorted(engine.languages or ())]
"""Each verified engine with each of its languages; the controls have none of their own."""

PACKAGE = Path(ci_eval.__file__).parent
TESTS = Path(__file__).parents[1]
OBSERVERS = ("dossiers.py", "looking.py", "observing.py", "ordering.py", "hostile/*.py")
INTERPRETING = ("clients/vscode", "listview", "player")
"""The modules of stage 2 that decide how an engine is asked and which list a person sees."""


class Look(msgspec.Struct, kw_only=True):
    """The observations of one start of an engine in a project full of tricks (see `looking.py`)."""

    setting: str
    """How the project was configured and whether the engine was confined."""
    confined: str
    """The sandbox report measured inside the engine's process."""
    suggestions: dict[str, list[str]]
    """The texts suggested in each file that was asked about; an empty list where the engine failed."""
    latency: float
    """Milliseconds of the answer to the plain question."""
    tricks: list[str]
    """The tricks of the project that worked: nothing of it may run."""
    attempts: list[str]
    """System calls that lead out of the machine or start a program that does; empty if they were not traced."""
    programs: list[str]
    """The programs that ran, if they were traced."""
    survivors: list[str]
    """Processes of the engine that were alive after it was closed."""


class Dossier(msgspec.Struct, kw_only=True):
    """The observations of one engine in one language."""

    digest: str
    run: str
    """The test run that observed it."""
    version: str = ""
    looks: list[Look] = []
    ordered: dict[str, str] = {}
    """The answers of one confined process, in the order of the file: session → status and digest of the answer."""
    shuffled: dict[str, str] = {}
    """Those of two unconfined processes that were asked in another order."""
    failure: str = ""
    """Why it could not be observed."""


Observe = Callable[[str, str], Dossier]


def read_or_observe(name: str, language: str, run: str, observe: Observe, *, everything: bool) -> Dossier:
    """Return a stored dossier if it is current, else observe the engine and store what was seen.

    Processes that ask for the same dossier at the same time wait for one another. A failure is stored, too, so that
    the other tests of this run fail at once; a later run tries again.
    """
    path = path_of(name, language)
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = digest_of(name, language)
    with _locked(path.with_suffix(".lock")):
        stored = _read(path)
        if stored and _is_current(stored, path, digest, run, always=everything or name in SENTINELS):
            return stored
        try:
            dossier = observe(name, language)
        except BaseException as error:
            dossier = Dossier(digest="", run=run, failure=f"{type(error).__name__}: {error}")
            path.write_bytes(msgspec.json.encode(dossier))
            raise
        dossier = msgspec.structs.replace(dossier, digest=digest, run=run)
        path.write_bytes(msgspec.json.encode(dossier))
        path.with_suffix(".doubted").unlink(missing_ok=True)
        return dossier


def path_of(name: str, language: str) -> Path:
    """Return where the dossier of an engine in a language is stored."""
    return machine.cache_folder() / "dossiers" / f"{name}-{language}.json"


def doubt(name: str, language: str) -> None:
    """Have the next run observe the engine again: a test failed over this dossier."""
    path_of(name, language).with_suffix(".doubted").touch()


def _is_current(stored: Dossier, path: Path, digest: str, run: str, *, always: bool) -> bool:
    if stored.run == run:
        return True
    return not always and stored.digest == digest and not path.with_suffix(".doubted").exists()


def _read(path: Path) -> Dossier | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Dossier)
    except (OSError, msgspec.MsgspecError):  # not observed yet, or written by another version of these tests
        return None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# ------------------------------------------------------------------------------------------------------------- digest


def digest_of(name: str, language: str) -> str:
    """Return a digest of all that the observations of an engine depend on.

    That is what its module imports (adapter, recipe, confinement), the drivers, how stage 2 asks, how dependencies are
    installed, the tests that observe, the project of the language's configuration, and the machine's toolchains.
    """
    content = hashlib.sha256(msgspec.json.encode([language, *_machine(engines.CATALOG.load(name))]))
    for path in sources_of(name, language):
        content.update(str(path.relative_to(PACKAGE.parent)).encode() + b"\0" + _code(path) + b"\0")
    return content.hexdigest()


def _code(path: Path) -> bytes:
    """Return what of a file may change an observation: of Python, its syntax tree without docstrings."""
    content = path.read_bytes()
    if path.suffix != ".py":
        return content
    tree = ast.parse(content)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            # A string alone on its line does nothing, wherever it stands.
            node.body = [line for line in body if not _is_text(line)]  # type: ignore[attr-defined]
    return ast.dump(tree).encode()


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@cache
def sources_of(name: str, language: str) -> tuple[Path, ...]:
    """Return the files of this repository that the observations of an engine depend on."""
    plugins, module = PACKAGE / "plugins", engines.CATALOG.modules[name].replace(".", "/")
    starts = [PACKAGE.parent / f"{module}.py", plugins / "adapters" / "environments.py"]
    starts += [PACKAGE / "core" / "interpret" / f"{module}.py" for module in INTERPRETING]
    drivers = [path for path in (plugins / "drivers").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    observers = [path for pattern in OBSERVERS for path in (TESTS / "engines").glob(pattern)]
    config = PACKAGE.parent / "configs" / f"{language}.yaml"
    return tuple(sorted({*_closure(starts), *drivers, *observers, config}))


def _closure(starts: Sequence[Path]) -> set[Path]:
    """Return the modules and all that they import of ci-eval, but for the data model, which asks nothing."""
    reached: set[Path] = set()
    waiting = list(starts)
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting += _imports(path)
    return reached


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    names = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    own = [name.split(".")[1:] for name in names if name.startswith("ci_eval.") and ".core.model" not in name]
    files = [PACKAGE.joinpath(*parts) for parts in own]
    files = [file / "__init__.py" if file.is_dir() else file.with_suffix(".py") for file in files]
    return tuple(file for file in files if file.is_file())


def _machine(engine: Engine) -> list[str]:
    """Return the kernel's and Python's versions, and those of the toolchains that the engine runs on."""
    names = set(engine.toolchains)
    if isinstance(engine, FromRecipe):
        names |= {*engine.needs} & {*TOOLCHAINS}
    return [platform.release(), platform.python_version(), *(f"{name} {_version(name)}" for name in sorted(names))]


@cache
def _version(toolchain: str) -> str:
    return read_toolchain(toolchain)


def run_id() -> str:
    """Return a name of this test run, the same in all its worker processes."""
    return os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"process {os.getpid()}"
