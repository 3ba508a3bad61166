"""The engine pyrefly, Meta's type checker and language server for Python."""

from __future__ import annotations

import json
import sys
from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import AutoImport, Overlay
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.python_paths import package_paths
from ci_eval.plugins.adapters.recipes import Pip


def command(place: Place) -> list[str]:
    return [str(place.folder / "bin" / "pyrefly"), "lsp"]


def configuration(place: Place) -> str:
    """Write the configuration that pyrefly reads instead of the project's own, and return its path.

    Imports are looked for in the project, its `src`, and the folders above each file, as without a configuration.
    """
    # The project's own configuration could name programs to run.
    lines = {
        "project-includes": [f"{place.root}/**/*.py*"],
        "search-path": [str(folder) for folder in (place.root / "src", place.root) if folder.is_dir()],
        "enable-fallback-search-path": True,
        # What it would ask an interpreter for (`env_query` in crates/pyrefly_config/src/environment, 1.4.1), which it
        # must not look for in the project either.
        "skip-interpreter-query": True,
        "python-platform": sys.platform,
        "python-version": ".".join(map(str, sys.version_info[:3])),
        "site-package-path": package_paths(place.environment),
    }
    path = place.scratch / "pyrefly.toml"
    path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in lines.items()))
    return str(path)


def options(place: Place) -> dict[str, Any]:
    return {"pyrefly": {"configPath": configuration(place)}}


def settings(place: Place) -> dict[str, Any]:
    return {"python": options(place)}


def auto_import(on: bool) -> Overlay:
    analysis = {"analysis": {"autoImportCompletions": on}}
    return Overlay(settings={"python": analysis}, options=analysis)


ENGINE: Engine = LspEngine(
    name="pyrefly",
    summary="type checker and language server for Python",
    languages=frozenset({"python"}),
    licence="MIT",
    recipe=Pip(package="pyrefly", version="1.4.1"),
    why="a configuration of ours in place of the project's, which may name programs to run",
    command=command,
    # Given at the start too, since pyrefly opens files before it asks for its settings.
    options=options,
    settings=settings,
    auto_import=AutoImport(usual="on", switch=auto_import),
    programs=("pyrefly-lsp",),
    verified=True,
)
