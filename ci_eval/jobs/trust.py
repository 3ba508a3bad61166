"""The check that keeps a workspace of somebody else from running anything on this machine.

A command in it is refused unless the user trusts the workspace. The project that a workspace names is fetched and read,
which is safe: nothing of a project is run.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.catalogs import engines
from ci_eval.core.config import Config
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import runs
from ci_eval.jobs.engine.configuring import ON_TOP
from ci_eval.plugins.adapters.lsp.engine import LspEngine


def refuse_foreign(workspace: Workspace, config: Config, *, trusted: bool, typed: bool = False) -> None:
    """Raise ConfigError if `config` takes something dangerous from a workspace's configuration, unless it is `trusted`.
    Dangerous are a command to run, an address to send code to, and an exception to confinement. `typed`: the user gave
    the engine's command."""
    stored = runs.stored_config(workspace)
    asked = []
    if stored.engine.command is not None and config.engine.command is not None and not typed:
        asked.append(f"run this command as the engine: {shlex.join(stored.engine.command)}")
    put = [key for key in ON_TOP if getattr(stored.engine, key) and getattr(config.engine, key)]
    name = stored.engine.name
    if put and (
        stored.engine.command is not None
        or (name in engines.names() and isinstance(engines.CATALOG.load(name), LspEngine))
    ):
        # Settings may name programs, and environment variables may make any program run others.
        asked.append(f"start the engine with {', '.join(f'engine.{key}' for key in put)} of its own")
    # The IDE is a program, at a path that the configuration names.
    if stored.engine.name == config.engine.name == "jetbrains":
        asked.append(f"run the IDE in {stored.engine.options.get('ide')}")
    if config.engine.endpoint is not None:
        asked += _addresses(stored.engine)
    if config.judge:
        asked += _addresses(stored.judge)
    if stored.engine.reads and config.engine.reads:
        asked.append(f"let the engine read {', '.join(stored.engine.reads)}")
    if config.run.tests:
        asked += _runs(stored)
    if stored.interpret.confine == "off" == config.interpret.confine:
        asked.append("start the engine without walls (interpret.confine: off)")
    _refuse(workspace, asked, trusted=trusted)


def refuse_foreign_grading(workspace: Workspace, stored: Config, *, trusted: bool) -> None:
    """Raise ConfigError if grading a workspace would do something dangerous, unless it is `trusted`. Grading asks the
    configured judge, and runs tests."""
    _refuse(workspace, [*_addresses(stored.judge), *_runs(stored)], trusted=trusted)


def _runs(stored: Config) -> Iterator[str]:
    if stored.run.tests:
        walls = "without walls (interpret.confine: off)" if stored.interpret.confine == "off" else "confined"
        yield f"run the tests in its answers, {walls} (run.tests)"


def _addresses(endpoint: EndpointConfig | None) -> Iterator[str]:
    if endpoint and endpoint.endpoint is not None:
        key = f", with the key in {endpoint.key}" if endpoint.key else ""
        yield f"send code to {endpoint.endpoint}{key}"


def _refuse(workspace: Workspace, asked: Sequence[str], *, trusted: bool) -> None:
    if asked and not trusted:
        raise ConfigError(
            f"the configuration in {workspace.folder} would {', and '.join(asked)}. A workspace may come from somebody "
            "else: add --trust if you know this one, or choose an engine with --engine or a CONFIG"
        )
