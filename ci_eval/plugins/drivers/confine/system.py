"""The paths of a Linux system that every confined program may use: libraries, programs, time zones, devices such as
/dev/null; nothing that belongs to a user or a service."""

from __future__ import annotations

import os
import stat

from ci_eval.plugins.drivers.confine import landlock

RUN = "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /gnu/store".split()
READ = """
    /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/ld.so.preload /etc/alternatives
    /etc/localtime /etc/timezone /etc/locale.alias /etc/nsswitch.conf /etc/passwd /etc/group
    /etc/os-release /etc/lsb-release /etc/debian_version /etc/mime.types /etc/ssl/openssl.cnf
    /sys/devices/system/cpu /sys/devices/system/node /sys/kernel/mm/transparent_hugepage /sys/kernel/mm/hugepages
    /sys/fs/cgroup /dev/urandom /dev/random
""".split()
DEVICES = ("/dev/null",)
PUBLIC = ("", *(f"/sys{part}" for part in ("", "/crypto", "/fs", "/kernel", "/kernel/random", "/vm", "/net/core")))
"""The folders of `/proc` from which root's programs read what every user may read."""


def rules() -> list[tuple[str, int]]:
    """Return for each path the rights (see `landlock`) that a program has there, and below."""
    java = [f"/etc/{name}" for name in os.listdir("/etc") if name.startswith("java-")]
    return [
        *((path, landlock.READ_AND_RUN) for path in RUN),
        *((path, landlock.READ) for path in (*READ, *java)),
        *((path, landlock.DEVICE) for path in DEVICES),
        *((f"/proc{folder}", landlock.LIST) for folder in PUBLIC),
        *((path, landlock.READ) for path in (*readable_processes(), "/proc/self")),
    ]


def readable_processes() -> list[str]:
    """Return the files of `/proc` that every user may read: all of it, but for root, whom the kernel refuses none.

    Of `/proc`, root's programs read these, and what is told of their own process.
    """
    if os.geteuid():
        return ["/proc"]
    entries = [entry for folder in PUBLIC if os.path.isdir(f"/proc{folder}") for entry in os.scandir(f"/proc{folder}")]
    modes = {entry.path: entry.stat(follow_symlinks=False).st_mode for entry in entries if not entry.name.isdigit()}
    return [path for path, mode in modes.items() if stat.S_ISREG(mode) and mode & stat.S_IROTH]


def pin(path: str) -> None:
    """Hold a file open, unread, for as long as this process lives."""
    try:
        os.open(path, os.O_PATH)
    except OSError:  # it may be gone
        return
