"""Engines in the cache: installed once, whole or not at all, used offline afterwards."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ci_eval.errors import InstallError
from ci_eval.support.packages import pip_install

MARKER = "ci-eval-packages.json"


def pip_packages(requirements: Sequence[str], folder: Path) -> tuple[Path, dict[str, str]]:
    """NAME==VERSION…, and what they need, in a folder of their own below `folder`; that folder, and name → version.

    Raises ConfigError or InstallError.
    """
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    target = folder / "-".join([*(re.sub(r"[^A-Za-z0-9.]+", "-", each) for each in requirements), python])
    if (packages := _ready(target)) is not None:
        return target, packages
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder, ignore_cleanup_errors=True) as name:
        whole = Path(name, "whole")
        packages = pip_install(requirements, whole)
        (whole / MARKER).write_bytes(msgspec.json.encode(packages))
        _publish(whole, target)
    return target, packages


def _ready(target: Path) -> dict[str, str] | None:
    try:
        return msgspec.json.decode((target / MARKER).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError):
        return None


def _publish(whole: Path, target: Path) -> None:
    """Move it into its place; who comes second uses what is there."""
    try:
        whole.rename(target)
    except OSError as error:
        if _ready(target) is None:
            raise InstallError(f"Cannot write {target}: {error}. Remove that folder, or use another cache.") from error
