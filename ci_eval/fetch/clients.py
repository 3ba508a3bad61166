"""Run package clients (pip, npm, mvn, go, cargo, apt-get) with the settings of the user's machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.core.base.quoting import quote

TIMEOUT = 600.0
LAST_LINES = 20
UNREACHABLE = re.compile(
    "temporary failure (in name resolution|resolving)|name or service not known|nodename nor servname provided|"
    "could not resolve host|no such host|unknown host|network is unreachable|no route to host|"
    "connection (refused|timed out)|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT",
    re.IGNORECASE,
)
"""The messages of pip, npm, mvn, go, cargo, git and apt-get that no server can be reached."""

DEBIAN_ONLY = "It exists on Debian and its derivatives only; elsewhere, take the project by its https or git address."
GET = {
    "npm": "Install Node.js, which brings npm, and see that it is on PATH.",
    "git": "Install git from your system's packages.",
    "mvn": "Install Maven, which needs Java, and see that mvn is on PATH.",
    "java": "Install a JDK, 17 or newer, and see that java is on PATH.",
    "go": "Install Go and see that it is on PATH.",
    "cargo": "Install Rust 1.82 or newer, which brings cargo, and see that it is on PATH.",
    "apt-get": DEBIAN_ONLY,
    "apt-config": DEBIAN_ONLY,
}


class ClientEnd(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    code: int
    output: str
    trouble: str
    """The client's standard error."""


def match_source(pattern: re.Pattern[str], text: str, expected: str) -> re.Match[str]:
    """Return the match of the whole text. Raises ConfigError that names the `expected` form."""
    if match := pattern.fullmatch(text):
        return match
    raise ConfigError(f"{text!r} is not {expected}")


def run_client(argv: Sequence[str], *, cwd: Path | None = None, variables: Mapping[str, str] | None = None) -> str:
    """Return what a client printed that runs in `cwd`, by default an empty folder. After TIMEOUT seconds, the client
    and its child processes are killed. `variables` are added to the client's environment. Raises InstallError with the
    last lines of the client's standard error."""
    ended = run_to_end(argv, cwd=cwd, variables=variables)
    if ended.code:
        raise InstallError(failure(ended))
    return ended.output


def run_to_end(
    argv: Sequence[str], *, cwd: Path | None = None, variables: Mapping[str, str] | None = None
) -> ClientEnd:
    """Run a client like `run_client`, but return its exit code and output even if it fails. Raises InstallError if the
    client is not installed or takes too long."""
    if cwd is None:
        with tempfile.TemporaryDirectory() as empty:
            return run_to_end(argv, cwd=Path(empty), variables=variables)
    program = shutil.which(argv[0])
    # pip runs through `drivers/alone.py`: python alone.py pip …
    name = "pip" if argv[2:3] == ("pip",) else Path(argv[0]).stem
    if program is None:
        raise InstallError(f"{name} is not installed. {GET.get(name, 'Install it and see that it is on PATH.')}")
    # Without PYTHONSAFEPATH, `python -m` would import from the current folder first.
    process = subprocess.Popen(
        (program, *argv[1:]),
        cwd=cwd,
        env={**os.environ, "PYTHONSAFEPATH": "1", **(variables or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    with process:
        try:
            output, trouble = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            kill_group(process)
            raise InstallError(f"{name} took longer than {TIMEOUT:g} s. Check the network, then run again.") from None
        except BaseException:
            # The client is in its own session, so Ctrl-C does not reach it.
            kill_group(process)
            raise
    return ClientEnd(name=name, code=process.returncode, output=output, trouble=trouble)


def failure(ended: ClientEnd) -> str:
    return f"{ended.name} failed (exit code {ended.code}):\n{last_words(ended.trouble)}"


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill a process and its child processes. The process must have been started with `start_new_session`."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def last_words(text: str) -> str:
    """Return the last lines that a client printed, indented and without passwords in addresses. If the lines show that
    the network cannot be reached, return one line of advice instead."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if missing := UNREACHABLE.search("\n".join(lines[-LAST_LINES:])):
        last = quote(lines[-1].strip())
        return f"  no connection ({missing[0]}): check the network and proxy settings, then retry. Last line: {last}"
    return "\n".join(f"  {quote(line)}" for line in lines[-LAST_LINES:]) or "  (it printed nothing)"


def one_file(run: Callable[[Path], object], suffix: str, folder: Path, missing: str) -> Path:
    """Call `run` with a temporary folder, then move the only file in it that ends in `suffix` to `folder`. Return the
    new path. Raises InstallError with the message `missing` if no file, or more than one, ends in `suffix`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".client-", dir=folder) as name:
        run(Path(name))
        files = sorted(Path(name).glob(f"*{suffix}"))
        if len(files) != 1 or not files[0].is_file():
            raise InstallError(missing)
        path = folder / files[0].name
        files[0].replace(path)
    return path
