"""A supervisor outside of the sandbox. If the program or ci-eval ends, the supervisor kills all that is left.

It is a "subreaper": if a descendant ends, the kernel makes the supervisor the parent of the descendant's children. So
the supervisor finds all descendants.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` imports enum, re and collections
import os
import sys
import time
from _collections_abc import Iterator

from ci_eval.plugins.drivers.confine import landlock
from ci_eval.plugins.drivers.confine.calls import DEATH_SIGNAL, SUBREAPER, prctl

TICK = 0.5
"""The time between two checks of the memory, in seconds."""
MOST_PROCESSES = 1000 + 50 * (os.cpu_count() or 1)
"""The limit of processes and threads. Compilers start some for each processor."""
PAGE = os.sysconf("SC_PAGE_SIZE")
LOOK = signal.SIGUSR1
"""The signal that the kernel sends if the thread that started the supervisor ends. The caller may still run."""
HEARD = (signal.SIGCHLD, LOOK, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

# As in shells, these exit codes are 128 plus the number of the signal: SIGTERM and SIGKILL.
KILLED, TOO_LARGE = 143, 137


def start(caller: int, *, memory: int, name: str, remains: str) -> bool:
    """Fork. In the child, which becomes the program, return whether a control group counts its memory. The parent does
    not return: it watches the child, and ends with the same status.

    `memory`: the limit for the program and its descendants, in bytes; 0 = no limit. `remains`: a folder to remove if
    the caller has ended.
    """
    # Block the signals, so that those that come before `_watch` waits for them stay pending.
    heard_before = signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
    prctl(SUBREAPER)
    me = os.getpid()
    # The kernel's limit is higher than the supervisor's, so that the supervisor acts first and can report the reason.
    groups = Cgroups(memory, MOST_PROCESSES + 100)
    child = os.fork()
    if child:
        prctl(DEATH_SIGNAL, int(LOOK))
        # Close the program's pipes here: otherwise their other ends would not notice that the program has ended.
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        os.closerange(3, 65536)
        # Keep these files open: a rule of Landlock is lost if the kernel drops its file from memory.
        for path in (*landlock.readable_processes(), f"/proc/{child}"):
            landlock.pin(path)
        status = _watch(child, caller, memory, name, remains, groups)
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            # SIGKILL has no handler, and `signal` refuses it.
            if number != signal.SIGKILL:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
            os.kill(os.getpid(), number)
        os._exit(os.WEXITSTATUS(status))
    counted = groups.join()
    signal.pthread_sigmask(signal.SIG_SETMASK, heard_before)
    prctl(DEATH_SIGNAL, int(signal.SIGKILL))
    # The supervisor may have ended before this process asked for the signal.
    if os.getppid() != me:
        os._exit(TOO_LARGE)
    return counted


def _watch(child: int, caller: int, memory: int, name: str, remains: str, groups: Cgroups) -> int:
    """Wait until the program and its descendants have ended. Return the program's status, as `waitpid` does."""
    next_look = 0.0
    status = None
    while status is None:
        heard = signal.sigtimedwait(HEARD, TICK)
        # The parent may be a tracer instead of the caller, so also check that the caller has ended.
        if os.getppid() != caller and has_ended(caller):
            end_all(child, groups)
            groups.remove()
            if remains:
                os.execv("/bin/rm", ["rm", "-rf", "--", remains])  # noqa: S606  argument list, no shell
            os._exit(KILLED)
        while (ended := _reap_child()) and ended[0]:
            status = ended[1] if ended[0] == child else status
        if status is None and heard and heard.si_signo not in (signal.SIGCHLD, LOOK):
            status = KILLED << 8
        # Some programs start thousands of processes in a second, so do not check the memory whenever a process ends.
        if status is not None or time.monotonic() >= next_look:
            next_look = time.monotonic() + TICK
            excess = ""
            if groups.has_run_out_of_memory():  # the kernel acted before the supervisor
                excess = _describe_memory(groups.memory, memory)
            elif status is None and memory:
                below = count_pages() or descendants()
                used = sum(below.values()) * PAGE
                # Check the number of processes first, since reading the memory of many processes takes long.
                if len(below) > MOST_PROCESSES or sum(map(_count_threads, below)) > MOST_PROCESSES:
                    excess = f"started more than {MOST_PROCESSES:,} processes"
                # `used` counts shared pages for each process, so count exactly before deciding.
                elif used > memory and (used := proportional(below)) > memory:
                    excess = _describe_memory(used, memory)
            if excess:
                sys.stderr.write(f"{name} {excess}\n")
                sys.stderr.flush()
                status = TOO_LARGE << 8
    end_all(child, groups)
    groups.remove()
    return status


def _describe_memory(used: int, memory: int) -> str:
    return f"used {used / 1e9:.2g} GB; interpret.memoryLimit allows {memory / 1e9:.2g} GB"


def has_ended(pid: int) -> bool:
    """Return whether a process has ended. A zombie, whose parent has not asked for its status yet, has ended, too."""
    fields = _read_stat(pid)
    return not fields or fields[0] in ("Z", "X")


def _read_stat(pid: int) -> list[str]:
    """Return the fields after the program's name (`man 5 proc`), or an empty list if the process does not exist."""
    try:
        # The name is in brackets, and may contain brackets, blanks and bytes that are not text.
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].decode().split()
    except OSError:
        return []


def descendants() -> dict[int, int]:
    """Return id → pages of memory for each descendant of this process. This reads all processes of the machine, and is
    used if `count_pages` finds none."""
    children: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc"):
        fields = _read_stat(int(name)) if name.isdigit() else []
        if not fields:
            continue
        # Field 1 is the parent's id, and field 21 the number of pages in memory (rss).
        children.setdefault(int(fields[1]), []).append((int(name), int(fields[21])))
    pages_of: dict[int, int] = {}
    waiting = [os.getpid()]
    while waiting:
        for pid, pages in children.get(waiting.pop(), ()):
            pages_of[pid] = pages
            waiting.append(pid)
    return pages_of


def count_pages() -> dict[int, int]:
    """Return id → pages like `descendants`, from the kernel's lists of children. Page tables and swapped-out pages also
    count. If a process ends meanwhile, its siblings may be missing. Without such lists, the result is empty."""
    pages_of: dict[int, int] = {}
    # The lists lead only to descendants, so other processes of the machine cost no time.
    waiting = [str(os.getpid())]
    while waiting:
        folder = f"/proc/{waiting.pop()}/task"
        try:
            threads = os.listdir(folder)
            for thread in threads:
                waiting += read(f"{folder}/{thread}/children").split()
            # If the first thread has ended, its file shows no memory, so read the files of the other threads first.
            held = (_kilobytes(f"{folder}/{thread}/status", HELD) for thread in reversed(threads))
            pages_of[int(folder[6:-5])] = next(filter(None, held), 0) * 1024 // PAGE
        except OSError:
            # The process has ended meanwhile.
            continue
    pages_of.pop(os.getpid(), None)
    return pages_of


def proportional(below: dict[int, int]) -> int:
    """Return the bytes that these processes hold, with shared pages counted once.

    `below`: id → pages in memory, which are used for a process if the kernel does not report its share.
    """
    total = 0
    for pid, pages in below.items():
        try:
            held = _kilobytes(f"/proc/{pid}/smaps_rollup", ("Pss:", "SwapPss:"))
            held += _kilobytes(f"/proc/{pid}/status", ("VmPTE:",))
        except OSError:
            held = 0
        total += held * 1024 or pages * PAGE
    return total


HELD = ("VmRSS:", "VmSwap:", "VmPTE:")
"""The lines of /proc/PID/status that are counted: pages in memory, swapped-out pages, and page tables."""


def _kilobytes(path: str, names: tuple[str, ...]) -> int:
    return sum(int(line.split()[1]) for line in read(path).splitlines() if line.startswith(names))


def _count_threads(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:  # the process has ended meanwhile
        return 0


def end_all(child: int, groups: Cgroups) -> None:
    """Kill all descendants, including those that start meanwhile, until there are none. `child`: the program."""
    # A confined program and its descendants cannot leave the process group, which the kernel kills at once. Killing
    # them one by one could miss processes that start others and end.
    _kill(-child)
    groups.kill()
    while True:
        while (ended := _reap_child()) and ended[0]:
            pass
        if ended is None:
            return
        # While processes end, the kernel's lists may miss children (`man 5 proc`). The next turn finds these.
        for pid in count_pages() or descendants():
            _kill(pid)
        time.sleep(0.002)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _reap_child() -> tuple[int, int] | None:
    """Return the id and status of a child that has ended, (0, 0) if no child has ended, None without children."""
    try:
        return os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None


# ------------------------------------------------------------------------------------------------------ control groups

# Documentation: docs.kernel.org/admin-guide/cgroup-v2.html and cgroup-v1/memory.html. In version 2, a user may own a
# part of the tree (`Delegate=` of systemd), and root owns all of it. Version 1 is used on systems that still have it.
TREE = "/sys/fs/cgroup"
NAME = "ci-eval-"
MEMORY_LIMITS = ("memory.max", "memory.limit_in_bytes")
"""The file with a group's memory limit in version 2, and in version 1."""
BESIDE = 64 << 20
"""The bytes for the kernel's memory, such as stacks, which a group counts in addition to the processes' memory."""


class Cgroups:
    """The control groups with which the kernel limits a program and its descendants, and kills them at once. There are
    no groups if this user may not make them."""

    def __init__(self, memory: int, processes: int) -> None:
        """Make the groups. `memory`: limit in bytes, 0 = no limit. `processes`: limit of processes and threads."""
        limits = {"pids.max": processes, "memory.oom.group": 1, "memory.swap.max": 0}
        # The supervisor counts exactly, so it should act first: the kernel's limit is higher.
        self.memory = memory + memory // 10 + BESIDE
        if memory:
            limits |= dict.fromkeys(MEMORY_LIMITS, self.memory)
        self._folders: list[str] = []
        for parent in _parents():
            folder = f"{parent}/{NAME}{os.getpid()}"
            try:
                # Remove the groups that killed supervisors have left behind.
                for name in os.listdir(parent):
                    if name.startswith(NAME) and not os.path.exists(f"/proc/{name.removeprefix(NAME)}"):
                        _remove(f"{parent}/{name}")
                os.mkdir(folder)
                self._folders.append(folder)
                for name in os.listdir(folder):
                    if name in limits:
                        _write(f"{folder}/{name}", limits[name])
            except OSError:
                # The user may not make groups, or the tree is read-only. The supervisor still checks the limits.
                continue

    def join(self) -> bool:
        """Join the groups. Return whether the kernel now counts all memory of the program, even that in sockets."""
        counts = False
        for folder in self._folders:
            try:
                _write(f"{folder}/cgroup.procs", 0)
                counts |= any(os.path.exists(f"{folder}/{name}") for name in MEMORY_LIMITS)
            except OSError:  # noqa: PERF203  joining the other groups may still succeed
                # Version 2 refuses a move between parts of the tree that belong to different users.
                continue
        return counts

    def has_run_out_of_memory(self) -> bool:
        names = [f"{folder}/{name}" for folder in self._folders for name in ("memory.events", "memory.oom_control")]
        lines = [line.split() for path in names if os.path.exists(path) for line in read(path).splitlines()]
        return any(name == "oom_kill" and count != "0" for name, count in lines)

    def kill(self) -> None:
        """Kill all processes in the groups at once. Only version 2 can do this."""
        for folder in self._folders:
            if os.path.exists(f"{folder}/cgroup.kill"):
                _write(f"{folder}/cgroup.kill", 1)

    def remove(self) -> None:
        for folder in self._folders:
            _remove(folder)


def _parents() -> Iterator[str]:
    for line in read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in {"memory", "pids"}:
            yield f"{TREE}/{controllers}{path}"
        elif not controllers:
            tree = f"{TREE}/unified" if os.path.isdir(f"{TREE}/unified") else TREE
            # A group that holds processes cannot limit groups inside it, so use the nearest ancestor that can.
            above = [path[:end] for end in range(len(path), -1, -1) if path[end : end + 1] in {"", "/"}]
            yield tree + next((folder for folder in above if _limits(tree + folder)), path)


def _limits(folder: str) -> bool:
    try:
        return {"memory", "pids"} <= {*read(f"{folder}/cgroup.subtree_control").split()} and os.access(
            f"{folder}/cgroup.procs", os.W_OK
        )
    except OSError:  # in a container, only the root of its tree may be visible
        return False


def read(path: str) -> str:
    with open(path) as file:
        return file.read()


def _remove(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:  # the group is not empty, or does not exist any more
        return


def _write(path: str, value: int) -> None:
    with open(path, "w") as file:
        file.write(str(value))
