"""The interface of a scheme, which is one kind of source for target projects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A project as the configuration names it: its source (`scheme` and `source`), its revision, and the digest that
    pins it."""

    scheme: str
    source: str
    name: str
    revision: str = ""
    sha256: str = ""

    @property
    def pin(self) -> str:
        """Return the digest as a configuration writes it behind the source, or "" without a digest."""
        return f"#sha256={self.sha256}" if self.sha256 else ""


Fetch = Callable[[Spec, Path, Path], Spec]
"""A function of the spec, a folder to make, and the cache. It returns the spec as pinned down by what was fetched, and
raises PreparationError."""


@dataclass(frozen=True, kw_only=True)
class Scheme:
    example: str
    parse: Callable[[str], Spec]
    """A function that parses what follows `SCHEME:`; it raises ConfigError."""
    fetch: Fetch | None
    """The function that fetches the project, or None if the folder is used in place."""
    write: Callable[[Spec], str] = lambda spec: f"{spec.scheme}:{spec.source}{spec.pin}"
    """A function that returns the spec as a configuration has it, without secrets."""
    needs: tuple[str, ...] = ()
    toolchains: Mapping[str, str] = field(default_factory=dict)
    """The lowest version that was tried, by name of a toolchain in `plugins/adapters/engine.py` that these programs
    run on."""
    top: bool = False
    """A flag: a single folder at the top is packaging, not part of the project."""
    lasting: Callable[[Spec], bool] = lambda _: True
    """A function that tells if the spec means the same files for ever; otherwise the project is fetched again each
    time."""
