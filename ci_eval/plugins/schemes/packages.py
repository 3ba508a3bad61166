"""The schemes for packages, which the registries' own clients fetch. A digest may follow a spec."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ci_eval.fetch import packages
from ci_eval.fetch.archive import find_top_folder
from ci_eval.fetch.debian import apt_source, check_debian, unpack_components
from ci_eval.fetch.schemes import Scheme, Spec, check_and_unpack, from_client, package

TARBALL_VERSION = re.compile(r"-(\d+\.\d+\.\d+.*)\.tgz$")
WHEEL_VERSION = re.compile(r"^[^-]+-([^-]+)-")


def fetch_debian(spec: Spec, files: Path, cache: Path) -> Spec:
    """Download and unpack the upstream tarballs. The digest in the spec is that of the main tarball."""
    with tempfile.TemporaryDirectory() as folder:
        tarballs = apt_source(spec.source, Path(folder), cache)
        pinned = check_and_unpack(spec, tarballs.upstream, files)
        unpack_components(tarballs, find_top_folder(files))
        return pinned


SCHEMES: Mapping[str, Scheme] = {
    "crate": Scheme(
        example="crate:NAME==VERSION",
        parse=lambda text: package("crate", text, packages.check_crate),
        fetch=lambda spec, files, _: from_client(packages.crate, spec, files),
        needs=("cargo",),
        top=True,
    ),
    "debian": Scheme(
        example="debian:SOURCE=VERSION",
        parse=lambda text: package("debian", text, check_debian),
        fetch=fetch_debian,
        needs=("apt-get",),
        top=True,
    ),
    "go": Scheme(
        example="go:MODULE@VERSION",
        parse=lambda text: package("go", text, packages.check_module),
        fetch=lambda spec, files, _: from_client(packages.module_zip, spec, files, inside=spec.source),
        needs=("go",),
        toolchains={"go": "1.24"},
    ),
    "maven": Scheme(
        example="maven:GROUP:ARTIFACT:VERSION[:jar]",
        parse=lambda text: package("maven", text, packages.check_maven),
        fetch=lambda spec, files, _: from_client(packages.artifact, spec, files),
        needs=("mvn",),
        toolchains={"java": "17"},
    ),
    # Without a version, the newest one is fetched.
    "npm": Scheme(
        example="npm:NAME[@VERSION]",
        parse=lambda text: package("npm", text, packages.check_npm, packages.NPM_NAME),
        fetch=lambda spec, files, _: from_client(packages.npm_pack, spec, files, version=TARBALL_VERSION, sign="@"),
        needs=("npm",),
        toolchains={"node": "20"},
        top=True,
        lasting=lambda spec: bool(spec.revision),
    ),
    "pypi": Scheme(
        example="pypi:NAME[==VERSION]",
        parse=lambda text: package("pypi", text, packages.check_requirement, packages.PYPI_NAME),
        fetch=lambda spec, files, _: from_client(packages.pip_download, spec, files, version=WHEEL_VERSION, sign="=="),
        lasting=lambda spec: bool(spec.revision),
    ),
}
