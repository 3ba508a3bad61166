"""The configuration that was sent to an engine, the machine on which it ran, and the time and memory that it took."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from ci_eval.core.model.tokens import Milliseconds, Number, Value

Seconds = Annotated[float, Meta(ge=0, le=1e12)]

AutoImported = Literal["on", "off", "none", "unknown"]
"""Whether the engine suggests names that need an import. none: it never does. unknown: this was not configured."""

SET = "(set)"


class SentConfiguration(Value, frozen=True, kw_only=True):
    """The configuration that was sent to an engine. Placeholders replace paths: `{engine}` is the engine's folder,
    `{root}` the project, `{dependencies}` the folder of the dependencies, `{scratch}` the temporary folder."""

    like: str = ""
    arguments: tuple[str, ...] = ()
    settings: dict[str, Any] = {}
    options: Any = None
    environment: dict[str, str] = {}
    """Environment variables. Values that may be secret are hidden."""
    files: dict[str, str] = {}
    """Path → text. A long text is replaced by its size and digest."""
    capabilities: dict[str, Any] = {}
    language_ids: dict[str, str] = {}
    """File suffix → language identifier in the protocol."""
    quirks: dict[str, Any] = {}
    auto_import: AutoImported = "unknown"
    dependencies: Literal["told", "not told", "none"] = "none"
    """Whether the engine's configuration names the folders of installed packages; none = nothing is installed."""
    limits: dict[str, float] = {}
    """`timeout` in seconds, `heap` and `memory` in bytes, `suggestions` as a count."""


GRAMMAR = "grammar"
"""The name of the `Condition` that compares grammars."""


class Condition(Value, frozen=True, kw_only=True):
    """A difference between two runs in grammar, seed, or a setting of the engine. None: the setting was not sent."""

    name: str
    base: str | None
    new: str | None


class CpuTimes(Value, frozen=True, kw_only=True):
    """The CPU time that a stage took, in seconds."""

    engine: Seconds = 0.0
    """The CPU time of the engine's processes; 0 for engines on another machine or in ci-eval's own process."""
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
    """The share of the time during which some process waited for a core."""
    cores: int = 0
    busy: bool = False
    """True if the machine was so busy that latencies say more about the machine than about the engine."""


State = Literal["exact", "sampled", "once", "noisy", "weighted", "none"]
"""The reliability of a figure.

exact: all sessions were asked, and repeated questions have equal answers, by construction or in two rounds. sampled:
some sessions were asked. once: all sessions were asked, in one round. noisy: answers differ if sessions are asked
again. weighted: sessions have different weights. none: there is no figure, or no figure to compare it with.
"""


class Determinism(Value, frozen=True, kw_only=True):
    """The number of sessions that were asked more than once, and how many of these had different answers."""

    asked: Number = 0
    differed: Number = 0

    def __add__(self, other: Determinism) -> Determinism:
        return Determinism(asked=self.asked + other.asked, differed=self.differed + other.differed)

    @property
    def share(self) -> float:
        return self.differed / self.asked if self.asked else 0.0


MOST_STARTS = 1_000


class Footprint(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The start-up times and the memory of an engine during a run."""

    start_ups: Annotated[tuple[Milliseconds, ...], Meta(max_length=MOST_STARTS)] = ()
    """The time from each start of the engine to its first answer, without ci-eval's own waits, in ascending order."""
    start_cpus: Annotated[tuple[Milliseconds, ...], Meta(max_length=MOST_STARTS)] = ()
    """The CPU time of the engine's processes up to each first answer, if known, in ascending order."""
    waited: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    """The seconds that ci-eval waited, over all starts, for work that the engine announced."""
    unready: Number = 0
    """The number of starts after which announced work was not complete within `engine.ready`."""
    dropped: Number = 0
    """The number of items that could not be read. They are missing in displayed lists."""
    unresolved: Number = 0
    """The number of lists that count without their suggestions' edits, because the edits did not come in time."""
    memory: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    """The peak resident memory of one engine's processes, in bytes; None if unknown."""
    weighed: Number = 0
    """How often the memory was measured: after each file and before each restart."""
    of_worker: bool = False
    """True if the engine runs inside ci-eval's worker process, so that the memory is that of the worker process."""


UNKNOWN = Footprint()
