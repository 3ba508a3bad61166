"""The options of an IDE in `engine.options`."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.fetch.download import check_digest

GENERATIONS = {"k19": "evaluate-completion", "ij21": "ml-evaluate", "ij23": "ml-evaluate"}
"""The generation of the plugin → the command of the IDE that is the plugin's."""


class IdeOptions(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The locations of the IDE and the plugin, and the way they are run."""

    ide: str = ""
    """A folder, or an archive: its path, or https://…"""
    sha256: str = ""
    """The SHA-256 of the IDE's archive."""
    plugin: str = ""
    """A folder or an archive, likewise; "" = the IDE has the plugin."""
    plugin_sha256: str = ""
    generation: str = "ij23"
    """The generation of the plugin: k19, ij21 or ij23."""
    feature: str = "token-completion"
    """The feature that is evaluated, since ij23."""
    java: str = ""
    """The folder of the JDK that the project gets if it has none."""
    idle: float = 900.0
    """Seconds without output after which the IDE is taken to be stuck."""

    @classmethod
    def read(cls, given: Mapping[str, object]) -> IdeOptions:
        """Return the checked options. Raises ConfigError if one is unknown or wrong."""
        try:
            options = msgspec.convert(dict(given), cls)
        except msgspec.ValidationError as error:
            known = ", ".join(field.encode_name for field in msgspec.structs.fields(cls))
            raise ConfigError(f"`engine.options` of jetbrains: {error}; known are {known}") from error
        if options.generation not in GENERATIONS:
            raise ConfigError(
                f"`engine.options.generation` is {options.generation!r}; it is one of {', '.join(GENERATIONS)}"
            )
        if not options.idle > 0:
            raise ConfigError(f"`engine.options.idle` is {options.idle:g}; it is a number of seconds")
        for digest in filter(None, (options.sha256, options.plugin_sha256)):
            check_digest(digest)
        return options
