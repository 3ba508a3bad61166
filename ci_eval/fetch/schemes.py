"""Where target projects come from: what a spec of each scheme looks like, and how its files are fetched."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ci_eval.errors import ArchiveError, ConfigError, DownloadError
from ci_eval.fetch import git
from ci_eval.fetch.archive import top_of, unpack
from ci_eval.fetch.debian import apt_source, check_debian, unpack_components
from ci_eval.fetch.download import check_digest, check_sha256, check_url, download, sha256_of, shown
from ci_eval.fetch.gomodules import check_module, module_zip
from ci_eval.fetch.maven import artifact, check_maven
from ci_eval.fetch.packages import check_npm, check_requirement, npm_pack, pip_download


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A project as the config names it: where from (`scheme`), what, which revision, and the digest it is pinned by."""

    scheme: str
    source: str
    name: str
    revision: str = ""
    sha256: str = ""

    def __str__(self) -> str:
        return SCHEMES[self.scheme].write(self)


Fetch = Callable[[Spec, Path, Path], Spec]
"""(spec, new folder, cache) → the spec as pinned down by what came."""


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """One place projects come from."""

    example: str
    parse: Callable[[str], Spec]
    """What follows `SCHEME:`; raises ConfigError."""
    write: Callable[[Spec], str]
    """The spec as a config has it, without secrets."""
    fetch: Fetch | None
    """None: the folder is used in place."""
    top: bool = False
    """A single folder at the top is packaging, not part of the project."""
    toolchains: Mapping[str, str] = field(default_factory=dict)
    """What its client runs on: a name of `adapters/toolchains.py` → the lowest version that was tried."""
    lasting: Callable[[Spec], bool] = lambda _: True
    """Whether the spec means the same files for ever; else it is fetched anew each time."""


def _unpack_pinned(spec: Spec, archive: Path, files: Path, *, inside: str = "") -> Spec:
    """Check the archive against the pin, or pin the spec to it, and unpack it; `inside`: that folder of it alone."""
    if spec.sha256:
        check_sha256(archive, spec.sha256, f"{archive.name} ({spec.scheme})")
    with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=files.parent) as folder:
        whole = Path(folder, "whole")
        unpack(archive, whole)
        if not (whole / inside).is_dir():
            raise ArchiveError(f"{archive.name} holds no folder {inside}. Use another source for it.")
        (whole / inside).rename(files)
    return dataclasses.replace(spec, sha256=sha256_of(archive))


def _cut_pin(text: str) -> tuple[str, str]:
    """The text before `#sha256=HEX`, and HEX, "" if there is none."""
    rest, sharp, pin = text.partition("#")
    if not sharp:
        return rest, ""
    if not pin.startswith("sha256="):
        raise ConfigError(f"What follows # in {shown(text)!r} must be sha256= and 64 hex digits.")
    return rest, check_digest(pin.removeprefix("sha256="))


def _write_pin(spec: Spec) -> str:
    return f"#sha256={spec.sha256}" if spec.sha256 else ""


def _parse_pypi(text: str) -> Spec:
    requirement, pin = _cut_pin(text)
    found = check_requirement(requirement)
    return Spec(scheme="pypi", source=requirement, name=found["name"], revision=found["version"], sha256=pin)


def _fetch_pypi(spec: Spec, files: Path, _: Path) -> Spec:
    with tempfile.TemporaryDirectory() as folder:
        return _unpack_pinned(spec, pip_download(spec.source, Path(folder)), files)


def _parse_npm(text: str) -> Spec:
    package, pin = _cut_pin(text)
    found = check_npm(package)
    return Spec(scheme="npm", source=package, name=found["name"], revision=found["version"], sha256=pin)


def _fetch_npm(spec: Spec, files: Path, _: Path) -> Spec:
    with tempfile.TemporaryDirectory() as folder:
        return _unpack_pinned(spec, npm_pack(spec.source, Path(folder)), files)


def _parse_maven(text: str) -> Spec:
    coordinates, pin = _cut_pin(text)
    found = check_maven(coordinates)
    return Spec(scheme="maven", source=coordinates, name=found["name"], revision=found["version"], sha256=pin)


def _fetch_maven(spec: Spec, files: Path, _: Path) -> Spec:
    with tempfile.TemporaryDirectory() as folder:
        return _unpack_pinned(spec, artifact(spec.source, Path(folder)), files)


def _parse_go(text: str) -> Spec:
    module, pin = _cut_pin(text)
    found = check_module(module)
    return Spec(scheme="go", source=module, name=found["name"], revision=found["version"], sha256=pin)


def _fetch_go(spec: Spec, files: Path, _: Path) -> Spec:
    with tempfile.TemporaryDirectory() as folder:
        return _unpack_pinned(spec, module_zip(spec.source, Path(folder)), files, inside=spec.source)


def _parse_debian(text: str) -> Spec:
    package, pin = _cut_pin(text)
    found = check_debian(package)
    return Spec(scheme="debian", source=package, name=found["name"], revision=found["version"], sha256=pin)


def _fetch_debian(spec: Spec, files: Path, cache: Path) -> Spec:
    with tempfile.TemporaryDirectory() as folder:
        tarballs = apt_source(spec.source, Path(folder), cache)
        pinned = _unpack_pinned(spec, tarballs.upstream, files)
        unpack_components(tarballs, top_of(files))
        return pinned


def _parse_git(text: str) -> Spec:
    url, _, revision = text.rpartition("@")
    git.check_url(url)
    git.check_revision(revision)
    if git.is_full_commit(revision.lower()):
        revision = revision.lower()
    name = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2].removesuffix(".git")
    return Spec(scheme="git", source=url, name=name or "repository", revision=revision)


def _fetch_git(spec: Spec, files: Path, _: Path) -> Spec:
    return dataclasses.replace(spec, revision=git.fetch_revision(spec.source, spec.revision, files))


def _parse_https(text: str) -> Spec:
    url, pin = _cut_pin(text)
    try:
        check_url(url)
    except DownloadError as error:
        raise ConfigError(str(error)) from None
    if "@" in urlsplit(url).netloc:
        raise ConfigError(f"{shown(url)} is given with a user or a password. Let ~/.netrc hold them.")
    if not pin:
        raise ConfigError(f"{shown(url)} needs its digest: append #sha256= and what `sha256sum FILE` prints.")
    file = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
    name = re.sub(r"(\.tar)?\.(zip|jar|whl|tgz|tar|gz|bz2|xz)$", "", file)
    return Spec(scheme="https", source=url, name=name or "archive", sha256=pin)


def _fetch_https(spec: Spec, files: Path, cache: Path) -> Spec:
    return _unpack_pinned(spec, download(spec.source, sha256=spec.sha256, cache=cache), files)


def _parse_path(text: str) -> Spec:
    return Spec(scheme="path", source=text, name=Path(text).name or "project")


SCHEMES = {
    "pypi": Scheme(
        example="pypi:NAME==VERSION",
        parse=_parse_pypi,
        write=lambda spec: f"pypi:{spec.source}{_write_pin(spec)}",
        fetch=_fetch_pypi,
    ),
    "npm": Scheme(
        example="npm:NAME@VERSION",
        parse=_parse_npm,
        write=lambda spec: f"npm:{spec.source}{_write_pin(spec)}",
        fetch=_fetch_npm,
        toolchains={"node": "20"},
        top=True,
    ),
    "maven": Scheme(
        example="maven:GROUP:ARTIFACT:VERSION[:jar]",
        parse=_parse_maven,
        write=lambda spec: f"maven:{spec.source}{_write_pin(spec)}",
        fetch=_fetch_maven,
        toolchains={"java": "17"},
    ),
    "go": Scheme(
        example="go:MODULE@VERSION",
        parse=_parse_go,
        write=lambda spec: f"go:{spec.source}{_write_pin(spec)}",
        fetch=_fetch_go,
        toolchains={"go": "1.24"},
    ),
    "debian": Scheme(
        example="debian:SOURCE=VERSION",
        parse=_parse_debian,
        write=lambda spec: f"debian:{spec.source}{_write_pin(spec)}",
        fetch=_fetch_debian,
        top=True,
    ),
    "git": Scheme(
        example="git:URL@REVISION",
        parse=_parse_git,
        write=lambda spec: f"git:{spec.source}@{spec.revision}",
        fetch=_fetch_git,
        lasting=lambda spec: git.is_full_commit(spec.revision),
    ),
    "https": Scheme(
        example="https://HOST/FILE#sha256=HEX",
        parse=_parse_https,
        write=lambda spec: f"{shown(spec.source)}{_write_pin(spec)}",
        fetch=_fetch_https,
        top=True,
    ),
    "path": Scheme(
        example="path:FOLDER",
        parse=_parse_path,
        write=lambda spec: f"path:{spec.source}",
        fetch=None,
    ),
}
"""Adding a scheme: a function that parses, one that fetches, and an entry here."""
