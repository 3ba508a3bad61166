"""Loading, changing and writing of configurations and of views, which are settings that change only reports."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.base import atomic
from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import jetbrains
from ci_eval.core.config.checking import check, show
from ci_eval.core.config.keys import keys
from ci_eval.core.config.rules import settle
from ci_eval.core.config.schema import BY_MODEL, Config, EngineConfig, InterpretConfig
from ci_eval.core.config.text import parse_yaml, read, read_expression, write_yaml
from ci_eval.core.model import EndpointConfig, PrefixConfig

VARIABLE = re.compile(r"\$\$\{|\$\{([^}]*)\}")
"""A variable `${name}`, or `$${`, which is an escape for the characters `${`."""

INTERPOLATED = ("project.spec", "dataset.spec", "outputDir", "reports.evaluationTitle")

USUAL_LENGTHS = (0, 1, 3)
"""The default numbers of typed letters. Most editors show a list after the first letter."""

USUAL_SESSIONS = 1_000
"""The default number of sessions. It takes some minutes and gives an interval of about three percentage points."""
NUMBERS = ("sessionsLimit", "sessionProbability")
"""The keys of `interpret` that limit the number of sessions."""

SPECS = ("project", "dataset")
"""The sections that may be written as a text, which is the value of `spec`."""


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    config: Config
    warnings: tuple[str, ...]
    own_prefix: bool = False
    """True if the file or an override sets the prefix. This is assumed for JSON, the format of the JetBrains plugin."""
    own_number: bool = False


def load(
    path: Path | None,
    *,
    engine: str | None = None,
    overrides: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
) -> Loaded:
    """Return the configuration in the file at `path`; the defaults if `path` is None. `engine`: NAME or NAME@VERSION,
    which replaces the file's engine. `overrides`: settings `dotted.key=value`, applied last. Raises ConfigError."""
    source = str(path) if path else "configuration"
    content, raw, upgrade_warnings = read(path) if path else None, dict[str, object](), list[str]()
    if content is not None:
        if not isinstance(content, dict):
            raise ConfigError(f"{source}: the whole content is {show(content)}; expected `key: value` lines")
        try:
            raw, upgrade_warnings = jetbrains.upgrade(content)
            _spread(raw)
        except ConfigError as error:
            raise ConfigError(f"{source}: {error}") from None
    check(raw, source)
    if engine is not None:
        _put(raw, "engine", engine, "command line")
    for override in overrides:
        _override(raw, override)

    def interpolate(key: str, text: str) -> str:
        for name in (match[1] for match in VARIABLE.finditer(text)):
            if name is not None and name not in environment:
                raise ConfigError(
                    f"{source}: `{key}` uses ${{{name}}}, but this environment variable is not set: set it, "
                    "or write $${ for the characters ${"
                )
        return VARIABLE.sub(lambda match: "${" if match[1] is None else environment[match[1]], text)

    _change_texts(raw, interpolate)
    settled, rule_warnings = settle(check(raw, source), source)
    is_json = path is not None and path.suffix == ".json"
    section = raw.get("interpret")
    return Loaded(
        config=settled,
        warnings=(*upgrade_warnings, *rule_warnings),
        own_prefix=is_json or jetbrains.get_value(raw, "actions.strategy.prefix") is not None,
        own_number=isinstance(section, dict) and any(key in section for key in NUMBERS),
    )


def add_ladder(config: Config) -> Config:
    """Return the configuration with a Ladder of USUAL_LENGTHS, if it has neither prefix, user nor another task."""
    strategy = config.actions.strategy
    if config.effective_task != "completion" or config.user or strategy.prefix != PrefixConfig():
        return config
    ladder = PrefixConfig(name="Ladder", lengths=USUAL_LENGTHS)
    return replace(config, actions=replace(config.actions, strategy=replace(strategy, prefix=ladder)))


def limit_sessions(config: Config) -> Config:
    """Return the configuration limited to USUAL_SESSIONS, unless it has a limit or a dataset (which is asked whole)."""
    interpret = config.interpret
    has_number = interpret.sessions_limit is not None or interpret.session_probability < 1
    if has_number or config.dataset.spec:
        return config
    return replace(config, interpret=replace(interpret, sessions_limit=USUAL_SESSIONS))


def dump(config: Config) -> str:
    raw: dict[str, object] = msgspec.to_builtins(config)
    values: dict[str, object] = msgspec.to_builtins(config.engine)
    endpoint = {field.encode_name: values.pop(field.encode_name) for field in msgspec.structs.fields(EndpointConfig)}
    # The engine's own keys come first. Keys of an endpoint are written only if there is an endpoint.
    raw["engine"] = values | (endpoint if config.engine.endpoint is not None else {})
    # Escape `${`, so that `load` does not read it as a variable.
    _change_texts(raw, lambda _, text: text.replace("${", "$${"))
    return write_yaml(raw)


def set_engine_command(config: Config, command: str, like: str | None = None) -> Config:
    """Return the configuration with a language server as its engine. `command`: the server's command line. `like`: the
    engine whose settings the server gets; None = `engine.like` of the configuration. Raises ConfigError."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise ConfigError(f"the engine {command!r} is not a command: {error}; quote it as for a shell") from error
    if not words:
        raise ConfigError("an engine is missing: give NAME, NAME@VERSION, or the command of a language server")
    engine = config.engine
    if engine.command is None and (engine.endpoint is not None or engine.name != EngineConfig().name):
        # The settings belong to an endpoint or to another engine, so they are dropped.
        engine = EngineConfig(reads=engine.reads)
    like = like or engine.like
    own = replace(engine, name=EngineConfig().name, version=None, command=words, endpoint=None, like=like)
    return replace(config, engine=own)


def patch(
    config: Config,
    *,
    task: str | None = None,
    language: str | None = None,
    engine: str | None = None,
    project: str | None = None,
    dataset: str | None = None,
    dependencies: bool | None = None,
    completion_type: str | None = None,
    model: Path | None = None,
    sessions: int | None = None,
    seed: int | None = None,
) -> Config:
    """Return the configuration with these options of the command line; None keeps the value. `engine`: NAME or
    NAME@VERSION. Variables `${name}` are not replaced. Raises ConfigError."""
    raw: dict[str, object] = msgspec.to_builtins(config)
    options = {
        "task": task,
        "language": language,
        "engine": engine,
        "project": project,
        "dataset": dataset,
        "project.dependencies": dependencies,
        "interpret.completionType": completion_type,
        "interpret.rankingModel": str(model.resolve()) if model else None,
        "interpret.sessionsLimit": sessions,
        "interpret.seed": seed,
    }
    for key, value in options.items():
        if value is not None:
            _put(raw, key, value, "command line")
    if project is not None or dataset is not None:
        # A project or dataset on the command line also replaces `projects`.
        raw["projects"] = []
    patched, _ = settle(check(raw, "command line"), "command line")
    if model and patched.interpret.completion_type not in BY_MODEL:
        raise ConfigError(
            f"command line: a model is for completion type {' or '.join(BY_MODEL)}, not "
            f"{patched.interpret.completion_type}; add --completion-type {BY_MODEL[0]}, or leave --model out"
        )
    return patched


def override(config: Config, settings: Sequence[str]) -> Config:
    """Return the configuration with settings KEY=VALUE applied (for KEY, see `complete_key`). Raises ConfigError."""
    raw: dict[str, object] = msgspec.to_builtins(config)
    for setting in settings:
        key, equals, value = setting.partition("=")
        _override(raw, f"{complete_key(key.strip())}{equals}{value}")
    return settle(check(raw, "settings"), "settings")[0]


def complete_key(key: str) -> str:
    """Return the full name of a key. A key may be given by its last part. Raises ConfigError if that is not unique."""
    names = [known.name for known in keys()]
    if "." in key or key in names or key in Config.__struct_fields__:
        return key
    possible = [name for name in names if name.endswith(f".{key}")]
    if len(possible) > 1:
        raise ConfigError(f"`{key}` may be {' or '.join(possible)}: write the full key")
    if not possible:
        likely = guess(key, [name.rpartition(".")[2] for name in names])
        raise ConfigError(f"`{key}` is not a key of a configuration{likely}; `ci-eval list keys` lists all keys")
    return possible[0]


def add_filters(config: Config, names: Iterable[str]) -> Config:
    """Return the configuration with a filter for each new name that is an expression. Raises ConfigError."""
    known = {part.name for part in config.report_filters.all}
    expressions = dict.fromkeys(name.strip() for name in names if "=" in name and name.strip() not in known)
    if not expressions:
        return config
    raw: dict[str, object] = msgspec.to_builtins(config)
    reports = raw["reports"]
    assert isinstance(reports, dict)
    reports["sessionsFilters"] = [*reports["sessionsFilters"], *map(read_expression, expressions)]
    return settle(check(raw, "filters"), "filters")[0]


# ------------------------------------------------------------------------------------------------- plain values


def _override(raw: dict[str, object], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not all(part.strip() for part in key.split(".")):
        raise ConfigError(f"--set {override}: expected dotted.key=value, for example interpret.sessionProbability=0.2")
    source = f"--set {override}"
    _put(raw, key.strip(), parse_yaml(text, source), source)
    # Check after each override, so that the message names the wrong override.
    check(raw, source)


def _put(raw: dict[str, object], key: str, value: object, source: str) -> None:
    try:
        section, last = jetbrains.make_parent(raw, key)
        if key in SPECS and isinstance(value, str) and isinstance(below := section.get(last), dict):
            section, last = below, "spec"
            if below.get("spec") != value:
                # The name belongs to the former project.
                below.pop("name", None)
        former = section.get(last, InterpretConfig().completion_type)
        if key == "interpret.completionType" and isinstance(reports := raw.get("reports"), dict):
            # The JetBrains plugin uses the completion type as the title: a title equal to the former type changes, too.
            reports |= {"evaluationTitle": value} if reports.get("evaluationTitle") == former else {}
        section[last] = value
        _spread(raw)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from None


def _spread(raw: dict[str, object]) -> None:
    """Expand short forms in `raw`: `engine: NAME@VERSION`, `interpret.userModel: PROFILE`, `project: SPEC`,
    `dataset: SPEC`, and filter expressions. Restore `off` and `on`, which YAML reads as false and true."""
    interpret = raw.get("interpret")
    if isinstance(interpret, dict):
        if isinstance(profile := interpret.get("userModel"), str):
            interpret["userModel"] = {"profile": profile}
        switches = {key: interpret[key] for key in ("confine", "autoImport") if isinstance(interpret.get(key), bool)}
        interpret |= {key: "on" if switch else "off" for key, switch in switches.items()}
    reports = raw.get("reports")
    if isinstance(reports, dict) and isinstance(filters := reports.get("sessionsFilters"), list):
        reports["sessionsFilters"] = [read_expression(line) if isinstance(line, str) else line for line in filters]
    for key in SPECS:
        if isinstance(spec := raw.get(key), str):
            raw[key] = {"spec": spec}
    if not isinstance(engine := raw.get("engine"), str):
        return
    name, at, version = engine.partition("@")
    if not name or (at and not version):
        raise ConfigError(f"`engine` is {engine!r}; expected NAME or NAME@VERSION, for example jedi@0.19.2")
    raw["engine"] = {"name": name, "version": version or None}


# -------------------------------------------------------------------------------------------------- environment


def _change_texts(raw: dict[str, object], change: Callable[[str, str], str]) -> None:
    for key in INTERPOLATED:
        section, last = jetbrains.find_parent(raw, key)
        if isinstance(text := section.get(last), str):
            section[last] = change(key, text)


SECTIONS = ("reports", "comparison")
KEYS = ("interpret.allowedFailures", "actions.allowedUnparsable")


class View(msgspec.Struct, frozen=True, kw_only=True):
    """A change of settings that affect what reports show, but not what was measured."""

    overrides: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    """Expressions that replace the filters of reports. The first expression becomes the headline by default."""
    title: str | None = None

    def settings(self) -> dict[str, object]:
        """Return key → new value. Raises ConfigError if a key affects what was measured."""
        settings = dict[str, object]()
        for override in self.overrides:
            key, _, value = override.partition("=")
            _check(key.strip(), f"--set {override}")
            settings[key.strip()] = parse_yaml(value, f"--set {override}")
        if self.filters:
            settings["reports.sessionsFilters"] = list(self.filters)
            settings.setdefault("reports.headline", self.filters[0].strip())
        return settings | ({"reports.evaluationTitle": self.title} if self.title else {})

    def spell(self) -> list[str]:
        return _spell(self.settings())


UNCHANGED = View()


def read_view(path: Path, change: View = UNCHANGED) -> list[str]:
    """Return the view stored at `path` (if any) plus a change, as overrides KEY=VALUE. Raises ConfigError."""
    return _spell({**_read_view(path), **change.settings()})


def change_view(path: Path, config: Path, change: View) -> None:
    """Change the view at `path`. `config`: the measurement's configuration. Raises ConfigError for an invalid view."""
    if change == UNCHANGED:
        return
    # Loading raises an error for an invalid view before it is stored.
    load(config, overrides=read_view(path, change), environment={})
    atomic.write(path, write_yaml({**_read_view(path), **change.settings()}).encode())


def _read_view(path: Path) -> dict[str, object]:
    if not path.exists():
        return {}
    view = read(path)
    if not isinstance(view, dict):
        raise ConfigError(
            f"{path} is not a view: expected keys such as `reports.headline`; delete the file to show reports "
            "without a view"
        )
    for key in view:
        _check(str(key), str(path))
    return view


def _spell(settings: Mapping[str, object]) -> list[str]:
    # JSON is valid YAML, and fits in one line.
    return [f"{key}={json.dumps(value)}" for key, value in settings.items()]


def _check(key: str, source: str) -> None:
    if key.partition(".")[0] not in SECTIONS and key not in KEYS:
        known = ", ".join((*(f"{section}.*" for section in SECTIONS), *KEYS))
        raise ConfigError(
            f"{source}: `{key}` changes what is measured, so evaluate again; a view may change only {known}"
        )
