"""The schemes for sources with an address: a commit of a repository, an archive, a folder on this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError
from ci_eval.fetch import git
from ci_eval.fetch.download import check_url, download, shown
from ci_eval.fetch.schemes import Scheme, Spec, check_and_unpack, cut_pin


def parse_git(text: str) -> Spec:
    url, at, revision = text.rpartition("@")
    if not at:
        raise ConfigError(f"git:{text} has no @REVISION: append @ and the full commit id, or a tag or branch.")
    git.check_address(url, revision)
    # Commit ids may be written in either case.
    if git.is_full_commit(revision.lower()):
        revision = revision.lower()
    return Spec(scheme="git", source=url, name=git.name_of(url) or "repository", revision=revision)


def parse_https(text: str) -> Spec:
    url, pin = cut_pin(text)
    if "@" in check_url(url).netloc:
        raise ConfigError(f"{shown(url)} holds a user or a password: put them into ~/.netrc.")
    if not pin:
        raise ConfigError(f"{shown(url)} needs its digest: append #sha256= and what `sha256sum FILE` prints.")
    file = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
    name = re.sub(r"(\.tar)?\.(zip|jar|whl|tgz|tar|gz|bz2|xz)$", "", file)
    return Spec(scheme="https", source=url, name=name or "archive", sha256=pin)


SCHEMES: Mapping[str, Scheme] = {
    "git": Scheme(
        example="git:URL@REVISION",
        parse=parse_git,
        # The returned spec has the commit's id in place of a tag or branch.
        fetch=lambda spec, files, _: replace(spec, revision=git.fetch_revision(spec.source, spec.revision, files)),
        write=lambda spec: f"git:{spec.source}@{spec.revision}",
        needs=("git",),
        lasting=lambda spec: git.is_full_commit(spec.revision),
    ),
    "https": Scheme(
        example="https://HOST/FILE#sha256=HEX",
        parse=parse_https,
        fetch=lambda spec, files, cache: check_and_unpack(
            spec, download(spec.source, sha256=spec.sha256, cache=cache), files
        ),
        write=lambda spec: f"{shown(spec.source)}{spec.pin}",
        top=True,
    ),
    # A folder is used where it is, and the project is named after it.
    "path": Scheme(
        example="path:FOLDER",
        parse=lambda text: Spec(scheme="path", source=text, name=Path(text).name or "project"),
        fetch=None,
    ),
}
