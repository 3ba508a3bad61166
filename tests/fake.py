"""What all engines that are for tests alone have in common."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ci_eval.core.contracts import Installation
from ci_eval.core.model import EngineInfo


class Fake:
    """Needs no installation, and answers for any language."""

    name: str
    summary = "for tests"
    languages: frozenset[str] | None = None
    version = "1"
    source = "tests"
    licence = "Apache-2.0"
    verified = True
    toolchains: Mapping[str, str] = MappingProxyType({})
    needs_dependencies = False
    takes_records = False
    needs: tuple[str, ...] = ()
    own_process = True

    def is_ready(self, _cache: Path) -> bool | None:
        return None

    def install(self, version: str | None, cache: Path) -> Installation:
        return Installation(info=EngineInfo(name=self.name, version=self.version))
