"""A scheme for the sources of JVM artifacts, fetched by mvn."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.fetch.contract import Scheme, Spec
from ci_eval.core.fetch.maven import artifact, check_maven
from ci_eval.core.fetch.pinned import from_client, package


def parse(text: str) -> Spec:
    """Return the spec of GROUP:ARTIFACT:VERSION or GROUP:ARTIFACT:VERSION:jar, perhaps with its digest. Raises
    ConfigError."""
    return package("maven", text, check_maven)


def fetch(spec: Spec, files: Path, _: Path) -> Spec:
    """Copy the jar and unpack it; see `contract.Fetch`."""
    return from_client(artifact, spec, files)


SCHEME = Scheme(
    example="maven:GROUP:ARTIFACT:VERSION[:jar]", parse=parse, fetch=fetch, needs=("mvn",), toolchains={"java": "17"}
)
