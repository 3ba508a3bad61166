"""Packages for JavaScript, by npm."""

from __future__ import annotations

from pathlib import Path

from ci_eval.fetch.contract import Scheme, Spec
from ci_eval.fetch.packages import check_npm, npm_pack
from ci_eval.fetch.pinned import from_client, package


def parse(text: str) -> Spec:
    """NAME@VERSION, perhaps with its digest."""
    return package("npm", text, check_npm)


def fetch(spec: Spec, files: Path, _: Path) -> Spec:
    """See Fetch."""
    return from_client(npm_pack, spec, files)


SCHEME = Scheme(
    example="npm:NAME@VERSION", parse=parse, fetch=fetch, needs=("npm",), toolchains={"node": "20"}, top=True
)
