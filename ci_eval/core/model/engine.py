"""The configuration sent to an engine, and the machine, time and memory it ran with."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from ci_eval.core.model.tokens import Milliseconds, Number, Value

Seconds = Annotated[float, Meta(ge=0, le=1e12)]

AutoImported = Literal["on", "off", "none", "unknown"]
"""Whether names are suggested that need an import. `none`: the engine never does; `unknown`: nothing was configured."""

SET = "(set)"


class SentConfiguration(Value, frozen=True, kw_only=True):
    """The configuration sent to an engine. Folders have names: `{engine}` is where it is installed, `{root}` the
    project, `{dependencies}` what the project needs, `{scratch}` the temporary folder."""

    like: str = ""
    arguments: tuple[str, ...] = ()
    settings: dict[str, Any] = {}
    options: Any = None
    environment: dict[str, str] = {}
    """Values of possible secrets are left out."""
    files: dict[str, str] = {}
    """Texts by path; long ones as size and digest."""
    capabilities: dict[str, Any] = {}
    language_ids: dict[str, str] = {}
    """File suffix → the language's name in the protocol."""
    quirks: dict[str, Any] = {}
    auto_import: AutoImported = "unknown"
    dependencies: Literal["told", "not told", "none"] = "none"
    """Whether the engine got the location of the project's packages; `none` = no package is installed."""
    limits: dict[str, float] = {}
    """`timeout` in seconds, `heap` and `memory` in bytes, `suggestions` as a count."""


GRAMMAR = "grammar"
"""The name of the condition on grammars."""


class Condition(Value, frozen=True, kw_only=True):
    """A difference between two runs: of grammar, seed, or a setting sent to the engine; None = not sent."""

    name: str
    base: str | None
    new: str | None


class CpuTimes(Value, frozen=True, kw_only=True):
    """The seconds of CPU that a stage took."""

    engine: Seconds = 0.0
    """0 for engines on another machine or within ci-eval's process."""
    checks: Seconds = 0.0
    own: Seconds = 0.0

    def __add__(self, other: CpuTimes) -> CpuTimes:
        names = self.__struct_fields__
        return CpuTimes(**{name: round(getattr(self, name) + getattr(other, name), 3) for name in names})

    @property
    def total(self) -> float:
        return self.engine + self.checks + self.own


class MachineState(Value, frozen=True, kw_only=True):
    load: float | None = None
    """The mean number of running or waiting processes in the last minute."""
    pressure: float | None = None
    """The share of the time in which a process waited for a processor."""
    cores: int = 0
    busy: bool = False
    """True if times measure the machine rather than the engine."""


State = Literal["exact", "sampled", "once", "noisy", "weighted", "none"]
"""The reliability of a figure.

exact: all sessions were asked, in two rounds that agree, or of an engine that is a function of its question. sampled:
some were asked. once: all were asked, in one round. noisy: answers differ when sessions are asked again. weighted:
sessions have different weights. none: there is no figure, or no figure to compare it with.
"""


class Determinism(Value, frozen=True, kw_only=True):
    """The number of sessions that were asked more than once, and of those whose answers differed."""

    asked: Number = 0
    differed: Number = 0

    def __add__(self, other: Determinism) -> Determinism:
        return Determinism(asked=self.asked + other.asked, differed=self.differed + other.differed)

    @property
    def share(self) -> float:
        return self.differed / self.asked if self.asked else 0.0


MOST_STARTS = 1_000


class Footprint(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The start-up times and the memory of an engine in a whole run."""

    start_ups: Annotated[tuple[Milliseconds, ...], Meta(max_length=MOST_STARTS)] = ()
    """The times from each start of the engine to its first answer, without waits of ci-eval, in rising order."""
    start_cpus: Annotated[tuple[Milliseconds, ...], Meta(max_length=MOST_STARTS)] = ()
    """The CPU times of the engine's processes up to the first answer, if known, in rising order."""
    waited: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    """The seconds, over all starts, spent on waiting for work that the engine announced."""
    unready: Number = 0
    """The starts after which announced work was not done within `engine.ready`."""
    dropped: Number = 0
    """The items that could not be read, which are missing in displayed lists."""
    memory: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    """The most resident bytes of one engine's processes; None if not known."""
    weighed: Number = 0
    """The number of measurements: after each file, and before a restart."""
    of_worker: bool = False
    """True if the memory is that of ci-eval's worker process, since the engine has no process."""


UNKNOWN = Footprint()
