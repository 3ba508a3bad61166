"""A scheme for the upstream sources of Debian's packages, fetched by apt-get."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ci_eval.core.fetch.archive import top_of
from ci_eval.core.fetch.contract import Scheme, Spec
from ci_eval.core.fetch.debian import apt_source, check_debian, unpack_components
from ci_eval.core.fetch.pinned import package, unpack_pinned


def parse(text: str) -> Spec:
    """Return the spec of SOURCE=VERSION, perhaps with the main tarball's digest. Raises ConfigError."""
    return package("debian", text, check_debian)


def fetch(spec: Spec, files: Path, cache: Path) -> Spec:
    """Download the tarballs and unpack them; see `contract.Fetch`."""
    with tempfile.TemporaryDirectory() as folder:
        tarballs = apt_source(spec.source, Path(folder), cache)
        pinned = unpack_pinned(spec, tarballs.upstream, files)
        unpack_components(tarballs, top_of(files))
        return pinned


SCHEME = Scheme(example="debian:SOURCE=VERSION", parse=parse, fetch=fetch, needs=("apt-get",), top=True)
