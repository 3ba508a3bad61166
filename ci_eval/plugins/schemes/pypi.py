"""A scheme for Python wheels, fetched by pip."""

from __future__ import annotations

import re
from pathlib import Path

from ci_eval.core.fetch.contract import Scheme, Spec
from ci_eval.core.fetch.packages import PYPI_NAME, check_requirement, pip_download
from ci_eval.core.fetch.pinned import from_client, newest, newest_from_client, package

VERSION = re.compile(r"^[^-]+-([^-]+)-")
"""The pattern of the version in the name of a wheel."""


def parse(text: str) -> Spec:
    """Return the spec of NAME==VERSION, perhaps with its digest; NAME alone is its newest version. Raises
    ConfigError."""
    return newest("pypi", text, PYPI_NAME) or package("pypi", text, check_requirement)


def fetch(spec: Spec, files: Path, _: Path) -> Spec:
    """Download the wheel and unpack it; see `contract.Fetch`."""
    if not spec.revision:
        return newest_from_client(pip_download, spec, files, VERSION, "{}=={}")
    return from_client(pip_download, spec, files)


SCHEME = Scheme(example="pypi:NAME[==VERSION]", parse=parse, fetch=fetch, lasting=lambda spec: bool(spec.revision))
