"""A test of the sandbox: a confined process attempts what it must not do to files and to another process.

Each attempt checks a promise of SECURITY.md, and has the key of this promise.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` imports enum, re and collections
import _socket  # `socket` takes 8 ms to import
import ctypes
import errno
import os
import struct
from _collections_abc import Callable

from ci_eval.plugins.drivers.confine import calls

NOTHING_OPEN = "nothing found open"
UNCOUNTED = "memory in pipes and sockets"
REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EXDEV})
ABSENT = REFUSED | {errno.ENOSYS, errno.EOPNOTSUPP}
"""The errors of refused calls, including those that fail as if the kernel or file system did not know them."""
READ_WHATEVER_ITS_OWNER = 2
"""CAP_DAC_READ_SEARCH, the only capability that root keeps: in a container, root must be able to read a project of
another user. Landlock still limits what root reads."""


class Stage:
    """The files and processes on which the attempts are made."""

    def __init__(self, canary: str, caller: int, *, scratch: str = "", repository: str = "", report: int = -1) -> None:
        """`canary`: a file that must not be accessible. `caller`: the id of a process outside. `scratch`: a folder that
        may be written to. `repository`: a file below the project's `.git`. `report`: a descriptor that may be open."""
        self.canary, self.caller = canary, caller
        self.scratch, self.repository, self.report = scratch, repository, report


def sentence(walls: list[str], still: list[str], reasons: list[str], *, counted: bool) -> str:
    """Return the report for manifest and pages, such as `landlock 6 + seccomp + control group, nothing found open`.

    `walls`: the parts of the sandbox that work. `still`: the attempts that succeeded. `reasons`: why parts of the
    sandbox are missing. `counted`: whether a control group counts the memory.
    """
    because = f" ({'; '.join(reasons)})" if reasons else ""
    if not walls:
        return f"not confined: {'; '.join(reasons)}"
    # Memory in buffers is not attempted, since that would fill the machine's memory. Without a control group,
    # it is reported as open, but alone is no reason to refuse an engine: few users may make control groups.
    opened = still if counted else [*still, UNCOUNTED]
    held = " + ".join([*walls, "control group"] if counted else walls)
    held += f"; open: {', '.join(opened)}{because}" if opened else ""
    if still:
        return held
    return f"{held}{'; otherwise ' if opened else ', '}{NOTHING_OPEN}"


def still_open(stage: Stage) -> list[str]:
    """Return the names of the attempts that succeed, although the sandbox should refuse them."""
    names = []
    for name, (_, attempt) in CANARIES.items():
        try:
            # False means that the attempt had no effect, or that there was nothing to attempt.
            if attempt(stage) is False:
                continue
        except OSError as error:
            if error.errno in ABSENT:
                continue
        names.append(name)
    return names


def _open_and_close(path: str, flags: int) -> bool:
    os.close(os.open(path, flags, 0o600))
    return True


def _follow_a_link(stage: Stage) -> bool:
    if not stage.scratch:
        return False
    link = f"{stage.scratch}/link-to-the-canary"
    os.symlink(stage.canary, link)
    try:
        return _open_and_close(link, os.O_RDONLY)
    finally:
        os.unlink(link)


def _touch(stage: Stage) -> bool:
    # Use the canary's folder, since an earlier attempt may have removed the canary itself.
    folder = os.path.dirname(stage.canary)
    known = os.stat(folder)
    try:
        os.utime(folder, ns=(known.st_atime_ns, known.st_mtime_ns))
    except FileNotFoundError:  # the filter's answer, although the folder exists
        return False
    return True


def _watch(stage: Stage) -> bool:
    notifier = calls.syscall(_number(calls.EVENTS, "inotify_init1"), ctypes.c_int(0))
    try:
        folder = os.path.dirname(stage.canary).encode()
        # The filter answers with 0, which the kernel never returns for a successful call.
        return calls.syscall(_number(calls.WATCHES, "inotify_add_watch"), ctypes.c_int(notifier), folder, 2) != 0
    finally:
        os.close(notifier)


def _make_socket_attempt(family: int, kind: int) -> Callable[[Stage], object]:
    return lambda _: _socket.socket(family, kind).close()


def _pair(_: Stage) -> None:
    for end in _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_DGRAM):
        end.close()


def _open_descriptors(stage: Stage) -> bool:
    """Return whether a descriptor is open besides the standard three and the report's."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) != stage.report:
            try:
                os.fstat(int(name))
            except OSError:  # os.listdir used this descriptor, and has closed it
                continue
            return True
    return False


def _first_byte(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.read(descriptor, 1)
    finally:
        os.close(descriptor)


def _namespace(_: Stage) -> None:
    # The filter refuses this call. Without a filter, the call would succeed, but have no effect.
    calls.syscall({"x86_64": 272}.get(os.uname().machine, 97), ctypes.c_ulong(0))


def _capabilities(_: Stage) -> bool:
    header, sets = ctypes.create_string_buffer(struct.pack("=Ii", 0x20080522, 0)), (ctypes.c_uint32 * 6)()
    calls.syscall(_number(calls.OWNERS, "capget"), header, sets)
    return bool(sets[0] & ~(1 << READ_WHATEVER_ITS_OWNER) or sets[3])


def _share_memory(_: Stage) -> None:
    # These are the numbers of shmget and shmctl, which are in no list of `calls.py`.
    get, control = {"x86_64": (29, 31)}.get(os.uname().machine, (194, 195))
    # If a segment can be made, remove it: a segment outlives the process that made it.
    segment = calls.syscall(get, ctypes.c_int(0), ctypes.c_size_t(4096), ctypes.c_int(0o600 | 0o1000))
    calls.syscall(control, ctypes.c_int(segment), ctypes.c_int(0), None)


def _name_memory(_: Stage) -> None:
    path = f"/dev/shm/ci-eval-canary-{os.getpid()}"  # noqa: S108  that is where the C library has it
    _open_and_close(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    os.unlink(path)


def _leave(stage: Stage) -> bool:
    """Start a process that tries to leave its parent and its process group. Return whether it succeeded."""
    allowed, allow = os.pipe()
    parent_reader, parent_writer = os.pipe()
    middle = os.fork()
    if not middle:
        if not os.fork():
            # With this copy open, the child would wait forever after the death of the starting process.
            os.close(allow)
            for call in (os.setsid, os.setpgrp):
                try:
                    call()
                except OSError:  # noqa: PERF203  the result shows below
                    continue
            os.read(allowed, 1)
            os.write(parent_writer, b"%d %d" % (os.getppid(), os.getpgrp()))
        os._exit(0)
    os.waitpid(middle, 0)
    os.write(allow, b".")
    os.close(parent_writer)
    said = os.read(parent_reader, 40)
    for descriptor in (allowed, allow, parent_reader):
        os.close(descriptor)
    # A child that could not leave is now a child of the supervisor, in the same process group.
    return said != b"%d %d" % (stage.caller, os.getpgrp())


def _outlive(_: Stage) -> bool:
    """Return whether this process would survive the end of its supervisor."""
    received = ctypes.c_int(0)
    calls.prctl(calls.ASK_DEATH_SIGNAL, ctypes.byref(received))
    return bool(received.value != signal.SIGKILL)


def _share_pages(_: Stage) -> None:
    mmap = _number(calls.CHECKED, "mmap")
    # If the page is mapped, it is freed when this process becomes the program.
    calls.syscall(mmap, None, ctypes.c_size_t(4096), ctypes.c_int(3), ctypes.c_int(0x21), ctypes.c_int(-1), None)


def _read_as_root(_: Stage) -> None:
    files = [
        f"/proc/{name}" for name in ("slabinfo", "vmallocinfo", "pagetypeinfo", "timer_list", "sys/kernel/cad_pid")
    ]
    _first_byte(next(filter(os.path.exists, files), "/proc/kmsg"))


def _number(group: str, name: str) -> int:
    return calls.numbers(group, 0 if os.uname().machine == "x86_64" else 1)[name]


CANARIES: dict[str, tuple[str, Callable[[Stage], object]]] = {
    "reading files": ("reading", lambda stage: _open_and_close(stage.canary, os.O_RDONLY)),
    "writing files": ("writing", lambda stage: _open_and_close(stage.canary, os.O_WRONLY)),
    "making files": ("writing", lambda stage: _open_and_close(f"{stage.canary}.new", os.O_WRONLY | os.O_CREAT)),
    "removing files": ("writing", lambda stage: os.unlink(stage.canary)),
    "listing folders": ("reading", lambda stage: os.listdir(os.path.dirname(stage.canary))),
    "cutting files": ("writing", lambda stage: os.truncate(stage.canary, 0)),
    "the project's .git": (
        "git",
        lambda stage: bool(stage.repository) and _open_and_close(stage.repository, os.O_RDONLY),
    ),
    "links to files": ("links", _follow_a_link),
    "rights of files": ("rights", lambda stage: os.chmod(stage.canary, 0o600)),
    # The attempt sets the mode that the file has, so nothing changes if the attempt succeeds.
    "rights of open files": ("rights", lambda _: os.fchmod(2, os.fstat(2).st_mode & 0o7777)),
    "dates of files": ("rights", _touch),
    "attributes of files": ("attributes", lambda stage: os.listxattr(stage.canary)),
    "news of files": ("attributes", _watch),
    "priorities": (
        "priorities",
        lambda stage: os.setpriority(os.PRIO_PROCESS, stage.caller, os.getpriority(os.PRIO_PROCESS, stage.caller)),
    ),
    "the caller's processors": (
        "priorities",
        lambda stage: os.sched_setaffinity(stage.caller, os.sched_getaffinity(stage.caller)),
    ),
    "the kernel's choice of whom to end": (
        "priorities",
        lambda stage: _open_and_close(f"/proc/{stage.caller}/oom_score_adj", os.O_WRONLY),
    ),
    "shared memory": ("sharing", _share_memory),
    "shared memory with a name": ("sharing", _name_memory),
    "memory of no process": ("memory", lambda _: os.close(os.memfd_create("canary"))),
    "shared memory without a name": ("memory", _share_pages),
    "memory of a device": ("memory", lambda _: _open_and_close("/dev/zero", os.O_RDONLY)),
    "namespaces": ("privileges", _namespace),
    "capabilities": ("privileges", _capabilities),
    "the caller's environment": ("environment", lambda stage: _first_byte(f"/proc/{stage.caller}/environ")),
    "the caller's memory": ("processes", lambda stage: _open_and_close(f"/proc/{stage.caller}/mem", os.O_RDONLY)),
    "the caller's open files": ("descriptors", lambda stage: os.readlink(f"/proc/{stage.caller}/fd/0")),
    "open files": ("descriptors", _open_descriptors),
    "signals": ("processes", lambda stage: os.kill(stage.caller, 0)),
    "what root alone reads in /proc": ("reading", _read_as_root),
    "leaving the watch": ("end", _leave),
    "outliving the watch": ("end", _outlive),
    "TCP": ("sockets", _make_socket_attempt(_socket.AF_INET, _socket.SOCK_STREAM)),
    "UDP": ("sockets", _make_socket_attempt(_socket.AF_INET, _socket.SOCK_DGRAM)),
    "IPv6": ("sockets", _make_socket_attempt(_socket.AF_INET6, _socket.SOCK_STREAM)),
    "Unix sockets": ("sockets", _make_socket_attempt(_socket.AF_UNIX, _socket.SOCK_STREAM)),
    "pairs of datagram sockets": ("sockets", _pair),
}
"""Name of an attempt → (key of the promise in SECURITY.md, attempt), in the order of reports."""
