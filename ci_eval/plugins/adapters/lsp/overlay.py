"""The configuration that users add to an engine's own, and the settings that turn auto-import on or off."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.model.engine import AutoImported
from ci_eval.plugins.adapters.place import Place, replace_texts


class Overlay(msgspec.Struct, frozen=True, kw_only=True):
    settings: Mapping[str, Any] = msgspec.field(default_factory=dict)
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    capabilities: Mapping[str, Any] = msgspec.field(default_factory=dict)
    environment: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    """Variable → its value. None means the value of the same variable in ci-eval's environment."""

    def variables(self) -> dict[str, str]:
        """Return the variables with their values. Raises ConfigError if a variable to copy is not set."""
        missing = [name for name, value in self.environment.items() if value is None and name not in os.environ]
        if missing:
            raise ConfigError(
                f"`engine.environment` passes on {missing[0]}, which is not set: set the variable, or write its value"
            )
        return {name: os.environ[name] if value is None else value for name, value in self.environment.items()}


NOTHING = Overlay()


class Template(msgspec.Struct, frozen=True):
    """A value with placeholders: the engine's `{folder}`, `{scratch}` for temporary files, the project's `{root}`."""

    # This is a class, not a `partial`, since two partials are never equal: a worker keeps a server for the next file
    # only if the engines are equal.
    value: Any

    def __call__(self, place: Place) -> Any:
        folders = {"{folder}": place.folder, "{scratch}": place.scratch, "{root}": place.root}
        return replace_texts(self.value, {name: str(folder) for name, folder in folders.items()})


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """The keys in settings and in options that turn auto-import on or off, such as `ty.completions.autoImport`."""

    settings: str = ""
    options: str = ""

    def __call__(self, on: bool) -> Overlay:
        return Overlay(settings=_nest(self.settings, on), options=_nest(self.options, on))


def _nest(path: str, value: Any) -> Any:
    for key in reversed(path.split(".")) if path else ():
        value = {key: value}
    return value if path else {}


class AutoImport(msgspec.Struct, frozen=True, kw_only=True):
    usual: AutoImported = "unknown"
    switch: Callable[[bool], Overlay] | None = None

    resolves: bool = False
    """True if lists do not contain the edits that import a name. The server is then asked for the edits of an item."""

    def chosen(self, wanted: str, name: str) -> Overlay:
        """Return the configuration that turns auto-import on or off. `wanted`: the value of `interpret.autoImport`.
        Raises ConfigError if no setting for that is known."""
        if wanted == "default" or ((self.usual, wanted) in {("none", "off"), ("on", "on")} and not self.switch):
            return NOTHING
        if self.switch is None:
            raise ConfigError(
                f"`interpret.autoImport` is {wanted}, but ci-eval knows no setting of {name} for that: set the key to "
                "default, or write the engine's own setting into `engine.settings` or `engine.options`"
            )
        return self.switch(wanted == "on")

    def state(self, wanted: str) -> AutoImported:
        if wanted == "default" or self.usual == "none":
            return self.usual
        return "on" if wanted == "on" else "off"


UNKNOWN = AutoImport()
NEVER = AutoImport(usual="none")


def merge_objects(below: Any, above: Any) -> Any:
    """Merge objects key by key at every depth. For anything else, `above` wins."""
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    return {
        **below,
        **{key: merge_objects(below[key], value) if key in below else value for key, value in above.items()},
    }


def add_arguments(command: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """Add arguments. An argument `--NAME=VALUE` replaces the arguments with the same name."""
    names = {argument.partition("=")[0] for argument in arguments if argument.startswith("--") and "=" in argument}
    return [*(part for part in command if part.partition("=")[0] not in names), *arguments]
