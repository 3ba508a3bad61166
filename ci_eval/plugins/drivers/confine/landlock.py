"""Landlock, a part of Linux: a process limits for good which files it and its descendants may use.

Later versions (ABI) can forbid more: docs.kernel.org/userspace-api/landlock.html. The numbers are from
linux/landlock.h.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from _collections_abc import Iterable

from ci_eval.plugins.drivers.confine.calls import syscall

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
BENEATH, PORT = 1, 2

RUN, WRITE_FILE, READ_FILE, READ_FOLDER, REFER, TRUNCATE, IOCTL = 1, 2, 4, 8, 1 << 13, 1 << 14, 1 << 15
CHANGE_FOLDERS = 0b1_0111_1011_0000
"""The rights to make and remove files, folders, sockets, pipes and links, but not devices."""
FIRST_VERSION = 0x1FFF
"""The rights that version 1 can forbid."""
SINCE = {1: FIRST_VERSION, 2: REFER, 3: TRUNCATE, 5: IOCTL}
OF_FILES = RUN | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
TCP = 0b11
"""The rights to listen and connect by TCP. From version 4 on, both are always forbidden, except for `port`."""
CONNECT = 0b10
SCOPES = 0b11
"""Use of abstract Unix sockets of processes outside, and signals to them. From version 6 on, both are forbidden."""

LIST = READ_FOLDER
READ = READ_FILE | READ_FOLDER
READ_AND_RUN = READ | RUN
WRITE = READ | WRITE_FILE | CHANGE_FOLDERS | REFER | TRUNCATE
NO_LINK = 1 << 63
"""A flag for our own use, unknown to Landlock: the rule is skipped if its path is a symbolic link."""
DEVICE = READ_FILE | WRITE_FILE | TRUNCATE

WHY_NOT = {
    errno.ENOSYS: "this kernel has none, or a container hides it",
    errno.EOPNOTSUPP: "it was switched off when the system started",
    errno.EPERM: "a container refuses it",
}


def version() -> tuple[int, str]:
    """Return the kernel's version of Landlock and "". Without Landlock, return 0 and the reason why it is missing."""
    try:
        # With the flag LANDLOCK_CREATE_RULESET_VERSION (1), the call only returns the version.
        return syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)), ""
    except OSError as error:
        return 0, WHY_NOT.get(error.errno or 0, str(error.strerror))


def restrict(rules: Iterable[tuple[str, int]], abi: int, port: int = 0) -> None:
    """Restrict this process for good. Each rule is a path and the rights there and below; nothing else is allowed.

    `abi`: the version of Landlock. `port`: the only TCP port to connect to, or 0; needs version 4. Raises OSError.
    """
    handled = 0
    for since, rights in SINCE.items():
        handled |= rights if abi >= since else 0
    layout = [handled, TCP if abi >= 4 else 0, SCOPES if abi >= 6 else 0][: 1 if abi < 4 else 2 if abi < 6 else 3]
    attributes = struct.pack(f"={len(layout)}Q", *layout)
    ruleset = syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    for path, rights in rules:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC | (os.O_NOFOLLOW if rights & NO_LINK else 0))
        except OSError:
            # A missing path needs no rule.
            continue
        allowed = rights & handled
        # The kernel refuses a rule that gives a file rights that only folders have.
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISLNK(mode):
            allowed = 0
        elif not stat.S_ISDIR(mode):
            allowed &= OF_FILES
        if allowed:
            syscall(ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(BENEATH), struct.pack("=Qi", allowed, descriptor), 0)
        os.close(descriptor)
    if port and abi >= 4:
        syscall(ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(PORT), struct.pack("=2Q", CONNECT, port), 0)
    syscall(RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    os.close(ruleset)


RUN_PATHS = "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /gnu/store".split()
READ_PATHS = """
    /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/ld.so.preload /etc/alternatives
    /etc/localtime /etc/timezone /etc/locale.alias /etc/nsswitch.conf /etc/passwd /etc/group
    /etc/os-release /etc/lsb-release /etc/debian_version /etc/mime.types /etc/ssl/openssl.cnf
    /sys/devices/system/cpu /sys/devices/system/node /sys/kernel/mm/transparent_hugepage /sys/kernel/mm/hugepages
    /sys/fs/cgroup /dev/urandom /dev/random
""".split()
PUBLIC = ("", *(f"/sys{part}" for part in ("", "/crypto", "/fs", "/kernel", "/kernel/random", "/vm", "/net/core")))
"""The folders of `/proc` in which programs of root may read what every user may read."""


def system_rules() -> list[tuple[str, int]]:
    """Return the paths that every confined program may use, each with the rights there and below: libraries, programs,
    time zones, devices such as /dev/null. No path belongs to a user or a service."""
    java = [f"/etc/{name}" for name in os.listdir("/etc") if name.startswith("java-")]
    return [
        *((path, READ_AND_RUN) for path in RUN_PATHS),
        *((path, READ) for path in (*READ_PATHS, *java)),
        ("/dev/null", DEVICE),
        *((f"/proc{folder}", LIST) for folder in PUBLIC),
        *((path, READ) for path in (*readable_processes(), "/proc/self")),
    ]


def readable_processes() -> list[str]:
    """Return the readable parts of `/proc`: all of it for a user, whom the kernel limits there. The kernel does not
    limit root, so for root return the files that every user may read."""
    if os.geteuid():
        return ["/proc"]
    entries = [entry for folder in PUBLIC if os.path.isdir(f"/proc{folder}") for entry in os.scandir(f"/proc{folder}")]
    modes = {entry.path: entry.stat(follow_symlinks=False).st_mode for entry in entries if not entry.name.isdigit()}
    return [path for path, mode in modes.items() if stat.S_ISREG(mode) and mode & stat.S_IROTH]


def pin(path: str) -> None:
    """Keep a file open until this process ends."""
    try:
        os.open(path, os.O_PATH)
    except OSError:  # the file may be gone
        return
