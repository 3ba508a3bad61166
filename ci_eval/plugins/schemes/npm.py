"""A scheme for npm packages, fetched by npm."""

from __future__ import annotations

import re
from pathlib import Path

from ci_eval.core.fetch.contract import Scheme, Spec
from ci_eval.core.fetch.packages import NPM_NAME, check_npm, npm_pack
from ci_eval.core.fetch.pinned import from_client, newest, newest_from_client, package

VERSION = re.compile(r"-(\d+\.\d+\.\d+.*)\.tgz$")
"""The pattern of the version in the name of a tarball."""


def parse(text: str) -> Spec:
    """Return the spec of NAME@VERSION, perhaps with its digest; NAME alone is its newest version. Raises
    ConfigError."""
    return newest("npm", text, NPM_NAME) or package("npm", text, check_npm)


def fetch(spec: Spec, files: Path, _: Path) -> Spec:
    """Download the tarball and unpack it; see `contract.Fetch`."""
    if not spec.revision:
        return newest_from_client(npm_pack, spec, files, VERSION, "{}@{}")
    return from_client(npm_pack, spec, files)


SCHEME = Scheme(
    example="npm:NAME[@VERSION]",
    parse=parse,
    fetch=fetch,
    needs=("npm",),
    toolchains={"node": "20"},
    top=True,
    lasting=lambda spec: bool(spec.revision),
)
