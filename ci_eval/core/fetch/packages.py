"""A downloader that runs pip and npm. They fetch wheels and tarballs, and never run a package's own code."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ci_eval.core.base.errors import InstallError
from ci_eval.core.base.quoting import quote
from ci_eval.core.base.workspaces import NAME
from ci_eval.core.fetch.clients import TIMEOUT, UNREACHABLE, failure, match_source, one_file, run_to_end

PYPI = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:\[[A-Za-z0-9._,-]+\])?==(?P<version>[0-9][A-Za-z0-9.!+_-]*)"
)
PYPI_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
NPM = re.compile(
    r"(?P<name>(?:@[A-Za-z0-9][A-Za-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*)"
    r"@(?P<version>\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)",
    re.ASCII,
)

WHEELS_ONLY = (
    "Only wheels are taken, nothing is built: check name and version, and that this release has a wheel for this "
    "Python. A release with a source archive alone can be had by its https or git address."
)


NPM_NAME = NAME

REGISTRY_ONLY = (
    "Only packages of a registry are taken: what comes from git is made ready by programs that it brings itself. "
    "Leave out the package that needs it, or set project.dependencies to false."
)

ALONE = Path(__file__).parents[2] / "plugins" / "drivers"
# NODE_OPTIONS has its own quoting, in which backslashes escape.
NO_PROGRAMS = '--require "{}"'.format(str(ALONE / "alone.cjs").replace("\\", "\\\\").replace('"', '\\"'))
"""The options of Node.js by which npm may start no program."""
REFUSED = "ci-eval lets "
"""The beginning of the messages of `drivers/alone.*`."""


def pip_download(requirement: str, folder: Path, *, timeout: float = TIMEOUT) -> Path:
    """Return the wheel of NAME==VERSION, or of NAME's newest version, downloaded by pip into `folder`. `timeout`:
    seconds. Raises ConfigError, InstallError."""
    if not PYPI_NAME.fullmatch(requirement):
        check_requirement(requirement)
    options = ("download", "--no-deps", "--only-binary=:all:", "-d", ".")

    def run(here: Path) -> None:
        pip_run((*options, "--", requirement), cwd=here, timeout=timeout)

    return one_file(run, ".whl", folder, f"pip brought no wheel of {requirement}. {WHEELS_ONLY}")


def pip_install(requirements: Sequence[str], target: Path, *, timeout: float = TIMEOUT) -> dict[str, str]:
    """Install wheels of NAME==VERSION… and what they need into the folder `target`. This takes seconds. Returns the
    version of each distribution in the folder, by name. Raises ConfigError or InstallError."""
    for requirement in requirements:
        check_requirement(requirement)
    target.mkdir(parents=True, exist_ok=True)
    options = ("install", "--only-binary=:all:", "--target", str(target.resolve()))
    with tempfile.TemporaryDirectory() as empty:
        pip_run((*options, "--", *requirements), cwd=Path(empty), timeout=timeout)
    return list_distributions(target)


def list_distributions(target: Path) -> dict[str, str]:
    """Return the version of each distribution below a folder that pip filled, by name, in order of name."""
    distributions = importlib.metadata.distributions(path=[str(target)])
    return dict(sorted((item.metadata["Name"], item.version) for item in distributions))


def check_origins(target: Path) -> None:
    """Check that all distributions below `target` came from an index. Raises InstallError otherwise."""
    for item in importlib.metadata.distributions(path=[str(target)]):
        # PEP 610: written for what a requirement named by its address.
        if origin := item.read_text("direct_url.json"):
            raise InstallError(
                f"{item.metadata['Name']} came from elsewhere than an index: {quote(origin, 200)}. {WHEELS_ONLY}"
            )


def npm_pack(spec: str, folder: Path, *, timeout: float = TIMEOUT) -> Path:
    """Return the tarball of NAME@VERSION, or of NAME's newest version, downloaded by npm into `folder`. `timeout`:
    seconds. Raises ConfigError, InstallError."""
    if not NPM_NAME.fullmatch(spec):
        check_npm(spec)

    def run(here: Path) -> None:
        npm_run(("pack", "--", spec), cwd=here, timeout=timeout)

    return one_file(run, ".tgz", folder, f"npm brought no tarball of {spec}. Check name and version.")


def check_requirement(requirement: str) -> re.Match[str]:
    """Return the match of NAME==VERSION, with the groups `name` and `version`. Raises ConfigError if it reads
    otherwise."""
    return match_source(PYPI, requirement, "NAME==VERSION, as in six==1.16.0, nor NAME for the newest version.")


def check_npm(spec: str) -> re.Match[str]:
    """Return the match of NAME@VERSION or @SCOPE/NAME@VERSION. Raises ConfigError if it reads otherwise."""
    return match_source(NPM, spec, "NAME@VERSION, as in is-number@7.0.0, nor NAME for the newest version.")


def pip_run(arguments: Sequence[str], *, cwd: Path, timeout: float = TIMEOUT) -> None:
    """Run pip, which may start no program and so builds nothing. Raises InstallError with advice."""
    if importlib.util.find_spec("pip") is None:
        raise InstallError(
            "pip is not in the environment ci-eval runs in (uv makes them without). "
            f"Add it: `uv pip install pip`, or `{Path(sys.executable).name} -m ensurepip`."
        )
    common = ("--no-input", "--disable-pip-version-check", "--progress-bar=off")
    argv = (sys.executable, str(ALONE / "alone.py"), "pip", arguments[0], *common, *arguments[1:])
    ended = run_to_end(argv, cwd=cwd, timeout=timeout)
    if not ended.code:
        return
    if REFUSED in ended.trouble:
        raise InstallError(f"pip was not allowed to build {_find_last_package(ended.output)}. {WHEELS_ONLY}")
    if UNREACHABLE.search(ended.trouble):
        raise InstallError(failure(ended))
    hint = WHEELS_ONLY if "No matching distribution" in ended.trouble else "Check pip's settings: `pip config list`."
    raise InstallError(f"{failure(ended)}\n{hint}")


def _find_last_package(output: str) -> str:
    """Return the package that pip was working on, and the package that depends on it."""
    # pip prints this line before it builds anything.
    lines = [line.strip() for line in output.splitlines()]
    collected = [line.partition(" ")[2] for line in lines if line.startswith(("Collecting ", "Processing "))]
    return quote(collected[-1]) if collected else "a package"


def npm_run(arguments: Sequence[str], *, cwd: Path, timeout: float = TIMEOUT) -> str:
    """Run npm, which may run no script and start no program, and return what it printed. Raises InstallError."""
    inherited = os.environ.get("NODE_OPTIONS", "")
    variables = {"NODE_OPTIONS": f"{inherited} {NO_PROGRAMS}".strip()}
    argv = ("npm", arguments[0], "--ignore-scripts", *arguments[1:])
    ended = run_to_end(argv, cwd=cwd, timeout=timeout, variables=variables)
    if REFUSED in ended.trouble:
        raise InstallError(f"{failure(ended)}\n{REGISTRY_ONLY}")
    if ended.code:
        raise InstallError(failure(ended))
    return ended.output
