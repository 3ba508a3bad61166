"""The paths of a Linux system that every confined program may use: libraries, programs, time zones, devices such as
/dev/null; nothing that belongs to a user or a service."""

from __future__ import annotations

import os

from ci_eval.plugins.drivers.confine import landlock

RUN = "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /gnu/store".split()
READ = """
    /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/ld.so.preload /etc/alternatives
    /etc/localtime /etc/timezone /etc/locale.alias /etc/nsswitch.conf /etc/passwd /etc/group
    /etc/os-release /etc/lsb-release /etc/debian_version /etc/mime.types /etc/ssl/openssl.cnf
    /proc /sys/devices/system/cpu /sys/devices/system/node /sys/kernel/mm/transparent_hugepage /sys/kernel/mm/hugepages
    /sys/fs/cgroup /dev/urandom /dev/random /dev/zero
""".split()
DEVICES = ("/dev/null",)


def rules() -> list[tuple[str, int]]:
    """Return for each path the rights (see `landlock`) that a program has there, and below."""
    java = [f"/etc/{name}" for name in os.listdir("/etc") if name.startswith("java-")]
    return [
        *((path, landlock.READ_AND_RUN) for path in RUN),
        *((path, landlock.READ) for path in (*READ, *java)),
        *((path, landlock.DEVICE) for path in DEVICES),
    ]
