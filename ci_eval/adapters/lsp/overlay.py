"""Configuration that is put on top of what an adapter sends: the user's own, and the switch for auto-import."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ci_eval.errors import ConfigError
from ci_eval.model.engine.sent import AutoImported


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """Settings, options, arguments and variables on top of others."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str | None] = field(default_factory=dict)
    """Name → value; None stands for the value that the variable has in ci-eval's own environment."""

    def variables(self) -> dict[str, str]:
        """Return its environment variables. Raises ConfigError for one that is to be taken over and is not set."""
        missing = [name for name, value in self.environment.items() if value is None and name not in os.environ]
        if missing:
            raise ConfigError(
                f"`engine.environment` takes over {missing[0]}, which is not set: set it, or write its value"
            )
        return {name: os.environ[name] if value is None else value for name, value in self.environment.items()}


NOTHING = Overlay()


@dataclass(frozen=True, kw_only=True)
class AutoImport:
    """The behaviour of an engine about names that would first have to be imported."""

    usual: AutoImported = "unknown"
    """What its users have if they change nothing."""
    switch: Callable[[bool], Overlay] | None = None
    """Returns what turns it on or off; None where there is no such setting."""

    def chosen(self, wanted: str, name: str) -> Overlay:
        """Return what must be sent so that the engine called `name` does as `interpret.autoImport` says.

        Raises ConfigError where it cannot be told.
        """
        if wanted == "default" or ((self.usual, wanted) in {("none", "off"), ("on", "on")} and not self.switch):
            return NOTHING
        if self.switch is None:
            raise ConfigError(
                f"`interpret.autoImport` is {wanted}, but ci-eval knows no setting of {name} for that: leave it at "
                "default, or write the engine's own into `engine.settings` or `engine.options`"
            )
        return self.switch(wanted == "on")

    def state(self, wanted: str) -> AutoImported:
        """Return what the engine does about it where `interpret.autoImport` is `wanted`."""
        if wanted == "default" or self.usual == "none":
            return self.usual
        return "on" if wanted == "on" else "off"


UNKNOWN = AutoImport()
"""Of servers that nothing is known about."""
NEVER = AutoImport(usual="none")
"""Of engines that suggest no name that is not there."""


def merged(below: Any, above: Any) -> Any:
    """Return `below` with `above` on top: objects key by key at every depth, anything else as a whole."""
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    return {**below, **{key: merged(below[key], value) if key in below else value for key, value in above.items()}}


def filled(value: Any, folders: Mapping[str, str]) -> Any:
    """Return the value with the names of folders in its texts, such as `{root}`, replaced by their paths."""
    if isinstance(value, str):
        for name, path in folders.items():
            value = value.replace(name, path)
        return value
    if isinstance(value, Mapping):
        return {key: filled(below, folders) for key, below in value.items()}
    return [filled(each, folders) for each in value] if isinstance(value, list | tuple) else value


def with_arguments(command: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """Return the command with these arguments at its end, and without those of the same names that it has."""
    names = {argument.partition("=")[0] for argument in arguments if argument.startswith("--") and "=" in argument}
    return [*(part for part in command if part.partition("=")[0] not in names), *arguments]
