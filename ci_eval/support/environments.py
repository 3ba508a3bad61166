"""The target project's own dependencies, for engines that resolve types: installed beside it; none of it is run."""

from __future__ import annotations

import shutil
import sys
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from ci_eval.errors import PreparationError
from ci_eval.model import ProjectInfo
from ci_eval.support import jars
from ci_eval.support.clients import run_client
from ci_eval.support.packages import installed, pip_run
from ci_eval.support.recipes import Made, once

WHEELS = ("--only-binary=:all:",)

Read = TypeVar("Read")


def prepare(language: str, root: Path, info: ProjectInfo, *, dependencies: bool, cache: Path) -> Made | None:
    """A folder below the cache with what the project needs; None where its language has nothing of the kind.

    Python: a virtual environment, empty without `dependencies`, so that engines see nobody else's packages.
    JavaScript, TypeScript: a folder with `node_modules`. Go: a module cache. Java, Kotlin, Scala, if the project comes
    from Maven: the jars it needs. Raises PreparationError.
    """
    make = _PREPARING.get(language)
    if make is None or not (dependencies or language == "python"):
        return None
    python = f"-py{sys.version_info.major}{sys.version_info.minor}" if language == "python" else ""
    kind = "full" if dependencies else "empty"
    target = cache / "environments" / f"{language}-{info.name}-{info.checksum[:16]}-{kind}{python}"
    return once(target, "", lambda new: make(_Task(root, info.spec, dependencies), new))


@dataclass(frozen=True)
class _Task:
    root: Path
    spec: str
    dependencies: bool


# --------------------------------------------------------------------------------------------------------- languages


def _python(task: _Task, folder: Path) -> Mapping[str, str]:
    # A virtual environment knows its own path only by the place it is found at; `once` moves it.
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    wanted = _python_requirements(task.root) if task.dependencies else []
    if wanted:
        pip_run(("install", *WHEELS, "--target", str(site), "--", *wanted), cwd=folder)
    return installed(site)


def _python_requirements(root: Path) -> list[str]:
    """Of a wheel's metadata, of pyproject.toml, or of requirements.txt: the first of them that is there."""
    for metadata in sorted(root.glob("*.dist-info/METADATA")):
        head = metadata.read_text(errors="replace").partition("\n\n")[0]
        found = [line.partition(":")[2].strip() for line in head.splitlines() if line.startswith("Requires-Dist:")]
        return [requirement for requirement in found if "extra ==" not in requirement]
    for name, read in (("pyproject.toml", _of_pyproject), ("requirements.txt", _of_requirements)):
        if (path := root / name).is_file():
            return read(path)
    return []


class _Project(msgspec.Struct, frozen=True):
    dependencies: list[str] = []


class _Pyproject(msgspec.Struct, frozen=True):
    project: _Project = _Project()


def _of_pyproject(path: Path) -> list[str]:
    try:
        return msgspec.toml.decode(path.read_bytes(), type=_Pyproject).project.dependencies
    except (msgspec.MsgspecError, ValueError) as error:
        raise PreparationError(f"Cannot read the dependencies in {path.name}: {error}") from error


def _of_requirements(path: Path) -> list[str]:
    """Plain requirements; options and addresses are left out, since they may lead anywhere."""
    lines = [line.partition("#")[0].strip() for line in path.read_text(errors="replace").splitlines()]
    return [line for line in lines if line and not line.startswith("-") and "://" not in line]


class _Manifest(msgspec.Struct):
    dependencies: dict[str, str] = {}


_NPM = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")


def _node(task: _Task, folder: Path) -> Mapping[str, str]:
    root = task.root
    manifest = root / "package.json"
    if not manifest.is_file():
        return {}
    locks = [name for name in ("package-lock.json", "npm-shrinkwrap.json") if (root / name).is_file()]
    for name in locks:
        shutil.copyfile(root / name, folder / name)
    if locks:
        shutil.copyfile(manifest, folder / manifest.name)
        run_client(("npm", "ci", "--omit=dev", *_NPM), cwd=folder)
    else:
        # npm resolves what is for development even where it is not wanted.
        wanted = {"private": True, "dependencies": _read(manifest, _Manifest).dependencies}
        (folder / manifest.name).write_bytes(msgspec.json.encode(wanted))
        run_client(("npm", "install", *_NPM), cwd=folder)
    found = sorted(path for path in folder.glob("node_modules/**/package.json") if _is_package(path))
    return {str(path.parent.relative_to(folder / "node_modules")): _read(path, _Package).version for path in found}


class _Package(msgspec.Struct):
    version: str = ""


def _read(path: Path, kind: type[Read]) -> Read:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except msgspec.MsgspecError as error:
        raise PreparationError(f"Cannot read {path.name} of {path.parent.name}: {error}") from error


def _is_package(path: Path) -> bool:
    return path.parent.parent.name == "node_modules" or path.parent.parent.parent.name == "node_modules"


def _go(task: _Task, folder: Path) -> Mapping[str, str]:
    if not (task.root / "go.mod").is_file():
        return {}
    work = folder / "work"
    shutil.copytree(task.root, work, symlinks=True)
    for path in (work, *work.rglob("*")):
        path.chmod(0o755)
    variables = {
        "GOMODCACHE": str(folder / "modules"),
        "GOFLAGS": "-mod=mod -modcacherw",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    run_client(("go", "mod", "download", "all"), cwd=work, variables=variables)
    said = run_client(("go", "list", "-m", "all"), cwd=work, variables=variables)
    shutil.rmtree(work)
    pairs = [line.split() for line in said.splitlines()[1:]]
    return {pair[0]: pair[1] for pair in pairs if len(pair) > 1}


def _jvm(task: _Task, folder: Path) -> Mapping[str, str]:
    scheme, _, rest = task.spec.partition(":")
    return jars.resolve(rest.partition("#")[0], folder, itself=False) if scheme == "maven" else {}


_PREPARING: dict[str, Callable[[_Task, Path], Mapping[str, str]]] = {
    "python": _python,
    "javascript": _node,
    "typescript": _node,
    "go": _go,
    "java": _jvm,
    "kotlin": _jvm,
    "scala": _jvm,
}
