"""The configuration on top of an adapter's own: the user's, and the switch for auto-import."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.model.engine import AutoImported
from ci_eval.plugins.adapters.place import Place


class Overlay(msgspec.Struct, frozen=True, kw_only=True):
    settings: Mapping[str, Any] = msgspec.field(default_factory=dict)
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    capabilities: Mapping[str, Any] = msgspec.field(default_factory=dict)
    environment: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    """A value of None is replaced by that of the same variable in ci-eval's environment."""

    def variables(self) -> dict[str, str]:
        """Return the variables with their values. Raises ConfigError if one to copy from the environment is not set."""
        missing = [name for name, value in self.environment.items() if value is None and name not in os.environ]
        if missing:
            raise ConfigError(
                f"`engine.environment` takes over {missing[0]}, which is not set: set it, or write its value"
            )
        return {name: os.environ[name] if value is None else value for name, value in self.environment.items()}


NOTHING = Overlay()


class Template(msgspec.Struct, frozen=True):
    """A value that is equal for each project but for the folders `{folder}` and `{scratch}`."""

    # No function made by `partial`: a worker keeps its server for the next file as long as the engine is equal.
    value: Any

    def __call__(self, place: Place) -> Any:
        return expand_folders(self.value, {"{folder}": str(place.folder), "{scratch}": str(place.scratch)})


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
    """True if the list leaves out the edits that import a name, and the server is asked for them item by item."""

    def chosen(self, wanted: str, name: str) -> Overlay:
        """`wanted`: the value of `interpret.autoImport`. Raises ConfigError if no setting for that is known."""
        if wanted == "default" or ((self.usual, wanted) in {("none", "off"), ("on", "on")} and not self.switch):
            return NOTHING
        if self.switch is None:
            raise ConfigError(
                f"`interpret.autoImport` is {wanted}, but ci-eval knows no setting of {name} for that: leave it at "
                "default, or write the engine's own into `engine.settings` or `engine.options`"
            )
        return self.switch(wanted == "on")

    def state(self, wanted: str) -> AutoImported:
        if wanted == "default" or self.usual == "none":
            return self.usual
        return "on" if wanted == "on" else "off"


UNKNOWN = AutoImport()
NEVER = AutoImport(usual="none")


def merge_objects(below: Any, above: Any) -> Any:
    """Merge objects key by key at every depth, anything else as a whole."""
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    return {
        **below,
        **{key: merge_objects(below[key], value) if key in below else value for key, value in above.items()},
    }


def expand_folders(value: Any, folders: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for name, path in folders.items():
            value = value.replace(name, path)
        return value
    if isinstance(value, Mapping):
        return {key: expand_folders(member, folders) for key, member in value.items()}
    return [expand_folders(element, folders) for element in value] if isinstance(value, list | tuple) else value


def add_arguments(command: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """Replace arguments of the same names."""
    # An option given twice could count as both or as an error, so the later one replaces the earlier.
    names = {argument.partition("=")[0] for argument in arguments if argument.startswith("--") and "=" in argument}
    return [*(part for part in command if part.partition("=")[0] not in names), *arguments]
