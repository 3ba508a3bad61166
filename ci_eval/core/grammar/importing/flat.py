"""Modules that each have one name and re-export nothing: the packages of Go, the packages and classes of Java."""

from __future__ import annotations

from ci_eval.core.import_syntax import Origin, Project


class FlatModules:
    def __init__(self, project: Project) -> None:
        pass

    def identify(self, _path: str, module: str) -> str:
        """Return the only name that a module has."""
        return module

    def origin(self, _path: str, module: str, name: str) -> Origin:
        return module, name
