"""Control groups, by which the kernel itself limits a program and all it starts, and kills them at once.

In version 2, a user may have a part of the tree (`Delegate=` of systemd); root has all of it. Version 1 is used where a
system still has it. Documentation: docs.kernel.org/admin-guide/cgroup-v2.html and cgroup-v1/memory.html.
"""

from __future__ import annotations

import os
from _collections_abc import Iterator

TREE = "/sys/fs/cgroup"
NAME = "ci-eval-"
MEMORY_LIMITS = ("memory.max", "memory.limit_in_bytes")
"""The file with a group's limit of memory in version 2, and in version 1."""
BESIDE = 64 << 20
"""Bytes of the kernel's own, such as stacks, that the kernel counts beside what processes hold."""


class Cgroups:
    """The groups of one program; there are none where this user may make none."""

    def __init__(self, memory: int, processes: int) -> None:
        """Make the groups. `memory`: the most bytes, 0 = no limit; `processes`: the most processes and threads."""
        limits = {"pids.max": processes, "memory.oom.group": 1, "memory.swap.max": 0}
        # The supervisor counts exactly what processes hold, so it should notice first.
        self.memory = memory + memory // 10 + BESIDE
        if memory:
            limits |= dict.fromkeys(MEMORY_LIMITS, self.memory)
        self._folders: list[str] = []
        for parent in _parents():
            folder = f"{parent}/{NAME}{os.getpid()}"
            try:
                # Those of supervisors that were killed.
                for name in os.listdir(parent):
                    if name.startswith(NAME) and not os.path.exists(f"/proc/{name.removeprefix(NAME)}"):
                        _remove(f"{parent}/{name}")
                os.mkdir(folder)
                self._folders.append(folder)
                for name in os.listdir(folder):
                    if name in limits:
                        _write(f"{folder}/{name}", limits[name])
            except OSError:
                # This user may not make groups there, or the tree is read-only. The supervisor still counts.
                continue

    def join(self) -> bool:
        """Join the groups. Returns whether the kernel counts all memory of the program now, that of sockets too."""
        counts = False
        for folder in self._folders:
            try:
                _write(f"{folder}/cgroup.procs", 0)
                counts |= any(os.path.exists(f"{folder}/{name}") for name in MEMORY_LIMITS)
            except OSError:  # noqa: PERF203  the others may be joined all the same
                # Version 2 refuses a move between parts of the tree that belong to different users.
                continue
        return counts

    def has_run_out_of_memory(self) -> bool:
        """Return whether the kernel has killed a process because the limit of memory was reached."""
        names = [f"{folder}/{name}" for folder in self._folders for name in ("memory.events", "memory.oom_control")]
        lines = [line.split() for path in names if os.path.exists(path) for line in read(path).splitlines()]
        return any(name == "oom_kill" and count != "0" for name, count in lines)

    def kill(self) -> None:
        """Kill all that is in the groups, at once; only version 2 can."""
        for folder in self._folders:
            if os.path.exists(f"{folder}/cgroup.kill"):
                _write(f"{folder}/cgroup.kill", 1)

    def remove(self) -> None:
        """Remove the groups, which must be empty."""
        for folder in self._folders:
            _remove(folder)


def _parents() -> Iterator[str]:
    """Yield the folders below which groups for this process may be made."""
    for line in read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in {"memory", "pids"}:
            yield f"{TREE}/{controllers}{path}"
        elif not controllers:
            tree = f"{TREE}/unified" if os.path.isdir(f"{TREE}/unified") else TREE
            # A group that holds processes cannot limit groups within it, so one above it must.
            above = [path[:end] for end in range(len(path), -1, -1) if path[end : end + 1] in {"", "/"}]
            yield tree + next((folder for folder in above if _limits(tree + folder)), path)


def _limits(folder: str) -> bool:
    """Return whether groups in this one are limited, and this process may move into them."""
    try:
        return {"memory", "pids"} <= {*read(f"{folder}/cgroup.subtree_control").split()} and os.access(
            f"{folder}/cgroup.procs", os.W_OK
        )
    except OSError:  # the root of a container's tree may be all that can be seen
        return False


def read(path: str) -> str:
    with open(path) as file:
        return file.read()


def _remove(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:  # it is not empty, or another has removed it
        return


def _write(path: str, value: int) -> None:
    with open(path, "w") as file:
        file.write(str(value))
