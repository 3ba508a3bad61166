"""The search paths of a Python environment, read without running its interpreter, and commands that start servers
written in Python."""

from __future__ import annotations

import json
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from shlex import quote

import msgspec

from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.process import interpreter


def standard_paths() -> list[str]:
    # In a virtual environment, `platstdlib` would be a folder of that environment, without a standard library.
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    base |= {"installed_base": sys.base_prefix, "installed_platbase": sys.base_exec_prefix}
    platform = sysconfig.get_path("platstdlib", vars=base)
    return list(dict.fromkeys([sysconfig.get_path("stdlib", vars=base), platform, f"{platform}/lib-dynload"]))


def package_paths(environment: Path | None) -> list[str]:
    """Return the environment's `site-packages` and the folders in it that `.pth` files name, in the order of `site`."""
    sites = sorted(environment.glob("lib/python*/site-packages")) if environment else []
    paths = []
    for site in sites:
        paths.append(site)
        for file in sorted(site.glob("*.pth")):
            paths += [site / name for name in read_pth_folders(file, site)]
    return list(dict.fromkeys(map(str, paths)))


def read_pth_folders(path: Path, site: Path) -> list[str]:
    """Return the lines of a `.pth` file that name a folder within `site`."""
    try:
        # The encoding is that of `site` in Python 3.13; earlier releases use the encoding of the locale.
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return []
    inside = site.resolve()
    names = []
    for line in text.splitlines():
        name = line.rstrip()
        # Python's `site` runs a line that begins with `import` as code.
        if not name or name.startswith(("#", "import ", "import\t")):
            continue
        with suppress(OSError, ValueError, RuntimeError):  # a name that is too long, a null character, circular links
            folder = (site / name).resolve()
            if folder.is_dir() and inside in folder.parents:
                names.append(name)
    return names


def answering_python(place: Place) -> Path:
    """Write a shell script that answers like the environment's Python, without running Python. It answers the two
    questions that pyright and basedpyright ask with `-c` (`extractSys` and `extractVersion` in
    pyright-internal/src/common/fullAccessHost.ts, 1.1.414): the search paths, and the version."""
    prefix = str(place.environment or sys.base_prefix)
    paths = json.dumps({"path": [*standard_paths(), *package_paths(place.environment)], "prefix": prefix})
    version = json.dumps(sys.version_info[:])
    program = place.programs / "python"
    lines = (
        "#!/bin/sh",
        'case "$*" in',
        f"*sys.version_info*) printf '%s\\n' {quote(version)} ;;",
        f"*sys.prefix*) printf '%s\\n' {quote(paths)} ;;",
        "*) exit 1 ;;",
        "esac",
    )
    program.write_text("".join(f"{line}\n" for line in lines))
    program.chmod(0o755)
    return program


def python_code(place: Place, code: str, *arguments: str) -> list[str]:
    start = f"import sys; sys.path.insert(0, {str(place.folder)!r}); {code}"
    return [interpreter(), "-I", "-S", "-c", start, *arguments]


# By default, jedi imports the module `gi`, and compiled modules, which have no source to read. Here, jedi imports
# only compiled modules of the standard library, none of packages or of the project.
_BEFORE = """
from jedi import settings
from jedi.inference import compiled

settings.auto_import_modules = []
load = compiled.load_module

def load_standard(state, *, sys_path, **named):
    standard = [path for path in sys_path if path not in packages and "site-packages" not in path]
    return load(state, sys_path=standard, **named)

compiled.load_module = load_standard
"""

# jedi starts the environment's Python to import compiled modules, and to ask for search paths
# (`CompiledSubprocess._get_process` in jedi/inference/compiled/subprocess, jedi 0.20.1). Here, jedi starts the
# server's own Python, isolated and without `site`, and the environment's packages are added as data.
_PATHS = """
import sys
from jedi.api import environment
from jedi.inference.compiled import subprocess

start = subprocess._GeneralizedPopen
standard = environment.Environment.get_sys_path

def start_isolated(command, **named):
    return start((sys.executable, "-I", "-S", *command[1:]), **named)

def paths(self):
    return [*standard(self), *packages]

subprocess._GeneralizedPopen = start_isolated
environment.Environment.get_sys_path = paths
"""


class JediServer(msgspec.Struct, frozen=True):
    """The command of a server that uses jedi. The Python code `code` starts the server."""

    code: str

    def __call__(self, place: Place) -> list[str]:
        packages = [*map(str, place.sources), *package_paths(place.environment)]
        return python_code(place, f"exec({_BEFORE!r}); packages = {packages!r}; exec({_PATHS!r}); {self.code}")
