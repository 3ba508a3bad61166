"""The configuration that an engine gets: a named engine, or one of the user's own that is like a named one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec
from msgspec.structs import replace as replace_values

from ci_eval.ci import Screen
from ci_eval.core.base.errors import ConfigError, EngineFailure, PreparationError
from ci_eval.core.catalogs import engines
from ci_eval.core.compare import between, parts
from ci_eval.core.config import Config, EngineConfig
from ci_eval.core.contracts import Configurable, Engine, Installation, Surroundings
from ci_eval.core.model.engine.sent import Condition, SentConfiguration
from ci_eval.core.rendering.advice import sentence
from ci_eval.plugins.adapters.driven import DrivenEngine
from ci_eval.plugins.adapters.engine import Closure
from ci_eval.plugins.adapters.lsp.custom import calls_itself, custom, is_called
from ci_eval.plugins.adapters.lsp.engine import NO_COMPLETION, LspEngine
from ci_eval.plugins.adapters.lsp.overlay import NEVER, Overlay
from ci_eval.plugins.adapters.place import Configured

ON_TOP = ("settings", "options", "arguments", "environment", "capabilities")
"""The keys of `engine` that are put on top of what a language server gets anyway."""


def servers() -> Iterator[LspEngine]:
    return (engine for engine in engines.CATALOG.all() if isinstance(engine, LspEngine))


def named_engine(config: Config) -> Engine:
    """Return the engine that the configuration names, configured as it says. Raises ConfigError if it does not have
    what is configured."""
    engine_config = config.engine
    # No engine's name has a space, which a command has.
    if " " in engine_config.name:
        raise ConfigError(f"{engine_config.name!r} is no engine's name: did you mean --engine-command for a command?")
    engine = engines.CATALOG.load(engine_config.name)
    if isinstance(engine, LspEngine):
        return _set_auto_import(replace(engine, own=make_overlay(engine_config)), config)
    usual = engine.auto_import if isinstance(engine, DrivenEngine) else NEVER
    usual.chosen(config.interpret.auto_import, engine.name)
    for key in (key for key in ON_TOP if key != "options" and getattr(engine_config, key)):
        raise ConfigError(
            f"`engine.{key}` is given, but {engine.name} is no language server, which it is for: remove it"
        )
    if not engine_config.options:
        return engine
    if isinstance(engine, Configurable):
        return engine.configured(engine_config.options)
    able = ", ".join(candidate.name for candidate in engines.CATALOG.all() if isinstance(candidate, Configurable))
    raise ConfigError(
        f"`engine.options` is given, but {engine.name} has none; they are for language servers, a `command`, {able}"
    )


def engine_of_command(config: Config, name: str) -> Engine:
    """Return the engine for the configuration's command. Raises ConfigError if it cannot be configured so."""
    engine_config = config.engine
    assert engine_config.command
    server = custom(
        name,
        engine_config.command,
        language_id=engine_config.language_id,
        own=make_overlay(engine_config),
        like=find_similar_engine(engine_config),
    )
    return _set_auto_import(server, config)


def find_similar_engine(given: EngineConfig) -> LspEngine | None:
    """Return the named engine that a command is like: the one of `engine.like`, else the one whose program it starts;
    None if there is none. Raises ConfigError if `engine.like` is no language server."""
    if given.like is None:
        return next((engine for engine in servers() if is_called(given.command or ("",), engine)), None)
    engine = engines.CATALOG.load(given.like)
    if isinstance(engine, LspEngine):
        return engine
    possible = ", ".join(server.name for server in servers())
    raise ConfigError(
        f"`engine.like` is {engine.name}, which is no language server, as a `command` is; known: {possible}"
    )


def identify_engine(
    server: LspEngine, installation: Installation, surroundings: Surroundings, config: Config, screen: Screen
) -> LspEngine:
    """Return the engine of a command, like a named engine if it calls itself so, and print which one it is like. Raises
    PreparationError if it does not complete code."""
    evidence = "engine.like" if config.engine.like else f"the name of its program, {server.name}"
    if not server.like or not config.engine.like:
        try:
            name, completes = server.introduce(installation, surroundings)
        except EngineFailure as error:
            # The sessions fail for the same reason, which the reports lead with.
            screen.warn(f"{server.name} did not start when it was tried: {error}")
            return server
        if not completes:
            raise PreparationError(NO_COMPLETION.format(server.name))
        if not server.like and (
            model := next((candidate for candidate in servers() if calls_itself(name, candidate)), None)
        ):
            assert config.engine.command
            server = _set_auto_import(
                custom(
                    server.name,
                    config.engine.command,
                    language_id=config.engine.language_id,
                    own=server.own,
                    like=model,
                ),
                config,
            )
            evidence = f"the name that it gives, {name}"
    if server.like:
        screen.say(
            f"{server.name} is told and waited for as {server.like} is ({evidence} says so); "
            "--engine-like NAME names another engine"
        )
    return server


def make_overlay(given: EngineConfig) -> Overlay:
    return Overlay(**{key: getattr(given, key) for key in ON_TOP})


def check_same_configuration(
    base: tuple[Config, Engine, SentConfiguration], new: tuple[Config, Engine, SentConfiguration]
) -> None:
    """Check that the two engines get the same configuration, apart from what the user asked for. Raises ConfigError if
    not."""
    (ours, base_engine, base_sent), (theirs, new_engine, new_sent) = base, new
    if _share_settings(ours) != _share_settings(theirs):
        # What follows from these settings was asked for; the comparison says how it differs.
        return
    kinds = [getattr(engine, "like", "") or engine.name for engine in (base_engine, new_engine)]
    differences = between(base_sent, new_sent, same_kind=kinds[0] == kinds[1])
    unasked = [
        difference
        for difference in differences
        if not any(_is_own(difference.name, config) for config in (ours, theirs))
    ]
    if not unasked and (stranger := _sent_to_known_only(base, new)):
        unasked = [Condition(name=name, base=value, new=None) for name, value in stranger]
    if unasked:
        raise ConfigError(
            f"the engines would not be told the same, and nobody asked for that: {sentence(unasked)}. If one of them "
            "is a command: say which engine it is like (--engine-like NAME, or `engine.like`), or give it the same in "
            "`engine.settings` and `engine.options` (where {dependencies} stands for the folder of the project's "
            "packages). --allow-conditions compares them as they are, and says so"
        )


def _share_settings(config: Config) -> tuple[object, ...]:
    # The completion type orders answers, and no engine knows of it.
    plain = replace_values(config.interpret, completion_type="", ranking_model=None)
    return plain, config.project.dependencies


def _is_own(name: str, config: Config) -> bool:
    engine_config = config.engine
    root, _, _ = name.partition(".")
    if engine_config.command is not None and root in {"arguments", "limits"}:
        return True
    if root == "languageIds":
        return engine_config.language_id is not None
    own = SentConfiguration(
        settings=engine_config.settings,
        options=engine_config.options or None,
        environment={key: value or "" for key, value in engine_config.environment.items()},
        arguments=engine_config.arguments,
        capabilities=engine_config.capabilities,
    )
    return root in ON_TOP and name in dict(parts(own))


def _sent_to_known_only(*sides: tuple[Config, Engine, SentConfiguration]) -> list[tuple[str, str]]:
    """Return what one server gets and the other does not, if the other is a command that is like no engine and has no
    configuration of its own; else nothing."""
    for (config, engine, _), (_, known_engine, sent) in zip(sides, reversed(sides), strict=True):
        unknown = isinstance(engine, LspEngine) and config.engine.command is not None and not engine.like
        if unknown and make_overlay(config.engine) == Overlay() and isinstance(known_engine, LspEngine):
            known = known_engine.like or known_engine.name in {server.name for server in servers()}
            # Every language server gets these, so they are no settings of a named engine.
            plain = replace_values(sent, capabilities={}, limits={}, language_ids={}, auto_import="unknown")
            return [part for part in parts(plain) if known and _only_of_adapter(part[0])]
    return []


def _only_of_adapter(name: str) -> bool:
    # The process of every engine gets these variables.
    usual = {f"environment.{variable}" for variable in ("PATH", "HOME", "TMPDIR", "LANG", "PYTHONSAFEPATH")}
    return not name.startswith(("arguments", "dependencies", "autoImport")) and name not in usual


def _set_auto_import(server: LspEngine, config: Config) -> LspEngine:
    """Return the server with the setting `interpret.autoImport`. Raises ConfigError if it cannot do so."""
    setting = config.interpret.auto_import
    server.auto_import.chosen(setting, server.like or server.name)
    # With auto-import, an answer lists the names of any file.
    closure = server.closure if server.auto_import.state(setting) == "off" else Closure.PROJECT
    return replace(server, auto_imports=setting, closure=closure)


def make_sent_configuration(
    engine: Engine,
    installation: Installation,
    surroundings: Surroundings,
    config: Config,
    *,
    has_dependencies: bool,
) -> SentConfiguration:
    """Return the configuration that the engine will get. `has_dependencies`: whether anything that the project needs is
    installed. Raises ConfigError."""
    if isinstance(engine, Configured):
        made = engine.sent(installation, surroundings)
    else:
        endpoint_options = {}
        if config.engine.endpoint is not None:
            # They hold the variable of the key, never the key itself.
            own, usual = msgspec.to_builtins(config.engine), msgspec.to_builtins(EngineConfig())
            endpoint_options = {key: own[key] for key in own if own[key] != usual[key] and key not in ON_TOP}
        limits = {"timeout": surroundings.timeout}
        made = SentConfiguration(
            options=config.engine.options | endpoint_options or None, auto_import="none", limits=limits
        )
    limits = made.limits | {"suggestions": float(config.interpret.max_suggestions)}
    dependencies = made.dependencies if has_dependencies else "none"
    return replace_values(made, limits=limits, dependencies=dependencies)
