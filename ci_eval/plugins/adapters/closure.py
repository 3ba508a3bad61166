"""A declaration of the files that an engine's answers depend on."""

from __future__ import annotations

from enum import Enum
from typing import Protocol, runtime_checkable

from ci_eval.core.contracts import Engine


class Closure(Enum):
    """The files of the project that an answer depends on, beside engine, settings and dependencies."""

    FILE = "file"
    """The file in which the engine is asked, alone."""
    IMPORTS = "imports"
    """The file in which the engine is asked, the files that it imports, those that they import, and so on; the names of
    all other files; and the contents of those that are no source files, such as settings."""
    PROJECT = "project"
    """The contents of all files of the project."""


@runtime_checkable
class Declaring(Protocol):
    """An engine that declares which files its answers depend on."""

    @property
    def closure(self) -> Closure: ...


def find_closure(engine: Engine) -> Closure:
    """Return the closure that the engine declares, or PROJECT if it declares none."""
    # An engine that declares nothing may read any file, so no stored result outlives a change of the project.
    return engine.closure if isinstance(engine, Declaring) else Closure.PROJECT
