"""Installs the evaluated project's dependencies, for engines that resolve types. No code of the dependencies runs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.base.files import below, is_own
from ci_eval.core.base.workspaces import MANIFEST, read_members, read_name
from ci_eval.core.model import ProjectInfo
from ci_eval.fetch import locks
from ci_eval.fetch.packages import check_origins, list_distributions, pip_run
from ci_eval.plugins.adapters import jars
from ci_eval.plugins.adapters.fetching import go_run, npm_install, npm_registries, read_npm_settings
from ci_eval.plugins.adapters.jars import read_needs
from ci_eval.plugins.adapters.process import interpreter
from ci_eval.plugins.adapters.python_paths import read_pth_folders
from ci_eval.plugins.adapters.recipes import InstalledEngine, once

# Building a source distribution would run its code.
WHEELS = ("--only-binary=:all:",)


def prepare(
    name: str,
    root: Path,
    info: ProjectInfo,
    *,
    dependencies: bool,
    cache: Path,
    groups: locks.Groups = (),
    sources: Sequence[Path] = (),
) -> InstalledEngine | None:
    """Return a folder below the cache with the project's dependencies, or None if no folder of this kind is needed.

    `name`: the kind of environment, see `Language.dependencies`. For python, the folder is a virtual environment; it is
    empty unless `dependencies` is true, so that engines see no other packages. For node, it has `node_modules`; for go,
    it is a module cache; for jvm, it has jars from Maven. `sources`: the folders of the project's own packages, if the
    project's files do not name them. Raises PreparationError.
    """
    kind = ENVIRONMENTS.get(name)
    if kind is None or not (dependencies or kind.also_empty):
        return None
    # All projects share one empty environment.
    content = f"{info.name}-{info.checksum[:16]}-full" if dependencies else "empty"
    if dependencies and (groups or sources):
        asked = repr((groups, *(str(source.relative_to(root)) for source in sources)))
        content += f"-{sha256(asked.encode()).hexdigest()[:8]}"
    return once(
        cache / "environments" / f"{name}-{content}{kind.mark}",
        "",
        lambda new: kind.make(_Task(root, info.spec, dependencies, groups, tuple(sources)), new),
    )


def can_install_safely(name: str, root: Path, info: ProjectInfo) -> bool:
    """Return whether a lock file names all versions that the project needs, or the project comes from a registry that
    names its dependencies. The installation then builds nothing and includes no development dependencies."""
    kind = ENVIRONMENTS.get(name)
    return kind is not None and (info.spec.startswith(kind.registry) or any(kind.locked(root)))


def find_remedies(
    name: str, root: Path, packages: Collection[str], *, installed: bool, groups: locks.Groups = ()
) -> dict[str, str]:
    """Return package → advice on how engines would find the package, besides `--dependencies`. `installed`: whether the
    project's dependencies were installed, together with `groups`. Raises PreparationError."""
    kind = ENVIRONMENTS.get(name)
    unread = next((name for name in kind.unread if is_own(root / name, root)), "") if kind else ""
    if kind is None:
        remedy = NOT_INSTALLED[name]
    elif unread and not any(is_own(root / name, root) for name in kind.files.split(" or ")):
        remedy = f"ci-eval does not read the project's {unread}: list the dependencies in {kind.files}"
    elif not installed:
        remedy = ""
    elif not groups and (known := kind.groups(root)):
        remedy = f"project.dependencyGroups: all also installs dependencies for {', '.join(sorted(known))}"
    else:
        remedy = f"no dependency in the project's {kind.files}"
    remedies = dict.fromkeys(packages, remedy) if remedy else {}
    own: dict[str, str] = {}
    for path in sorted(below(root, root, (".py", ".pyi"))) if name == "python" else ():
        parts = path.rpartition(".")[0].split("/")
        own |= {parts[depth]: "/".join(parts[:depth]) for depth in range(1, len(parts))}
    for path in sorted(below(root, root, (MANIFEST,))) if name == "node" else ():
        # A broken manifest, such as a test's, names no package.
        with suppress(PreparationError):
            own[read_name(root, (root / path).parent)] = path.rpartition("/")[0]
    for package, folder in own.items():
        if package in packages:
            remedies[package] = f"in the project's folder {folder}: add this folder to project.sourceRoots"
    return remedies


NOT_INSTALLED = {
    "": "neither in the project nor on this machine: install the headers, or add a compile_commands.json",
    "cargo": "not in the project, and ci-eval installs no crates",
    "composer": "not in the project: run `composer install` there, since engines read the folder vendor",
}
"""Value of `Language.dependencies` for which ci-eval has no installer → advice about missing packages."""


class _Task(msgspec.Struct, frozen=True):
    root: Path
    spec: str
    dependencies: bool
    groups: locks.Groups
    sources: tuple[Path, ...]


# ------------------------------------------------------------------------------------------------------------- kinds


def _python(task: _Task, folder: Path) -> Mapping[str, str]:
    # The virtual environment has no interpreter: tools can read it, but not run its code.
    site = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    site.mkdir(parents=True)
    version = ".".join(map(str, sys.version_info[:3]))
    home = f"home = {Path(interpreter()).parent}\ninclude-system-site-packages = false\nversion = {version}\n"
    (folder / "pyvenv.cfg").write_text(home, encoding="utf-8")
    requirements = locks.read_python_requirements(task.root, task.groups) if task.dependencies else []
    if requirements:
        pip_run(("install", *WHEELS, "--target", str(site), "--", *requirements), cwd=folder)
        check_origins(site)
        _forget_start_up(site)
    return list_distributions(site)


def _forget_start_up(site: Path) -> None:
    """Remove the code that every Python with these packages would run at startup. Of `.pth` files, only the lines that
    name a folder within `site` are kept."""
    folders = {site}
    for path in site.glob("*.pth"):
        lines = read_pth_folders(path, site)
        folders |= {site / line for line in lines}
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for folder in folders:
        for path in (*folder.glob("sitecustomize*"), *folder.glob("usercustomize*")):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


_NPM = ("--omit=dev", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")


def _node(task: _Task, folder: Path) -> Mapping[str, str]:
    root = task.root
    manifest = root / "package.json"
    if not is_own(manifest, root):
        return {}
    settings = read_npm_settings(folder)
    if lock := next((root / name for name in locks.LOCKS if is_own(root / name, root)), None):
        hosts = {urlsplit(address).hostname or "" for address in npm_registries(settings).values()}
        locks.write_npm_lock(manifest, lock, folder, hosts, read_members(root, task.sources), task.groups)
    else:
        locks.write_npm_manifests(root, read_members(root, task.sources), folder, task.groups)
    npm_install(("ci" if lock else "install", *_NPM), folder, settings)
    paths = folder.glob("node_modules/**/package.json")
    # The name of a package consists of one or two folders, such as `@types/node`.
    manifests = sorted(path for path in paths if "node_modules" in path.parts[-4:-2])
    return {
        str(path.parent.relative_to(folder / "node_modules")): locks.read_json(path, dict[str, Any]).get("version", "")
        for path in manifests
    }


def _go(task: _Task, folder: Path) -> Mapping[str, str]:
    if not any(is_own(task.root / name, task.root) for name in ("go.mod", "go.work")):
        return {}
    work = folder / "work"
    work.mkdir()
    locks.write_go_modules(task.root, work)
    (folder / "modules").mkdir()
    commands = (("go", "mod", "download", "all"), ("go", "list", "-m", "all"))
    output = go_run(commands, work, folder / "modules")
    shutil.rmtree(work)
    # The project's modules are skipped: the main module is the first line, and folders replace its other modules.
    pairs = [line.split() for line in output.splitlines()[1:]]
    return {pair[0]: pair[1] for pair in pairs if len(pair) > 1 and not pair[-1].startswith(".")}


def _jvm(task: _Task, folder: Path) -> Mapping[str, str]:
    scheme, _, coordinates = task.spec.partition(":")
    if scheme == "maven":
        return jars.resolve(coordinates.partition("#")[0], folder, itself=False)
    if not is_own(task.root / "pom.xml", task.root):
        return {}
    return dict(jars.copy_jars(read_needs(task.root), folder).values())


class _Kind(msgspec.Struct, frozen=True):
    make: Callable[[_Task, Path], Mapping[str, str]]
    registry: str
    locked: Callable[[Path], Iterable[bool]]
    """Takes the project's root. The project has a lock if any of the returned values is true."""
    files: str
    groups: Callable[[Path], Collection[str]] = lambda _: ()
    """Takes the project's root and returns the groups of dependencies that are not installed by default."""
    unread: tuple[str, ...] = ()
    """Files that may name dependencies but that ci-eval does not read."""
    also_empty: bool = False
    """True if engines get an environment even without the project's dependencies."""
    mark: str = ""
    """A suffix of the folder's name. It tells folders of different versions of Python or ci-eval apart."""


ENVIRONMENTS = {
    "python": _Kind(
        _python,
        "pypi:",
        lambda root: [locks.is_pinned(root)],
        "pyproject.toml or requirements.txt",
        locks.find_python_groups,
        unread=("Pipfile", "setup.cfg", "setup.py"),
        also_empty=True,
        mark=f"-py{sys.version_info.major}{sys.version_info.minor}-own",
    ),
    "node": _Kind(
        _node,
        "npm:",
        lambda root: (is_own(root / name, root) for name in locks.LOCKS),
        MANIFEST,
        lambda root: ["development"] if locks.has_development(root) else (),
        mark="-own",
    ),
    "go": _Kind(_go, "go:", lambda root: (is_own(root / name, root) for name in ("go.sum", "go.work.sum")), "go.mod"),
    # Maven has no locks.
    "jvm": _Kind(_jvm, "maven:", lambda _: (), "pom.xml", unread=("build.gradle", "build.gradle.kts", "build.sbt")),
}
