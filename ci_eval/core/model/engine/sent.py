"""The configuration that an engine is sent, all but the code it is asked about; and the machine it ran on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from ci_eval.core.model.tokens import Value

Seconds = Annotated[float, Meta(ge=0, le=1e12)]

AutoImported = Literal["on", "off", "none", "unknown"]
"""The policy on names that would first have to be imported, if known: `none` = the engine never suggests them,
`unknown` = ci-eval does not know, since the engine was not configured either way."""

SET = "(set)"
"""The text in place of the value of a variable that may be a secret."""


class SentConfiguration(Value, frozen=True, kw_only=True):
    """The configuration that an engine is sent. Folders have names: `{engine}` is where it is installed, `{root}` the
    project, `{dependencies}` what the project needs, `{scratch}` the temporary folder that it may write to."""

    like: str = ""
    """The named engine whose configuration a command was given; "" = none."""
    arguments: tuple[str, ...] = ()
    prepared: tuple[str, ...] = ()
    """The arguments of a program that is run before it starts."""
    settings: dict[str, Any] = {}
    options: Any = None
    environment: dict[str, str] = {}
    """The environment variables of its process; of those that may be secrets, the names alone."""
    files: dict[str, str] = {}
    """The content of the files that were written for it, by path; of long ones, size and digest."""
    capabilities: dict[str, Any] = {}
    language_ids: dict[str, str] = {}
    """The name of the language in the protocol, by suffix of a file."""
    quirks: dict[str, Any] = {}
    """The special treatment that the engine gets, unlike other servers."""
    auto_import: AutoImported = "unknown"
    dependencies: Literal["told", "not told", "none"] = "none"
    """The knowledge of the engine about the location of the packages that the project needs; `none` = none were
    installed."""
    limits: dict[str, float] = {}
    """The limits `timeout` and `heap`, `memory` and `suggestions`: seconds, bytes, and suggestions that count."""


class Condition(Value, frozen=True, kw_only=True):
    """A difference between two runs: their grammars, seeds, or configurations sent to the engines; None = not sent."""

    name: str
    base: str | None
    new: str | None


class CpuTimes(Value, frozen=True, kw_only=True):
    """The seconds of CPU that a stage took."""

    engine: Seconds = 0.0
    """Those of the engine's processes; of an engine of another machine, or within ci-eval's own process, 0."""
    checks: Seconds = 0.0
    """Those of engine and ci-eval while sessions were asked once more, to see whether answers differ."""
    own: Seconds = 0.0
    """The rest of ci-eval's own, without the supervisors of engines."""

    def __add__(self, other: CpuTimes) -> CpuTimes:
        return CpuTimes(
            engine=round(self.engine + other.engine, 3),
            checks=round(self.checks + other.checks, 3),
            own=round(self.own + other.own, 3),
        )

    @property
    def total(self) -> float:
        return self.engine + self.checks + self.own


class MachineState(Value, frozen=True, kw_only=True):
    """The load of the machine while the engine was asked; None if the system does not say."""

    load: float | None = None
    """The number of processes that ran or waited for a processor, on average over the last minute."""
    pressure: float | None = None
    """The share of the time in which at least one process waited for a processor."""
    cores: int = 0
    busy: bool = False
    """True if times say more about the machine than about the engine."""
