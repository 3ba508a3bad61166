"""The language servers for Python."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.engine import Closure
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import NEVER, AutoImport, Switch, Template
from ci_eval.plugins.adapters.lsp.quirks import BASEDPYRIGHT, PYRIGHT, ServerQuirks
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.python_paths import JediServer, answering_python, package_paths, python_code
from ci_eval.plugins.adapters.recipes import Npm, Pip

_server = partial(LspEngine, languages=frozenset({"python"}), verified=True)


def _start_basedpyright(place: Place) -> list[str]:
    return python_code(place, "from basedpyright.langserver import main; main()", "--stdio")


def _members(place: Place) -> list[str]:
    """Return the folders of the project's own packages except `src`, which these servers find on their own."""
    return [str(folder) for folder in place.sources if folder != place.root / "src"]


def _analysis(place: Place) -> dict[str, Any]:
    # `autoSearchPaths` adds `src`. The VS Code extension enables it, but the server alone does not.
    analysis: dict[str, Any] = {"diagnosticMode": "openFilesOnly", "autoSearchPaths": True}
    return analysis | ({"extraPaths": members} if (members := _members(place)) else {})


def _basedpyright_settings(place: Place) -> dict[str, Any]:
    # If no interpreter is set, basedpyright searches the project for one and runs it.
    return {"python": {"pythonPath": str(answering_python(place))}, "basedpyright": {"analysis": _analysis(place)}}


def _pyright_settings(place: Place) -> dict[str, Any]:
    # If no interpreter is set, pyright runs the first one on PATH.
    return {"python": {"analysis": _analysis(place) | {"indexing": False}, "pythonPath": str(answering_python(place))}}


LINTERS = ("flake8", "mccabe", "pycodestyle", "pydocstyle", "pyflakes", "pylint")


def _pyrefly_options(place: Place) -> dict[str, Any]:
    """Write the configuration that pyrefly reads instead of the project's own. Return the options with its path.

    As without a configuration, imports are searched in the project, its `src`, and the folders above each file.
    """
    # The project's own configuration could name programs to run.
    lines = {
        "project-includes": [f"{place.root}/**/*.py*"],
        "search-path": [*map(str, place.sources), str(place.root)],
        "enable-fallback-search-path": True,
        # The values that pyrefly would get from an interpreter (`env_query` in crates/pyrefly_config/src/environment,
        # 1.4.1). pyrefly must not look for an interpreter.
        "skip-interpreter-query": True,
        "python-platform": sys.platform,
        "python-version": ".".join(map(str, sys.version_info[:3])),
        "site-package-path": package_paths(place.environment),
    }
    path = place.scratch / "pyrefly.toml"
    path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in lines.items()))
    return {"pyrefly": {"configPath": str(path)}}


def _pyrefly_settings(place: Place) -> dict[str, Any]:
    return {"python": _pyrefly_options(place)}


def _ty_settings(place: Place) -> dict[str, Any]:
    environment: dict[str, Any] = {"python": str(place.environment)} if place.environment else {}
    if members := _members(place):
        environment["extra-paths"] = members
    return {"ty": {"configuration": {"environment": environment} if environment else {}}}


def _zuban_variables(place: Place) -> dict[str, str]:
    return {"VIRTUAL_ENV": str(place.environment)} if place.environment else {}


_SERVERS = (
    _server(
        name="basedpyright",
        summary="fork of pyright with more of Pylance's features",
        licence="MIT",
        # The package includes Node.js.
        recipe=Pip(package="basedpyright", version="1.40.2"),
        why=(
            "only open files are checked, so that no work in the background slows answers; an "
            "interpreter is set, since basedpyright would otherwise search the project for one and run it"
        ),
        command=_start_basedpyright,
        settings=_basedpyright_settings,
        auto_import=AutoImport(usual="on", switch=Switch(settings="basedpyright.analysis.autoImportCompletions")),
        programs=("basedpyright-langserver",),
        quirks=BASEDPYRIGHT,
        closure=Closure.IMPORTS,
    ),
    _server(
        name="jedi-language-server",
        summary="jedi as a language server for Python",
        licence="MIT",
        recipe=Pip(package="jedi-language-server", version="0.47.0"),
        why="no snippets and no diagnostics; jedi imports no modules of the project, since that would run their code",
        command=JediServer("from jedi_language_server.cli import cli; cli()"),
        options=Template({"completion": {"disableSnippets": True}, "diagnostics": {"enable": False}}),
        auto_import=NEVER,
    ),
    _server(
        name="pylsp",
        summary="python-lsp-server, jedi as a language server with plugins",
        licence="MIT",
        recipe=Pip(package="python-lsp-server", version="1.15.0"),
        why="no linters; jedi imports no modules of the project, since that would run their code",
        command=JediServer("from pylsp.__main__ import main; main()"),
        settings=Template(
            {
                "pylsp": {
                    "plugins": {
                        **{name: {"enabled": False} for name in LINTERS},
                        # By default, jedi imports numpy, which runs numpy's code.
                        "jedi": {"auto_import_modules": []},
                    }
                }
            }
        ),
        auto_import=AutoImport(usual="off", switch=Switch(settings="pylsp.plugins.rope_autoimport.enabled")),
    ),
    _server(
        name="pyrefly",
        summary="type checker and language server for Python",
        licence="MIT",
        recipe=Pip(package="pyrefly", version="1.4.1"),
        why="ci-eval's configuration replaces the project's, which may name programs to run",
        command=Template(("{folder}/bin/pyrefly", "lsp")),
        # pyrefly opens files before it requests its settings, so the settings are also sent at the start.
        options=_pyrefly_options,
        settings=_pyrefly_settings,
        auto_import=AutoImport(
            usual="on",
            switch=Switch(settings="python.analysis.autoImportCompletions", options="analysis.autoImportCompletions"),
        ),
        programs=("pyrefly-lsp",),
    ),
    _server(
        name="pyright",
        summary="type checker and language server for Python",
        licence="MIT",
        recipe=Npm(package="pyright", version="1.1.414"),
        why="only open files are checked and nothing is indexed, so that no work in the background slows answers",
        command=Template(("node", "{folder}/node_modules/pyright/langserver.index.js", "--stdio")),
        settings=_pyright_settings,
        auto_import=AutoImport(usual="on", switch=Switch(settings="python.analysis.autoImportCompletions")),
        programs=("pyright-langserver",),
        quirks=PYRIGHT,
        closure=Closure.IMPORTS,
        toolchains={"node": "20"},
    ),
    _server(
        name="ty",
        summary="type checker and language server for Python",
        licence="MIT",
        recipe=Pip(package="ty", version="0.0.104"),
        command=Template(("{folder}/bin/ty", "server")),
        # ty reads these options before it requests its settings.
        options=_ty_settings,
        settings=_ty_settings,
        auto_import=AutoImport(
            usual="on", switch=Switch(settings="ty.completions.autoImport", options="ty.completions.autoImport")
        ),
    ),
    _server(
        name="zuban",
        summary="type checker and language server for Python",
        # The licence requires that zuban run as a separate program.
        licence="AGPL-3.0-only",
        recipe=Pip(package="zuban", version="0.10.2"),
        command=Template(("{folder}/bin/zuban", "server")),
        variables=_zuban_variables,
        # The kind of an imported class, "class" or "variable", depends on earlier requests.
        quirks=ServerQuirks(kinds=False),
    ),
)
ENGINES: dict[str, Engine] = {engine.name: engine for engine in _SERVERS}
