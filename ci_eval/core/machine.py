"""Facts about this machine and its processes, such as memory and CPU time, and the folder of ci-eval's cache."""

from __future__ import annotations

import gc
import math
import os
import platform
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from ci_eval.core.model.engine import MachineState


def cache_folder() -> Path:
    if own_folder := os.environ.get("CI_EVAL_CACHE"):
        return Path(own_folder).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "ci-eval"


def cores() -> int:
    # Under taskset or in a cpuset, a process may use fewer cores than the machine has.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu() -> str:
    info = Path("/proc/cpuinfo")
    name = re.search(r"^model name.*?:(.*)$", info.read_text(errors="replace") if info.is_file() else "", re.MULTILINE)
    return f"{name[1].strip() if name else platform.processor() or platform.machine()}, {cores()} cores"


def system() -> str:
    return f"{platform.system()} {platform.release()} {platform.machine()}"


def python() -> str:
    return f"{platform.python_implementation()} {platform.python_version()}"


def now() -> str:
    """Return the current time in UTC as ISO 8601, with milliseconds."""
    # Histories identify evaluations by their time; with whole seconds, two short evaluations could have the same time.
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def seconds(text: str) -> float:
    """Return the seconds since 1970 of a time in ISO 8601 (default zone: UTC); minus infinity for any other text."""
    try:
        # Python 3.10 cannot parse the suffix "Z", which stands for UTC.
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return -math.inf
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


BUSY_LOAD = 2.0
"""A machine is busy if it has at least this number of running or waiting processes per core."""
BUSY_PRESSURE = 0.5
"""A machine is busy if processes wait for a core during at least this share of the time."""
PRESSURE = Path("/proc/pressure/cpu")


class Watch:
    def __init__(self) -> None:
        self._began = time.monotonic()
        self._cpu = time.process_time()
        self._seconds_waited = _read_wait()

    def cpu(self) -> float:
        return time.process_time() - self._cpu

    def state(self) -> MachineState:
        seconds, waited = time.monotonic() - self._began, _read_wait()
        pressure = None
        if waited is not None and self._seconds_waited is not None and seconds > 0:
            pressure = round(min((waited - self._seconds_waited) / seconds, 1.0), 3)
        load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
        busy = (load or 0) >= BUSY_LOAD * cores() or (pressure or 0) >= BUSY_PRESSURE
        return MachineState(load=load, pressure=pressure, cores=cores(), busy=busy)


def _read_wait() -> float | None:
    """Return the total seconds during which some process waited for a core; None if the system does not count them. The
    file contains microseconds (https://docs.kernel.org/accounting/psi.html)."""
    try:
        total = re.search(r"^some .*total=(\d+)\s*$", PRESSURE.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(total[1]) / 1e6 if total else None


def collect_rarely() -> None:
    # A report creates millions of small objects, hardly any of them in cycles; by default, scans take 10 % of its time.
    gc.set_threshold(10_000)


def peak_below(pid: int) -> int | None:
    """Return the sum of the peak resident memory of all descendants of a process, in bytes; None without descendants,
    and on systems other than Linux. The peaks may be at different times, and shared pages count for each process."""
    peaks = [peak for child in list_descendants(pid) if (peak := read_peak_memory(child)) is not None]
    return sum(peaks) if peaks else None


def list_descendants(pid: int) -> Iterator[int]:
    """Yield the ids of all descendants of a process; nothing if the system does not list processes."""
    waiting = [pid]
    while waiting:
        children: list[int] = []
        threads = Path(f"/proc/{waiting.pop()}/task")
        # A thread or process may end during the search.
        with suppress(OSError):
            for thread in threads.iterdir():
                with suppress(OSError):
                    children += map(int, (thread / "children").read_text().split())
        yield from children
        waiting += children


def count_cpu_below(pid: int) -> float | None:
    """Return the CPU seconds of a process's descendants, including ended ones; None if unknown."""
    ticks = 0
    try:
        for process in (pid, *list_descendants(pid)):
            with suppress(FileNotFoundError, ProcessLookupError):
                fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
                # Fields 11 and 12 after the name are utime and stime; 13 and 14 are those of ended children (proc(5)).
                ticks += sum(map(int, fields[13 if process == pid else 11 : 15]))
        return ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return None


def read_cpu_clocks(pids: Iterable[int]) -> dict[int, int]:
    """Return process → its CPU time in nanoseconds. Processes that have ended are missing."""
    clocks = {}
    for pid in pids:
        with suppress(OSError):
            # On Linux, clock_getcpuclockid(3) computes the clock of a process in this way. Reading it takes 1 µs.
            clocks[pid] = time.clock_gettime_ns(~pid << 3 | 2)
    return clocks


def read_peak_memory(pid: int | str) -> int | None:
    """Return the peak resident memory of a process in bytes; None if unknown. The id "self" means this process."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:  # the process has ended, or this is not Linux
        return None
    peak = re.search(r"^VmHWM:\s*(\d+)", status, re.MULTILINE)
    # The kernel calls 1,024 bytes a kB.
    return int(peak[1]) * 1024 if peak else None
