"""The configuration that an engine is sent, all but the code it is asked about; and the machine it ran on."""

from __future__ import annotations

from typing import Any, Literal

from ci_eval.model.tokens import Value

AutoImported = Literal["on", "off", "none", "unknown"]
"""Whether an engine suggests names that would first have to be imported: `none` = it never does, `unknown` = ci-eval
does not know, since nobody has told it either way."""

SET = "(set)"
"""Stands for the value of a variable that may be a secret."""


class SentConfiguration(Value, frozen=True, kw_only=True):
    """The configuration that an engine is sent. Folders have names: `{engine}` is where it is installed, `{root}` the
    project, `{dependencies}` what the project needs, `{scratch}` the temporary folder that it may write to."""

    like: str = ""
    """The named engine whose configuration a command was given; "" = none."""
    arguments: tuple[str, ...] = ()
    """The arguments of its program."""
    prepared: tuple[str, ...] = ()
    """The arguments of a program that is run before it starts."""
    settings: dict[str, Any] = {}
    """Section → what it gets when it asks for its configuration."""
    options: Any = None
    """`initializationOptions`."""
    environment: dict[str, str] = {}
    """Environment variables of its process; of those that may be secrets, the names alone."""
    files: dict[str, str] = {}
    """Path → content of the files that were written for it; of long ones, size and digest."""
    capabilities: dict[str, Any] = {}
    """What the client says that it can do."""
    language_ids: dict[str, str] = {}
    """Suffix of a file → what the protocol calls its language."""
    quirks: dict[str, Any] = {}
    """How it is treated differently from other servers."""
    auto_import: AutoImported = "unknown"
    dependencies: Literal["told", "not told", "none"] = "none"
    """Whether it was told where the packages are that the project needs; `none` = none were installed."""
    limits: dict[str, float] = {}
    """`timeout` and `heap`, `memory` and `suggestions`: seconds, bytes, and suggestions that count."""


class Condition(Value, frozen=True, kw_only=True):
    """Something that the engines of two runs were told differently; None = that one was not told."""

    name: str
    base: str | None
    new: str | None


class MachineState(Value, frozen=True, kw_only=True):
    """The load of the machine while the engine was asked; None where the system does not say."""

    load: float | None = None
    """Processes that ran or waited for a processor, on average over the last minute."""
    pressure: float | None = None
    """Share of the time in which at least one process waited for a processor."""
    cores: int = 0
    busy: bool = False
    """Whether times say more about the machine than about the engine."""
