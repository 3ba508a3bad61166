"""The sources of target projects: the interface of a scheme, the catalog of schemes, and the check of a digest."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.base.errors import ArchiveError, ConfigError
from ci_eval.fetch.archive import unpack
from ci_eval.fetch.download import check_digest, check_sha256, hash_file, shown


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """A project as the configuration names it: its source (`scheme` and `source`), its revision, and the digest that
    pins it."""

    scheme: str
    source: str
    name: str
    revision: str = ""
    sha256: str = ""

    @property
    def pin(self) -> str:
        """Return the digest as a configuration writes it after the source, or "" without a digest."""
        return f"#sha256={self.sha256}" if self.sha256 else ""


Fetch = Callable[[Spec, Path, Path], Spec]
"""A function that takes a spec, the new folder and the cache, and fetches the project to the folder. It returns the
spec with the revision and digest of what was fetched. Raises PreparationError."""


class Scheme(msgspec.Struct, frozen=True, kw_only=True):
    example: str
    parse: Callable[[str], Spec]
    """A function that parses what follows `SCHEME:`; it raises ConfigError."""
    fetch: Fetch | None
    """The function that fetches the project, or None if the folder is used in place."""
    write: Callable[[Spec], str] = lambda spec: f"{spec.scheme}:{spec.source}{spec.pin}"
    """A function that returns the spec's text, without secrets."""
    needs: tuple[str, ...] = ()
    toolchains: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The lowest tested version of each toolchain that `needs` implies (see `plugins/adapters/engine.py`)."""
    top: bool = False
    """True if a single folder at the top is only packaging, and not part of the project."""
    lasting: Callable[[Spec], bool] = lambda _: True
    """A function that returns False for a spec whose files may change. Such files are fetched again in each run."""


CATALOG: Catalog[Scheme] = Catalog("ci_eval.plugins.schemes", "SCHEME", group="schemes", kind=Scheme)
names = CATALOG.names


def package(
    scheme: str, text: str, check: Callable[[str], re.Match[str]], newest: re.Pattern[str] | None = None
) -> Spec:
    """Return the spec of a registry's package. `check` returns a match with the groups `name` and `version`. A text
    that `newest` matches is a name without a version: it means the newest version. Raises ConfigError."""
    source, pin = cut_pin(text)
    if newest and newest.fullmatch(source):
        return Spec(scheme=scheme, source=source, name=source, sha256=pin)
    match = check(source)
    return Spec(scheme=scheme, source=source, name=match["name"], revision=match["version"], sha256=pin)


def cut_pin(text: str) -> tuple[str, str]:
    """Split off `#sha256=HEX`. Return the text before it, and HEX ("" without a digest). Raises ConfigError."""
    source, sharp, pin = text.partition("#")
    if not sharp:
        return source, ""
    if not pin.startswith("sha256="):
        raise ConfigError(f"What follows # in {shown(text)!r} must be sha256= and 64 hex digits.")
    return source, check_digest(pin.removeprefix("sha256="))


def from_client(
    download: Callable[[str, Path], Path],
    spec: Spec,
    files: Path,
    *,
    inside: str = "",
    version: re.Pattern[str] | None = None,
    sign: str = "",
) -> Spec:
    """Download and unpack a package, and return the spec with its digest. If the spec has no version, `sign` and the
    version that `version` finds in the file's name are added to the source. Raises ArchiveError if it has none."""
    with tempfile.TemporaryDirectory() as folder:
        file = download(spec.source, Path(folder))
        if version and not spec.revision:
            match = version.search(file.name)
            if match is None:
                raise ArchiveError(f"{file.name} does not name its version. Add one to {spec.source}.")
            spec = msgspec.structs.replace(spec, source=f"{spec.source}{sign}{match[1]}", revision=match[1])
        return check_and_unpack(spec, file, files, inside=inside)


def check_and_unpack(spec: Spec, archive: Path, files: Path, *, inside: str = "") -> Spec:
    """Check the archive's digest if the spec has one. Then unpack the archive, or only its folder `inside`, to `files`.
    Return the spec with the digest. Raises ChecksumError or ArchiveError."""
    # An archive other than the pinned one is never parsed.
    if spec.sha256:
        check_sha256(archive, spec.sha256, f"{archive.name} ({spec.scheme})")
    # The folder is on the same file system as the target, so that the rename works.
    with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=files.parent) as folder:
        whole = Path(folder, "whole")
        unpack(archive, whole)
        if not (whole / inside).is_dir():
            raise ArchiveError(f"{archive.name} has no folder {inside}. Use another source for it.")
        (whole / inside).rename(files)
    return msgspec.structs.replace(spec, sha256=hash_file(archive))
