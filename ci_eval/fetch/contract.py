"""What a scheme, a kind of place that target projects come from, must provide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A project as the config names it: where from (`scheme`), what, which revision, and the digest it is pinned by."""

    scheme: str
    source: str
    name: str
    revision: str = ""
    sha256: str = ""

    @property
    def pin(self) -> str:
        """The digest as a config has it behind the source."""
        return f"#sha256={self.sha256}" if self.sha256 else ""


Fetch = Callable[[Spec, Path, Path], Spec]
"""The spec, a folder to make, the cache → the spec as pinned down by what came. Raises PreparationError."""


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """One kind of place that target projects come from."""

    example: str
    parse: Callable[[str], Spec]
    """What follows `SCHEME:`; raises ConfigError."""
    fetch: Fetch | None
    """None: the folder is used in place."""
    write: Callable[[Spec], str] = lambda spec: f"{spec.scheme}:{spec.source}{spec.pin}"
    """The spec as a config has it, without secrets."""
    needs: tuple[str, ...] = ()
    """The programs that fetch."""
    toolchains: Mapping[str, str] = field(default_factory=dict)
    """What they run on: a name of `adapters/toolchains.py` → the lowest version that was tried."""
    top: bool = False
    """A single folder at the top is packaging, not part of the project."""
    lasting: Callable[[Spec], bool] = lambda _: True
    """Whether the spec means the same files for ever; else it is fetched anew each time."""
