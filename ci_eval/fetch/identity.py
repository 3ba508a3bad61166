"""Find a project's name, which does not depend on the path or the name of its folder."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

MAX_BYTES = 1_000_000
SECTION = re.compile(r"""^\s*\[\s*(?P<section>[\w.-]+)(?:\s+"(?P<name>(?:[^"\\]|\\.)*)")?\s*\]""")
ADDRESS = re.compile(r"^\s*url\s*=\s*(?P<url>[^\s;#]+)", re.IGNORECASE)
URL = re.compile(r"(?P<scheme>https?|ssh|git)://(?:[^/]*@)?(?P<host>[\w.-]+)(?P<port>:\d+)?/+(?P<path>.+)")
SHORT = re.compile(r"(?:[\w.-]+@(?P<host>[\w.-]+)|(?P<dotted>[\w-]+(?:\.[\w-]+)+)):/*(?P<path>.+)")
"""An ssh address, USER@HOST:PATH. Without a user, the host must contain a dot, since C:/x is a folder."""
CHECKOUTS = {"GITHUB_REPOSITORY": "GITHUB_WORKSPACE", "CI_PROJECT_PATH": "CI_PROJECT_DIR"}
"""The CI variable with the repository's name → the CI variable with the folder of the checkout."""
PROPERTIES = "TEAMCITY_BUILD_PROPERTIES_FILE"
OF_TEAMCITY = ("vcsroot.url", "teamcity.projectName")
"""The properties of a TeamCity build that may name the repository; the first that is set counts."""


class Identity(msgspec.Struct, frozen=True):
    repository: str
    shown: str


def identify(root: Path, environment: Mapping[str, str] = os.environ) -> Identity:
    """Return the project's names: from its Git remote, else from the CI that checked it out, else from the folder."""
    properties = _parse(_read(Path(environment.get(PROPERTIES, ""))))
    properties = _parse(_read(Path(properties.get("teamcity.configuration.properties.file", "")))) | properties
    of_teamcity = [*map(properties.get, OF_TEAMCITY), environment.get("TEAMCITY_PROJECT_NAME")]
    known = [
        (remote_address(root), str(top(root))),
        *((environment.get(variable), environment.get(folder)) for variable, folder in CHECKOUTS.items()),
        (next(filter(None, of_teamcity), None), properties.get("teamcity.build.checkoutDir")),
    ]
    for address, folder in known:
        repository = last_part(address or "")
        if repository and folder and root.resolve().is_relative_to(Path(folder).resolve()):
            below = root.resolve().relative_to(Path(folder).resolve()).as_posix()
            return Identity(repository, repository if below == "." else f"{repository}/{below}")
    return Identity("", root.name or "project")


def remote_address(root: Path) -> str:
    """Return the address of the remote `origin` of the repository around `root`, or else of the first remote, or ""."""
    for folder in _repositories(root)[:1]:
        git = folder / ".git"
        if not git.is_dir():
            # In a worktree or a submodule, `.git` is a file that names another folder.
            own = folder / _read(git).partition("gitdir:")[2].strip()
            common = _read(own / "commondir").strip()
            git = own / common if common else own
        remotes: dict[str, str] = {}
        name = None
        for line in _read(git / "config").splitlines():
            if head := SECTION.match(line):
                name = head["name"] if head["section"].lower() == "remote" else None
            elif name is not None and (address := ADDRESS.match(line)):
                remotes.setdefault(name, address["url"].strip('"'))
        return remotes.get("origin") or next(iter(remotes.values()), "")
    return ""


def top(root: Path) -> Path:
    return next(iter(_repositories(root)), root)


def page(root: Path) -> str:
    return https_address(remote_address(root))


def https_address(address: str) -> str:
    """Return https://HOST/PATH for a repository's address, without user and password; "" for a folder."""
    match = URL.fullmatch(address) or SHORT.fullmatch(address)
    if not match:
        return ""
    parts = match.groupdict()
    # The port in an ssh address is not the port of the web pages.
    port = parts["port"] if parts.get("scheme", "").startswith("http") else ""
    path = parts["path"].rstrip("/").removesuffix(".git")
    return f"https://{parts['host'] or parts['dotted']}{port or ''}/{path}"


def last_part(address: str) -> str:
    """Return NAME of an address such as git@HOST:OWNER/NAME.git. Forks and mirrors have the same name."""
    return re.split(r"[/:\\]", address.rstrip("/\\"))[-1].removesuffix(".git")


def _repositories(root: Path) -> list[Path]:
    """Return the repositories that contain the folder, the innermost first."""
    return [folder for folder in (root, *root.parents) if (folder / ".git").exists()]


def _parse(text: str) -> dict[str, str]:
    """Return the KEY=VALUE pairs of a Java properties file, in which a backslash escapes the next character."""
    pairs = (line.partition("=") for line in text.splitlines() if not line.lstrip().startswith(("#", "!")))
    return {key.strip().replace("\\", ""): re.sub(r"\\(.)", r"\1", value.strip()) for key, _, value in pairs}


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES).decode(errors="replace")
    except OSError:
        return ""
