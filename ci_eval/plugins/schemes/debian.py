"""A scheme for the upstream sources of Debian's packages, fetched by apt-get."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ci_eval.core.fetch.archive import find_top_folder
from ci_eval.core.fetch.contract import Scheme, Spec
from ci_eval.core.fetch.debian import apt_source, check_debian, unpack_components
from ci_eval.core.fetch.pinned import check_and_unpack, package


def parse(text: str) -> Spec:
    """Return the spec of SOURCE=VERSION, perhaps with the main tarball's digest. Raises ConfigError."""
    return package("debian", text, check_debian)


def fetch(spec: Spec, files: Path, cache: Path) -> Spec:
    """Download the tarballs and unpack them; see `contract.Fetch`."""
    with tempfile.TemporaryDirectory() as folder:
        tarballs = apt_source(spec.source, Path(folder), cache)
        pinned = check_and_unpack(spec, tarballs.upstream, files)
        unpack_components(tarballs, find_top_folder(files))
        return pinned


SCHEME = Scheme(example="debian:SOURCE=VERSION", parse=parse, fetch=fetch, needs=("apt-get",), top=True)
