"""The rights of an engine's process on the machine, which `drivers/confine` enforces."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.model import Confine

PACKAGE = Path(__file__).parents[3]
# With -I, Python does not look for packages where this one lies.
START = (
    f"import sys; sys.path.insert(0, {str(PACKAGE)!r}); from ci_eval.plugins.drivers.confine.main import main; main()"
)

NOTHING_OPEN = "nothing found open"
"""The end of the report of a fully confined process; see `drivers/confine/proof.py`."""

SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store", "/gnu/store")))
"""Folders of the system, in which every engine may read and run everything."""
TOPS = ("package.json", "pyproject.toml", "Gemfile", "composer.json", "go.mod", "Cargo.toml", ".git")
"""Files that mark the top folder of a project or an installed package."""


def interpreter() -> str:
    """Return the Python that runs ci-eval, without its virtual environment."""
    # CPython does not document this name, and may leave it empty.
    base: str = getattr(sys, "_base_executable", "") or sys.executable
    return base


@dataclass(frozen=True, kw_only=True)
class Walls:
    """The rights of a process to read, run and write beside the system's libraries; by default none."""

    confine: Confine = "off"
    runs: tuple[Path, ...] = ()
    """The files and folders that the process may read and run."""
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    connects: int = 0
    """A port of TCP that the process may connect to; 0 = none, and no socket either."""
    canary: Path | None = None
    """A file of ours outside of all these folders, which the process must not be able to read; needed unless `confine`
    is off."""
    memory: int = 0
    """Bytes of memory that the process and all it starts may use together; 0 = no limit."""
    address_space: int = 0
    """Bytes of address space of the process alone; 0 = no limit."""
    remains: Path | None = None
    """A folder that the supervisor deletes if ci-eval itself is killed."""

    def around(self, argv: Sequence[str], report: int) -> list[str]:
        """Return the command that starts `argv` within these walls. A report of how well the walls hold is written to
        descriptor `report`."""
        paths = {"--run": self.runs, "--read": self.reads, "--write": self.writes}
        options = [text for name, allowed in paths.items() for path in allowed for text in (name, str(path))]
        options += ["--confine", self.confine, "--report", str(report)]
        options += ["--memory", str(self.memory), "--address-space", str(self.address_space)]
        options += ["--canary", str(self.canary or ""), "--remains", str(self.remains or "")]
        options += ["--connect", str(self.connects), "--caller", str(os.getpid())]
        # With -I and -S, nothing from the current folder, the environment or `site` is imported before the sandbox is
        # set up.
        return [interpreter(), "-I", "-S", "-c", START, *options, "--", *argv]


def find_installs(program: str) -> list[Path]:
    """Return the folders that a program must be able to read in order to run: the one it is installed in and, for a
    script, that of its interpreter. Folders in SYSTEM are left out, since they are readable anyway."""
    executable = shutil.which(program)
    if executable is None:
        return []
    path = Path(executable).absolute()
    # Of a virtual environment's Python, both that environment and what it links to.
    paths = [file for run in (path, *_find_interpreters(path)) for file in (run, run.resolve())]
    return list(dict.fromkeys(install for file in paths for install in _find_install(file)))


def _find_interpreters(path: Path) -> Iterator[Path]:
    with path.open("rb") as file:
        # A compiled program may have no line end for megabytes.
        first = file.readline(500)
    if first.startswith(b"#!"):
        words = first[2:].decode(errors="replace").split()
        if words[:1] == ["/usr/bin/env"]:
            # Options of env, such as `-S`, stand before the program.
            words = [shutil.which(word) or "" for word in words[1:] if not word.startswith("-")]
        yield from (Path(word).absolute() for word in words[:1] if word)


def _find_install(path: Path) -> list[Path]:
    if any(path.is_relative_to(system) for system in SYSTEM):
        return []
    return [find_install_root(path)]


def find_install_root(path: Path) -> Path:
    """Return the folder in which a file was installed or is developed, or the file itself if that folder holds too
    much."""
    if "node_modules" in path.parts:
        # A package of npm needs those that are installed beside it.
        modules = Path(*path.parts[: path.parts.index("node_modules") + 1])
        tops = [*([modules.parent] if _is_top(modules.parent) else []), modules]
    elif path.parent.name in ("bin", "sbin"):
        # A program in bin needs what is installed beside that folder, such as lib.
        tops = [path.parents[1]]
    else:
        tops = [*filter(_is_top, path.parents), path.parent]
    return next((top for top in tops if not _holds_too_much(top)), path)


def _is_top(folder: Path) -> bool:
    return any((folder / name).exists() for name in TOPS)


def _holds_too_much(folder: Path) -> bool:
    # A home folder, a folder above one, and folders in which many programs keep their files would expose passwords.
    home = Path.home()
    # A hidden folder in the home is allowed only if it is a virtual environment.
    shared = folder.parent == home and folder.name.startswith(".") and not (folder / "pyvenv.cfg").exists()
    return home.is_relative_to(folder) or shared or folder.parent in (home / ".local", Path("/"))
