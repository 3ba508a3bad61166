"""Packages and archives that a project's spec names, held to the digest it gives, or told by theirs."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from ci_eval.errors import ArchiveError, ConfigError
from ci_eval.fetch.archive import unpack
from ci_eval.fetch.contract import Spec
from ci_eval.fetch.download import check_digest, check_sha256, sha256_of, shown


def package(scheme: str, text: str, check: Callable[[str], re.Match[str]]) -> Spec:
    """A package of a registry, as `text` has it, perhaps with its digest; `check` finds `name` and `version`.

    Raises ConfigError.
    """
    source, pin = cut_pin(text)
    found = check(source)
    return Spec(scheme=scheme, source=source, name=found["name"], revision=found["version"], sha256=pin)


def newest(scheme: str, text: str, name: re.Pattern[str]) -> Spec | None:
    """Return the spec of a package without a version, which stands for its newest one; None if `text` is another."""
    source, pin = cut_pin(text)
    return Spec(scheme=scheme, source=source, name=source, sha256=pin) if name.fullmatch(source) else None


def newest_from_client(
    download: Callable[[str, Path], Path], spec: Spec, files: Path, version: re.Pattern[str], written: str
) -> Spec:
    """Unpack the newest version of a package, and pin the spec to it.

    `version` finds the version in the name of the file that `download` brings. `written`: how source and version are
    joined, such as "{}=={}".
    """
    with tempfile.TemporaryDirectory() as folder:
        file = download(spec.source, Path(folder))
        match = version.search(file.name)
        if match is None:
            raise ArchiveError(f"{file.name} does not name its version. Add one to {spec.source}.")
        pinned = dataclasses.replace(spec, source=written.format(spec.source, match[1]), revision=match[1])
        return unpack_pinned(pinned, file, files)


def cut_pin(text: str) -> tuple[str, str]:
    """The text before `#sha256=HEX`, and HEX, "" if there is none. Raises ConfigError."""
    rest, sharp, pin = text.partition("#")
    if not sharp:
        return rest, ""
    if not pin.startswith("sha256="):
        raise ConfigError(f"What follows # in {shown(text)!r} must be sha256= and 64 hex digits.")
    return rest, check_digest(pin.removeprefix("sha256="))


def from_client(download: Callable[[str, Path], Path], spec: Spec, files: Path, *, inside: str = "") -> Spec:
    """Unpack what `download` brings of the spec's source; see `unpack_pinned`."""
    with tempfile.TemporaryDirectory() as folder:
        return unpack_pinned(spec, download(spec.source, Path(folder)), files, inside=inside)


def unpack_pinned(spec: Spec, archive: Path, files: Path, *, inside: str = "") -> Spec:
    """Check the archive against the pin, or pin the spec to it, and unpack it; `inside`: that folder of it alone.

    Raises DownloadError where it is another one than the pin says, ArchiveError where it cannot be unpacked.
    """
    if spec.sha256:
        check_sha256(archive, spec.sha256, f"{archive.name} ({spec.scheme})")
    with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=files.parent) as folder:
        whole = Path(folder, "whole")
        unpack(archive, whole)
        if not (whole / inside).is_dir():
            raise ArchiveError(f"{archive.name} holds no folder {inside}. Use another source for it.")
        (whole / inside).rename(files)
    return dataclasses.replace(spec, sha256=sha256_of(archive))
