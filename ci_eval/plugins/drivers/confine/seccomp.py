"""A seccomp filter, which allows the system calls in `calls.py` and refuses all others.

It forbids what Landlock cannot: sockets, namespaces, access to other processes, shared memory, and `chown` and `chmod`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from _collections_abc import Iterable

from ci_eval.plugins.drivers.confine import calls

Instruction = tuple[int, int, int, int]
"""An instruction of the kernel's filter language (BPF): operation, instructions to skip if the result is true,
instructions to skip if it is false, operand."""

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Machine → (column in `calls.py`, number in linux/audit.h). The numbers of 32-bit programs differ."""
LOAD, AND, EQUAL, AT_LEAST, ANY_BIT, JUMP, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x05, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
"""The offsets in the kernel's struct seccomp_data. Each argument has 8 bytes. Only the lower 4 bytes are checked, since
the kernel uses no more of the arguments that are checked here."""
KILL, ALLOW, FAIL = 0x80000000, 0x7FFF0000, 0x00050000
FARTHEST = 255
"""The number of instructions that a conditional jump can skip at most."""

NEW_NAMESPACES = 0x7E020000
"""The flags CLONE_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET. `clone` makes no time namespaces."""
EVERY_PROCESS = 0xFFFFFFFF
"""The id -1, for which `kill` sends the signal to all processes of the user."""
AF_UNIX, SOCK_STREAM, SOCK_SEQPACKET, SOCKET_TYPE = 1, 1, 5, 0xFF
"""`socketpair` makes no SOCK_DGRAM sockets: with sendto, they could send to any other socket, such as /dev/log."""
AF_INET, AF_INET6, TCP, CONNECTS = 2, 10, 6, 0x20000000
"""The last is MSG_FASTOPEN: sending with it also connects. Landlock checks neither this nor protocols besides TCP."""
FILE_TYPE, PIPE = 0xF000, 0x1000
"""The bits S_IFMT and S_IFIFO: `mknod` may make only named pipes."""

LARGE_PAGES = 0x40000
"""The flag MAP_HUGETLB. The kernel counts huge pages for no process, so they would evade the memory limit."""

OWNERLESS = 0x21
"""The flags MAP_SHARED and MAP_ANONYMOUS. Such pages may outlive their mapping, and then count for no process."""

PRCTL = {
    "PR_GET_PDEATHSIG": 2, "PR_GET_DUMPABLE": 3, "PR_SET_NAME": 15, "PR_GET_NAME": 16,
    "PR_GET_SECCOMP": 21, "PR_CAPBSET_READ": 23, "PR_SET_TIMERSLACK": 29, "PR_GET_TIMERSLACK": 30,
    "PR_GET_CHILD_SUBREAPER": 37, "PR_SET_NO_NEW_PRIVS": 38,
    "PR_GET_NO_NEW_PRIVS": 39, "PR_SET_THP_DISABLE": 41, "PR_GET_THP_DISABLE": 42, "PR_SVE_GET_VL": 51,
    "PR_GET_TAGGED_ADDR_CTRL": 56, "PR_SET_VMA": 0x53564D41, "PR_GET_AUXV": 0x41555856,
}  # fmt: skip
"""The options of linux/prctl.h that a process may read or set. Missing on purpose: PR_SET_PDEATHSIG, which could let an
engine survive its supervisor, PR_SET_DUMPABLE, which hides memory from the supervisor, PR_SET_PTRACER, PR_SET_MM,
PR_SCHED_CORE, PR_SET_SECCOMP."""
IOCTL = {
    "TCGETS": 0x5401, "TIOCGPGRP": 0x540F, "TIOCGWINSZ": 0x5413, "FIONREAD": 0x541B, "FIONBIO": 0x5421,
    "FIONCLEX": 0x5450, "FIOCLEX": 0x5451, "TCGETS2": 0x802C542A, "FICLONE": 0x40049409, "FICLONERANGE": 0x4020940D,
}  # fmt: skip
"""The allowed requests: about terminals, readable bytes, waiting and inheritance (asm-generic/ioctls.h), and copies to
a file opened for writing. Missing on purpose: FS_IOC_SETFLAGS, which changes flags of a file opened for reading,
TIOCSTI, which types into a terminal, and requests to devices."""
FCNTL = {
    "F_DUPFD": 0, "F_GETFD": 1, "F_SETFD": 2, "F_GETFL": 3, "F_SETFL": 4, "F_GETLK": 5, "F_SETLK": 6, "F_SETLKW": 7,
    "F_OFD_GETLK": 36, "F_OFD_SETLK": 37, "F_OFD_SETLKW": 38, "F_DUPFD_CLOEXEC": 1030, "F_SETPIPE_SZ": 1031,
    "F_GETPIPE_SZ": 1032,
}  # fmt: skip
"""The allowed commands of linux/fcntl.h. Missing on purpose: F_SETOWN, F_SETSIG (send signals to others), F_SETLEASE
(makes others wait), F_NOTIFY (watches folders outside), F_SET_RW_HINT (changes a file opened for reading)."""


def restrict(*, truncate: bool, connects: bool = False) -> None:
    """Allow only the listed calls from now on. `truncate`: whether to refuse the call truncate, which Landlock forbids
    only since version 3. `connects`: whether to allow TCP sockets. Raises OSError."""
    machine = os.uname().machine
    # A 32-bit Python on a 64-bit kernel uses other numbers of calls.
    if machine not in ARCHITECTURES or sys.maxsize < 2**32:
        raise OSError(errno.ENOSYS, f"no table of system calls for {machine}")
    code = b"".join(
        struct.pack("=HBBI", *instruction) for instruction in program(machine, truncate=truncate, connects=connects)
    )
    filters = ctypes.create_string_buffer(code)
    header = ctypes.create_string_buffer(struct.pack("@HP", len(code) // 8, ctypes.addressof(filters)))
    calls.prctl(calls.SECCOMP, 2, ctypes.byref(header))


def program(machine: str, *, truncate: bool, connects: bool = False) -> list[Instruction]:
    """Return the filter for a machine.

    Neighbouring numbers with the same outcome form an interval. Bisection finds the interval of a call with eight
    comparisons instead of two hundred.
    """
    column, architecture = ARCHITECTURES[machine]
    outcomes = {number: _ALLOW for group in calls.ALLOWED for number in calls.numbers(group, column).values()}
    for group, error in calls.PRETENDED.items():
        outcomes |= dict.fromkeys(calls.numbers(group, column).values(), _fail(error))
    checks = _checks() | ({"truncate": _fail(errno.EPERM)} if truncate else {})
    checked = calls.numbers(f"{calls.CHECKED}, {calls.CLIENTS}" if connects else calls.CHECKED, column)
    outcomes |= {number: [*checks[name], *_ALLOW] for name, number in checked.items()}
    intervals: list[tuple[int, list[Instruction]]] = []
    for number in range(max(*outcomes, calls.NEWER) + 2):
        outcome = outcomes.get(number) or _fail(errno.ENOSYS if number >= calls.NEWER else errno.EPERM)
        if not intervals or intervals[-1][1] != outcome:
            intervals.append((number, outcome))
    return [
        (LOAD, 0, 0, ARCHITECTURE),
        # On another architecture, the same numbers stand for other calls.
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        *_halve(intervals),
    ]


def _halve(intervals: list[tuple[int, list[Instruction]]]) -> list[Instruction]:
    if len(intervals) == 1:
        return intervals[0][1]
    middle = len(intervals) // 2
    below, above = _halve(intervals[:middle]), _halve(intervals[middle:])
    first = intervals[middle][0]
    if len(below) <= FARTHEST:
        return [(AT_LEAST, len(below), 0, first), *below, *above]
    return [(AT_LEAST, 0, 1, first), (JUMP, 0, 0, len(below)), *below, *above]


def _checks() -> dict[str, list[Instruction]]:
    """Return call → the instructions that refuse the call because of its arguments."""
    # The id 0 is the calling process. An engine must not slow down ci-eval, or the other engine of a comparison.
    itself = _refuse_unless(0, [0])
    of_itself = dict.fromkeys(
        ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"), itself
    )
    return of_itself | {
        "clone": _refuse_if(0, (ANY_BIT, 0, 1, NEW_NAMESPACES)),
        "kill": _refuse_if(0, (EQUAL, 0, 1, EVERY_PROCESS)),
        "mmap": [
            *_refuse_if(3, (ANY_BIT, 0, 1, LARGE_PAGES)),
            *[(LOAD, 0, 0, ARGUMENTS + 24), (AND, 0, 0, OWNERLESS), (EQUAL, 0, 1, OWNERLESS), *_fail(errno.EPERM)],
        ],
        "prctl": _refuse_unless(0, PRCTL.values()),
        "ioctl": _refuse_unless(1, IOCTL.values()),
        "fcntl": _refuse_unless(1, FCNTL.values()),
        "socketpair": [*_refuse_unless(0, [AF_UNIX]), *_refuse_unless(1, [SOCK_STREAM, SOCK_SEQPACKET], SOCKET_TYPE)],
        "mknod": _refuse_unless(1, [PIPE], FILE_TYPE),
        "mknodat": _refuse_unless(2, [PIPE], FILE_TYPE),
        "truncate": [],
        "socket": [
            *_refuse_unless(0, [AF_INET, AF_INET6]),
            *_refuse_unless(1, [SOCK_STREAM], SOCKET_TYPE),
            *_refuse_unless(2, [0, TCP]),
        ],
        "connect": [],
        "sendto": _refuse_if(3, (ANY_BIT, 0, 1, CONNECTS)),
        "sendmsg": _refuse_if(2, (ANY_BIT, 0, 1, CONNECTS)),
        "sendmmsg": _refuse_if(3, (ANY_BIT, 0, 1, CONNECTS)),
    }


def _refuse_unless(argument: int, values: Iterable[int], mask: int = 0) -> list[Instruction]:
    choices = list(values)
    masked = [(AND, 0, 0, mask)] if mask else []
    tests = [(EQUAL, len(choices) - position, 0, value) for position, value in enumerate(choices)]
    return [(LOAD, 0, 0, ARGUMENTS + 8 * argument), *masked, *tests, *_fail(errno.EPERM)]


def _refuse_if(argument: int, test: Instruction) -> list[Instruction]:
    return [(LOAD, 0, 0, ARGUMENTS + 8 * argument), test, *_fail(errno.EPERM)]


def _fail(error: int) -> list[Instruction]:
    return [(RETURN, 0, 0, FAIL | error)]


_ALLOW = [(RETURN, 0, 0, ALLOW)]
