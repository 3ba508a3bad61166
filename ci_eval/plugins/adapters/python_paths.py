"""The search paths of Python as data: no interpreter of an environment is started to ask for them."""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from ci_eval.plugins.adapters.place import Place


def standard_paths() -> list[str]:
    """Return the folders of the standard library of the Python that runs ci-eval."""
    # In a virtual environment, `platstdlib` would lie in that environment, where no standard library is.
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    base |= {"installed_base": sys.base_prefix, "installed_platbase": sys.base_exec_prefix}
    platform = sysconfig.get_path("platstdlib", vars=base)
    return list(dict.fromkeys([sysconfig.get_path("stdlib", vars=base), platform, f"{platform}/lib-dynload"]))


def package_paths(environment: Path | None) -> list[str]:
    """Return the folders in which Python would find the packages of an environment.

    These are its `site-packages` and the folders within that its `.pth` files name, in the order of Python's `site`.
    """
    sites = sorted(environment.glob("lib/python*/site-packages")) if environment else []
    paths = [folder for site in sites for folder in (site, *_named_by_files(site))]
    return list(dict.fromkeys(map(str, paths)))


def _named_by_files(site: Path) -> Iterator[Path]:
    for path in sorted(site.glob("*.pth")):
        yield from (site / name for name in read_pth_folders(path, site))


def read_pth_folders(path: Path, site: Path) -> list[str]:
    """Return the lines of a `.pth` file that name a folder within `site`, read as Python reads them."""
    try:
        # As `site` of Python 3.13 reads these files; earlier releases use the encoding of the locale.
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return []
    inside = site.resolve()
    names = []
    for line in text.splitlines():
        name = line.rstrip()
        # Python's `site` runs a line that begins with `import` as code.
        is_code = name.startswith(("#", "import ", "import\t"))
        if name and not is_code and _is_within(site / name, inside):
            names.append(name)
    return names


def _is_within(folder: Path, inside: Path) -> bool:
    try:
        resolved = folder.resolve()
        return resolved.is_dir() and inside in resolved.parents
    except (OSError, ValueError, RuntimeError):  # too long, a null character, links in a circle
        return False


def answering_python(place: Place) -> Path:
    """Write a program that answers as the environment's Python would, and runs no Python; return its path.

    It knows the two questions that pyright and basedpyright ask by `-c` (`extractSys` and `extractVersion` in
    pyright-internal/src/common/fullAccessHost.ts, 1.1.414): the search paths, and the version.
    """
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
