"""What the manifest says of this machine, and where ci-eval keeps its cache."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timezone
from pathlib import Path


def cache_folder() -> Path:
    """The folder in `CI_EVAL_CACHE`, or else ci-eval's folder in the user's cache."""
    given = os.environ.get("CI_EVAL_CACHE")
    if given:
        return Path(given).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "ci-eval"


def cores() -> int:
    """Number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu() -> str:
    """Name of the processor, and the number of its cores."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(errors="replace").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or platform.machine()}, {cores()} cores"


def system() -> str:
    """Operating system, release and architecture."""
    return f"{platform.system()} {platform.release()} {platform.machine()}"


def python() -> str:
    """Implementation and version of Python."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def now() -> str:
    """The time in UTC, to the second, in ISO 8601."""
    return datetime.now(timezone.utc).replace(microsecond=0).isoformat()
