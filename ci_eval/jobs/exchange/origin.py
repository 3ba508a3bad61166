"""What a workspace of the plugin says of itself: generation, configuration, times, and the manifest made of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval import __version__, stored
from ci_eval.config import Config, load
from ci_eval.errors import ConfigError, WorkspaceError
from ci_eval.exchange import generations, settings
from ci_eval.exchange.contract import Generation
from ci_eval.exchange.fields import plain
from ci_eval.grammar import syntax
from ci_eval.learning.usermodel import model_of, spelled
from ci_eval.manifest import Manifest
from ci_eval.model import EngineInfo, Kind, PrefixConfig, ProjectInfo
from ci_eval.stages import actions

OWN = "ci-eval"
"""Folder of an exported workspace with manifest and configuration as they were."""
NAMED = "%Y-%m-%d_%H-%M-%S"
"""How the plugin names a workspace: the time at which it began."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """A workspace of the plugin, before its sessions are read."""

    folder: Path
    generation: Generation
    language: str
    """The plugin's name of it."""
    config: Config
    manifest: Manifest
    warnings: tuple[str, ...]


def describe(folder: Path, generation: str | None, engine: str) -> Described:
    """Read config.json. `generation`: its name, None = the one whose configuration it is; `engine`: NAME@VERSION.

    Raises WorkspaceError, ConfigError.
    """
    path = folder / "config.json"
    if not path.is_file():
        raise WorkspaceError(
            f"{folder} is no workspace of the JetBrains plugin: it has no config.json; give the folder named by a time"
        )
    stored.refuse_links(folder)
    raw = plain(path)
    if not isinstance(raw, dict):
        raise WorkspaceError(f"{path} is not an object; fetch the workspace again")
    found = _generation(raw, generation)
    _refuse_golf(raw, folder)
    said = str(raw.get("language") or "Java")
    own = folder / OWN / "manifest.json"
    if own.is_file():
        manifest = stored.decoded(stored.read(own, stored.MANIFEST), Manifest, own)
        loaded = load(folder / OWN / "config.yaml", environment={})
        config, warnings = loaded.config, loaded.warnings
    else:
        config, warnings = _config(path, raw, settings.language_named(said))
        manifest = _manifest(folder, config, raw, engine)
    return Described(
        folder=folder, generation=found, language=said, config=config, manifest=manifest, warnings=warnings
    )


def _generation(raw: Mapping[str, object], name: str | None) -> Generation:
    if name:
        return generations.CATALOG.load(name)
    return next(each for each in generations.CATALOG.all() if each.wrote(raw))


def _refuse_golf(raw: Mapping[str, object], folder: Path) -> None:
    actions_ = raw.get("actions")
    strategy = actions_.get("strategy") if isinstance(actions_, Mapping) else None
    if isinstance(strategy, Mapping) and strategy.get("completionGolf"):
        raise ConfigError(f"{folder} is of code golf, whose sessions are not imported: leave it out")


def _config(path: Path, raw: Mapping[str, object], language: str) -> tuple[Config, tuple[str, ...]]:
    """Return the configuration, as far as we understand it; it is only read, never run."""
    try:
        loaded = load(path, environment=_Verbatim())
        config, warnings = loaded.config, loaded.warnings
    except ConfigError as error:
        config, warnings = _least(raw), (f"only the strategy of config.json is taken over: {error}",)
    prefix = config.actions.strategy.prefix
    if prefix.emulate_typing and prefix.name == "SimplePrefix":
        every = PrefixConfig(name="EveryPrefix", n=prefix.n)
        strategy = replace(config.actions.strategy, prefix=every)
        config = replace(config, actions=replace(config.actions, strategy=strategy))
    interpret = replace(config.interpret, client="raw")
    return replace(config, language=language, interpret=interpret), warnings


class _Verbatim(dict[str, str]):
    """`${name}` stands for itself: it named a property of another machine."""

    def __contains__(self, _: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return f"${{{name}}}"


def _least(raw: Mapping[str, object]) -> Config:
    """Strategy, completion type and title alone, each left out where it is not understood."""
    config = Config()
    for key, value in _known(raw).items():
        section = {key: value}
        try:
            config = msgspec.convert(_merged(msgspec.to_builtins(config), section), Config)
        except msgspec.ValidationError:
            continue
    return config


def _known(raw: Mapping[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    sections = {name: value for name, value in raw.items() if isinstance(value, Mapping)}
    below = sections.get("actions", {}).get("strategy")
    strategy = sections.get("strategy") or (below if isinstance(below, Mapping) else {})
    prefix, context = strategy.get("prefix"), strategy.get("context")
    kinds = strategy.get("filters")
    filters = {
        key: [kind for kind in value if kind in set(Kind)] if key == "statementTypes" and value else value
        for key, value in (kinds.items() if isinstance(kinds, Mapping) else ())
        if key in {"statementTypes", "isStatic", "isArgument", "packageRegex"}
    }
    found["actions"] = {"strategy": {"prefix": prefix or {}, "context": context or "ALL", "filters": filters}}
    kind = sections.get("interpret", {}).get("completionType") or strategy.get("type")
    found["interpret"] = {"completionType": kind} if kind else {}
    if title := sections.get("reports", {}).get("evaluationTitle"):
        found["reports"] = {"evaluationTitle": title}
    if project := raw.get("projectPath"):
        found["project"] = {"spec": f"path:{project}"}
    return found


def _merged(base: dict[str, object], more: Mapping[str, object]) -> dict[str, object]:
    found = dict(base)
    for key, value in more.items():
        below = found.get(key)
        found[key] = _merged(below, value) if isinstance(below, dict) and isinstance(value, Mapping) else value
    return found


def _manifest(folder: Path, config: Config, raw: Mapping[str, object], engine: str) -> Manifest:
    name, _, version = engine.partition("@")
    start = _started(folder)
    project = str(raw.get("projectPath") or "").replace("\\", "/").rstrip("/")
    kind = config.interpret.completion_type
    return Manifest(
        ci_eval=__version__,
        title=config.reports.evaluation_title or kind,
        language=config.language,
        completion_type=kind,
        client="raw",
        strategy=actions.spelled(config.actions.strategy, config.interpret.seed),
        filters=actions.spelled_filters(config.actions.strategy.filters),
        files=actions.spelled_files(config.actions),
        user=spelled(model_of(config.user)) if config.user else "",
        task="completion",
        seed=config.interpret.seed,
        engine=EngineInfo(name=name, version=version or "unknown"),
        project=ProjectInfo(
            spec=config.project.spec, name=project.rpartition("/")[2] or "unknown", revision="unknown", checksum=""
        ),
        grammar=syntax.bundle(),
        python="",
        os="",
        cpu="",
        jobs=1,
        start=start,
        end=start,
    )


def _started(folder: Path) -> str:
    """Return the time in the folder's name, of which no zone is told: UTC is taken; else that of its configuration."""
    try:
        found = datetime.strptime(folder.resolve().name[:19], NAMED).replace(tzinfo=timezone.utc)
    except ValueError:
        found = datetime.fromtimestamp((folder / "config.json").stat().st_mtime, tz=timezone.utc)
    return found.replace(microsecond=0).isoformat()
