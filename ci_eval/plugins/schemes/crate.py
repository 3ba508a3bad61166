"""A scheme for the sources of Rust's crates, fetched by cargo."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.fetch.contract import Scheme, Spec
from ci_eval.core.fetch.crates import check_crate, crate
from ci_eval.core.fetch.pinned import from_client, package


def parse(text: str) -> Spec:
    """Return the spec of NAME==VERSION, perhaps with its digest. Raises ConfigError."""
    return package("crate", text, check_crate)


def fetch(spec: Spec, files: Path, _: Path) -> Spec:
    """Download the archive and unpack it; see `contract.Fetch`."""
    return from_client(crate, spec, files)


SCHEME = Scheme(example="crate:NAME==VERSION", parse=parse, fetch=fetch, needs=("cargo",), top=True)
