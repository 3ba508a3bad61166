"""Wheels, by pip."""

from __future__ import annotations

from pathlib import Path

from ci_eval.fetch.contract import Scheme, Spec
from ci_eval.fetch.packages import check_requirement, pip_download
from ci_eval.fetch.pinned import from_client, package


def parse(text: str) -> Spec:
    """NAME==VERSION, perhaps with its digest."""
    return package("pypi", text, check_requirement)


def fetch(spec: Spec, files: Path, _: Path) -> Spec:
    """See Fetch."""
    return from_client(pip_download, spec, files)


SCHEME = Scheme(example="pypi:NAME==VERSION", parse=parse, fetch=fetch)
