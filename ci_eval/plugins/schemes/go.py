"""A scheme for Go modules, fetched by go."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.fetch.contract import Scheme, Spec
from ci_eval.core.fetch.gomodules import check_module, module_zip
from ci_eval.core.fetch.pinned import from_client, package


def parse(text: str) -> Spec:
    """Return the spec of MODULE@VERSION, perhaps with its digest. Raises ConfigError."""
    return package("go", text, check_module)


def fetch(spec: Spec, files: Path, _: Path) -> Spec:
    """Download the module and unpack it; see `contract.Fetch`."""
    return from_client(module_zip, spec, files, inside=spec.source)


SCHEME = Scheme(example="go:MODULE@VERSION", parse=parse, fetch=fetch, needs=("go",), toolchains={"go": "1.24"})
