"""What `engine.options` says of an IDE."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ci_eval.errors import ConfigError
from ci_eval.fetch.download import check_digest

GENERATIONS = {"k19": "evaluate-completion", "ij21": "ml-evaluate", "ij23": "ml-evaluate"}
"""Generation of the plugin → the command of the IDE that is the plugin's."""


class IdeOptions(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Where the IDE and the plugin are, and how they are run."""

    ide: str = ""
    """A folder, or an archive: its path, or https://…"""
    sha256: str = ""
    """Of the archive."""
    plugin: str = ""
    """A folder or an archive, likewise; "" = the IDE has it."""
    plugin_sha256: str = ""
    generation: str = "ij23"
    """Of the plugin: k19, ij21 or ij23."""
    feature: str = "token-completion"
    """What is evaluated, since ij23."""
    java: str = ""
    """The folder of the JDK that the project gets where it has none."""
    idle: float = 900.0
    """Seconds without a word after which the IDE is taken to be stuck."""

    @classmethod
    def read(cls, given: Mapping[str, object]) -> IdeOptions:
        """Checked. Raises ConfigError."""
        try:
            found = msgspec.convert(dict(given), cls)
        except msgspec.ValidationError as error:
            known = ", ".join(field.encode_name for field in msgspec.structs.fields(cls))
            raise ConfigError(f"`engine.options` of jetbrains: {error}; known are {known}") from error
        if found.generation not in GENERATIONS:
            raise ConfigError(
                f"`engine.options.generation` is {found.generation!r}; it is one of {', '.join(GENERATIONS)}"
            )
        if not found.idle > 0:
            raise ConfigError(f"`engine.options.idle` is {found.idle:g}; it is a number of seconds")
        for digest in filter(None, (found.sha256, found.plugin_sha256)):
            check_digest(digest)
        return found
