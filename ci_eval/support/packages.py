"""Runs the package clients, pip and npm, as the user's machine has them set up, and never a package's own code."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ci_eval.errors import ConfigError, InstallError

TIMEOUT = 600.0
LAST_LINES = 20

PYPI = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:\[[A-Za-z0-9._,-]+\])?==(?P<version>[0-9][A-Za-z0-9.!+_-]*)"
)
NPM = re.compile(
    r"(?P<name>(?:@[A-Za-z0-9][A-Za-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*)"
    r"@(?P<version>\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)"
)

GET = {
    "npm": "Install Node.js, which brings npm, and see that it is on PATH.",
    "git": "Install git from your system's packages.",
}
WHEELS_ONLY = (
    "Only wheels are taken, nothing is built: check name and version, and that this release has a wheel for this "
    "Python. A release with a source archive alone can be had by its https or git address."
)


def pip_download(requirement: str, folder: Path, *, timeout: float = TIMEOUT) -> Path:
    """The wheel of NAME==VERSION, downloaded by pip into `folder`. Seconds. Raises ConfigError, InstallError."""
    check_requirement(requirement)
    options = ("download", "--no-deps", "--only-binary=:all:", "-d", ".")

    def run(here: Path) -> None:
        _pip((*options, "--", requirement), cwd=here, timeout=timeout)

    return _one_file(run, ".whl", folder, f"pip brought no wheel of {requirement}. {WHEELS_ONLY}")


def pip_install(requirements: Sequence[str], target: Path, *, timeout: float = TIMEOUT) -> dict[str, str]:
    """Install wheels of NAME==VERSION… and what they need into the folder `target`; name → version of all in it.

    Seconds. Raises ConfigError, InstallError.
    """
    for requirement in requirements:
        check_requirement(requirement)
    target.mkdir(parents=True, exist_ok=True)
    options = ("install", "--only-binary=:all:", "--target", str(target.resolve()))
    with tempfile.TemporaryDirectory() as empty:
        _pip((*options, "--", *requirements), cwd=Path(empty), timeout=timeout)
    return installed(target)


def installed(target: Path) -> dict[str, str]:
    """Name → version of the distributions below a folder that pip filled, in order of name."""
    found = importlib.metadata.distributions(path=[str(target)])
    return dict(sorted((item.metadata["Name"], item.version) for item in found))


def npm_pack(spec: str, folder: Path, *, timeout: float = TIMEOUT) -> Path:
    """The tarball of NAME@VERSION, downloaded by npm into `folder`. Seconds. Raises ConfigError, InstallError."""
    check_npm(spec)

    def run(here: Path) -> None:
        run_client(("npm", "pack", "--ignore-scripts", "--", spec), cwd=here, timeout=timeout)

    return _one_file(run, ".tgz", folder, f"npm brought no tarball of {spec}. Check name and version.")


def check_requirement(requirement: str) -> re.Match[str]:
    """Raises ConfigError unless it reads NAME==VERSION."""
    if found := PYPI.fullmatch(requirement):
        return found
    raise ConfigError(f"{requirement!r} is not NAME==VERSION: one exact version is needed, as in six==1.16.0.")


def check_npm(spec: str) -> re.Match[str]:
    """Raises ConfigError unless it reads NAME@VERSION or @SCOPE/NAME@VERSION."""
    if found := NPM.fullmatch(spec):
        return found
    raise ConfigError(f"{spec!r} is not NAME@VERSION: one exact version is needed, as in is-number@7.0.0.")


def run_client(argv: Sequence[str], *, cwd: Path, timeout: float = TIMEOUT) -> str:
    """Run a client to its end; what it printed. Its whole process group dies after `timeout` seconds.

    Raises InstallError with the last lines of its standard error.
    """
    program = shutil.which(argv[0])
    name = "pip" if argv[1:3] == ("-m", "pip") else Path(argv[0]).stem
    if program is None:
        raise InstallError(f"{name} is not installed. {GET.get(name, 'Install it and see that it is on PATH.')}")
    # PYTHONSAFEPATH: `python -m` would import from the current folder first.
    process = subprocess.Popen(
        (program, *argv[1:]),
        cwd=cwd,
        env={**os.environ, "PYTHONSAFEPATH": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    with process:
        try:
            output, trouble = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            kill_group(process)
            raise InstallError(f"{name} took longer than {timeout:g} s. Check the network, then run again.") from None
        except BaseException:
            # A session of its own does not see Ctrl-C.
            kill_group(process)
            raise
    if process.returncode:
        raise InstallError(f"{name} failed (exit code {process.returncode}):\n{last_words(trouble)}")
    return output


def kill_group(process: subprocess.Popen[str]) -> None:
    """End a process started with `start_new_session`, and all it started."""
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
    else:
        process.kill()


def last_words(text: str) -> str:
    """The last lines of what a client printed, without the passwords in its addresses."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(f"  {without_passwords(line)}" for line in lines[-LAST_LINES:]) or "  (it said nothing)"


def without_passwords(text: str) -> str:
    """`text` with `user:password@` taken out of every address in it."""
    return re.sub(r"(?<=://)[^/\s@]+@", "", text)


def _pip(arguments: Sequence[str], *, cwd: Path, timeout: float) -> None:
    if importlib.util.find_spec("pip") is None:
        raise InstallError(
            "pip is not in the environment ci-eval runs in (uv makes them without). "
            f"Add it: `uv pip install pip`, or `{Path(sys.executable).name} -m ensurepip`."
        )
    common = ("--quiet", "--no-input", "--disable-pip-version-check")
    try:
        run_client((sys.executable, "-m", "pip", arguments[0], *common, *arguments[1:]), cwd=cwd, timeout=timeout)
    except InstallError as error:
        hint = WHEELS_ONLY if "No matching distribution" in str(error) else "Check pip's settings: `pip config list`."
        raise InstallError(f"{error}\n{hint}") from None


def _one_file(run: Callable[[Path], None], suffix: str, folder: Path, missing: str) -> Path:
    """Let a client write into a folder of its own, and move the one file it must leave there into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".client-", dir=folder) as name:
        run(Path(name))
        found = sorted(Path(name).glob(f"*{suffix}"))
        if len(found) != 1 or not found[0].is_file():
            raise InstallError(missing)
        path = folder / found[0].name
        found[0].replace(path)
    return path
