"""A scheme for the files of one commit, fetched by git."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.fetch import git
from ci_eval.core.fetch.contract import Scheme, Spec


def parse(text: str) -> Spec:
    """Return the spec of URL@REVISION. Raises ConfigError."""
    url, at, revision = text.rpartition("@")
    if not at:
        raise ConfigError(f"git:{text} has no @REVISION: append @ and the full commit id, or a tag or branch.")
    git.check_url(url)
    git.check_revision(revision)
    # A commit is one project, in whichever case its id is written.
    if git.is_full_commit(revision.lower()):
        revision = revision.lower()
    name = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2].removesuffix(".git")
    return Spec(scheme="git", source=url, name=name or "repository", revision=revision)


def fetch(spec: Spec, files: Path, _: Path) -> Spec:
    """Fetch the revision and pin the spec to its commit; see `contract.Fetch`."""
    return dataclasses.replace(spec, revision=git.fetch_revision(spec.source, spec.revision, files))


SCHEME = Scheme(
    example="git:URL@REVISION",
    parse=parse,
    fetch=fetch,
    write=lambda spec: f"git:{spec.source}@{spec.revision}",
    needs=("git",),
    lasting=lambda spec: git.is_full_commit(spec.revision),
)
