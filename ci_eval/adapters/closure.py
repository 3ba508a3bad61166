"""What an engine declares about the files that its answers depend on."""

from __future__ import annotations

from enum import Enum
from typing import Protocol, runtime_checkable

from ci_eval.contracts import Engine


class Closure(Enum):
    """The files of the project that an answer depends on, beside engine, settings and dependencies."""

    FILE = "file"
    """The one that it is asked in."""
    IMPORTS = "imports"
    """That one, those that it imports, those that they import, and so on; the names of all other files, and the
    contents of those that are no source files, such as settings."""
    PROJECT = "project"
    """All of them."""


@runtime_checkable
class Declaring(Protocol):
    """An engine that says it."""

    @property
    def closure(self) -> Closure: ...


def closure_of(engine: Engine) -> Closure:
    """All files, of an engine that says nothing."""
    return engine.closure if isinstance(engine, Declaring) else Closure.PROJECT
