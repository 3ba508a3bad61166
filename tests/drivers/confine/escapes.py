"""Tries to break out, from inside: escapes.py PLAN. It prints what came of each try, as JSON: name → outcome.

An outcome is `done` if the try succeeded, the name of the error it ended with, `signal N` if it was killed, or
`broken: …`, which is a fault of the try. Each runs in a process of its own.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.drivers.confine.escaping import (
    AT_FDCWD,
    NOWHERE,
    Try,
    below_folder,
    by_handle,
    by_openat2,
    call,
    calls,
    copied_memory,
    descriptors,
    environments,
    exchanged,
    follows,
    from_thread,
    from_within,
    grouped,
    limits,
    linked,
    linked_by_descriptor,
    linked_out,
    lists,
    moved_out,
    of_pair,
    of_project,
    opens,
    owned,
    parented,
    runs,
    seized,
    sends_to,
    shares,
    sockets,
    through_descriptor,
    told_of_changes,
    unless,
    watches,
    with_caller,
)  # fmt: skip

SECONDS = 10
"""For one try."""
UNIX, STREAM, DATAGRAM = socket.AF_UNIX, socket.SOCK_STREAM, socket.SOCK_DGRAM

TRIES: dict[str, dict[str, Try]] = {
    "reading": {
        "open": opens("{outside}/secret"),
        "dots": opens("{own}/../outside/secret"),
        "openat": lambda plan: below_folder(plan, "outside", "secret"),
        "openat2": by_openat2,
        "chdir": from_within("{outside}", "secret"),
        "named descriptor": through_descriptor(os.O_RDONLY),
        "own root": opens("/proc/self/root{outside}/secret"),
        "thread": from_thread,
        "program": runs("/bin/cat", "{outside}/secret"),
        "shell": runs("/bin/sh", "-c", "read line < {outside}/secret"),
        "handle": by_handle,
        "handle opened": calls("open_by_handle_at", AT_FDCWD, None, 0),
        "copy": runs("/bin/cp", "{outside}/secret", "{own}/copied"),
        "hard link": lambda plan: os.link(f"{plan.outside}/secret", f"{plan.own}/hard"),
        "moved in": lambda plan: os.rename(f"{plan.outside}/moved", f"{plan.own}/moved"),
        "ring": calls("io_uring_setup", 1, b"\0" * 120),
        "list": lists("{outside}"),
        "list top": lists("/"),
        "list etc": lists("/etc"),
        "list tmp": lists("/tmp"),
        "list devices": lists("/dev"),
        "list run": lists("/run"),
        "list log": lists("/var/log"),
        "find": runs("/usr/bin/find", "{outside}", "-name", "*"),
        "hosts": opens("/etc/hosts"),
        "kernel log": opens("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK),
    },
    "git": {
        "config": opens("{project}/.git/config"),
        "head": opens("{project}/.git/HEAD"),
        "chdir": from_within("{project}/.git", "config"),
        "openat": lambda plan: below_folder(plan, "project", ".git/config"),
        "dots": opens("{project}/a/../.git/config"),
        "link": opens("{project}/git_link/config"),
        "program": runs("/bin/cat", "{project}/.git/config"),
        "hard link": lambda plan: os.link(f"{plan.project}/.git/config", f"{plan.own}/git"),
    },
    "links": {
        "file": opens("{project}/file_link"),
        "folder": opens("{project}/folder_link/secret"),
        "list": lists("{project}/folder_link"),
        "chain": opens("{project}/chain/secret"),
        "deep": opens("{project}/a/deep_link/secret"),
        "system": opens("{project}/etc_link/hosts"),
        "process": opens("{project}/caller_link/environ"),
        "own": lambda plan: os.open(linked(plan, f"{plan.outside}/secret", "link"), os.O_RDONLY),
        "own folder": lambda plan: os.listdir(linked(plan, plan.outside, "folder")),
        "chdir": from_within("{project}/folder_link", "secret"),
        "program": runs("/bin/cat", "{project}/file_link"),
    },
    "writing": {
        "append": opens("{outside}/secret", os.O_WRONLY | os.O_APPEND),
        "both": opens("{outside}/secret", os.O_RDWR),
        "make": opens("{outside}/new", os.O_WRONLY | os.O_CREAT),
        "unnamed": opens("{outside}", os.O_WRONLY | os.O_TMPFILE),
        "cut": lambda plan: os.truncate(f"{plan.outside}/cut", 0),
        "cut by opening": opens("{outside}/cut", os.O_WRONLY | os.O_TRUNC),
        "named descriptor": through_descriptor(os.O_WRONLY),
        "remove": lambda plan: os.unlink(f"{plan.outside}/gone"),
        "remove folder": lambda plan: os.rmdir(f"{plan.outside}/empty"),
        "make folder": lambda plan: os.mkdir(f"{plan.outside}/folder"),
        "link": lambda plan: os.symlink("x", f"{plan.outside}/link"),
        "pipe": lambda plan: os.mkfifo(f"{plan.outside}/pipe"),
        "move out": moved_out,
        "link out": linked_out,
        "exchange": exchanged,
        "rename": lambda plan: os.rename(f"{plan.outside}/renamed", f"{plan.outside}/renamed2"),
        "shell": runs("/bin/sh", "-c", "echo > {outside}/shell"),
        "tmp": opens("/tmp", os.O_WRONLY | os.O_TMPFILE),
        "project": opens("{project}/a.py", os.O_WRONLY),
        "project opened again": of_project(lambda opened: os.open(f"/proc/self/fd/{opened}", os.O_WRONLY)),
        "project link": linked_by_descriptor,
        "make in project": opens("{project}/new.py", os.O_WRONLY | os.O_CREAT),
        "remove from project": lambda plan: os.unlink(f"{plan.project}/b.py"),
        "cut project": lambda plan: os.truncate(f"{plan.project}/c.py", 0),
        "pipe in project": lambda plan: os.mkfifo(f"{plan.project}/pipe"),
        "through a link": opens("{project}/folder_link/through", os.O_WRONLY | os.O_CREAT),
        "settings of the kernel": opens("/proc/sys/kernel/core_pattern", os.O_WRONLY),
        "own memory": opens("/proc/self/mem", os.O_WRONLY),
        "own score": opens("/proc/self/oom_score_adj", os.O_WRONLY),
        "memory of the machine": opens("/dev/mem"),
        "virtual machine": opens("/dev/kvm", os.O_RDWR),
        "tunnel": opens("/dev/net/tun", os.O_RDWR),
        "fuse": opens("/dev/fuse", os.O_RDWR),
        "new terminal": opens("/dev/ptmx", os.O_RDWR),
    },
    "rights": {
        "chmod": lambda plan: os.chmod(f"{plan.outside}/secret", 0o600),
        "chmod own": lambda plan: os.chmod(plan.own, 0o700),
        "chmod project": lambda plan: os.chmod(f"{plan.project}/a.py", 0o777),
        "fchmod": of_project(lambda opened: os.fchmod(opened, 0o6777)),
        "fchmod by name": of_project(lambda opened: os.chmod(f"/proc/self/fd/{opened}", 0o777)),
        "fchmodat": lambda plan: os.chmod("a.py", 0o777, dir_fd=os.open(plan.project, os.O_RDONLY)),
        "fchmodat2": of_project(lambda opened: call("fchmodat2", opened, b"", 0o777, 0x1000)),
        "chmod program": runs("/bin/chmod", "600", "{outside}/secret"),
        "chown": lambda plan: os.chown(f"{plan.outside}/secret", os.getuid(), os.getgid()),
        "lchown": lambda plan: os.lchown(f"{plan.project}/file_link", os.getuid(), os.getgid()),
        "fchown": of_project(lambda opened: os.fchown(opened, os.getuid(), os.getgid())),
        "fchownat": lambda plan: os.chown("a.py", -1, -1, dir_fd=os.open(plan.project, os.O_RDONLY)),
        "setxattr": lambda plan: os.setxattr(f"{plan.outside}/secret", "user.x", b"x"),
        "lsetxattr": lambda plan: os.setxattr(f"{plan.outside}/secret", "user.x", b"x", follow_symlinks=False),
        "fsetxattr": of_project(lambda opened: os.setxattr(opened, "user.x", b"x")),
        "access list": of_project(lambda opened: os.setxattr(opened, "system.posix_acl_access", b"\2\0\0\0")),
        "setxattrat": calls("setxattrat", AT_FDCWD, NOWHERE, 0, b"user.x", b"x" * 16, 16),
        "removexattr": lambda plan: os.removexattr(f"{plan.outside}/secret", "user.x"),
        "lremovexattr": lambda plan: os.removexattr(f"{plan.outside}/secret", "user.x", follow_symlinks=False),
        "fremovexattr": of_project(lambda opened: os.removexattr(opened, "user.x")),
        "removexattrat": calls("removexattrat", AT_FDCWD, NOWHERE, 0, b"user.x"),
        "file_setattr": calls("file_setattr", AT_FDCWD, NOWHERE, b"\0" * 24, 24, 0),
        "flags": of_project(lambda opened: fcntl.ioctl(opened, 0x40086602, struct.pack("L", 0))),
        "flags of 32 bits": of_project(lambda opened: fcntl.ioctl(opened, 0x40046602, struct.pack("I", 0))),
        "project number": of_project(lambda opened: fcntl.ioctl(opened, 0x401C5820, bytes(28))),
        "generation": of_project(lambda opened: fcntl.ioctl(opened, 0x40087602, struct.pack("L", 0))),
        "encryption": of_project(lambda opened: fcntl.ioctl(opened, 0x800C6613, bytes(12))),
        "utime": lambda plan: os.utime(f"{plan.outside}/secret"),
        "utime of link": lambda plan: os.utime(f"{plan.project}/file_link", follow_symlinks=False),
        "futimens": of_project(os.utime),
        "touch": runs("/usr/bin/touch", "{outside}/secret"),
        "write hint": of_project(lambda opened: call("fcntl", opened, 1036, struct.pack("=Q", 0))),
        "lease": of_project(lambda opened: call("fcntl", opened, 1024, fcntl.F_RDLCK)),
        "quota": calls("quotactl", 0x7FFFFFFF, NOWHERE, 0, None),
        "quota by descriptor": calls("quotactl_fd", -1, 0x7FFFFFFF, 0, None),
    },
    "attributes": {
        "getxattr": lambda plan: os.getxattr(f"{plan.outside}/secret", "user.there"),
        "lgetxattr": lambda plan: os.getxattr(f"{plan.outside}/secret", "user.there", follow_symlinks=False),
        "fgetxattr": of_project(lambda opened: os.getxattr(opened, "user.there")),
        "listxattr": lambda plan: os.listxattr(f"{plan.outside}/secret"),
        "llistxattr": lambda plan: os.listxattr(f"{plan.outside}/secret", follow_symlinks=False),
        "flistxattr": of_project(os.listxattr),
        "getxattrat": calls("getxattrat", AT_FDCWD, NOWHERE, 0, b"user.x", b"x" * 16, 16),
        "listxattrat": calls("listxattrat", AT_FDCWD, NOWHERE, 0, None, 0),
        "file_getattr": calls("file_getattr", AT_FDCWD, NOWHERE, b"\0" * 24, 24, 0),
        "flags": of_project(lambda opened: fcntl.ioctl(opened, 0x80086601, bytes(8))),
        "watch": watches("{outside}/secret"),
        "watch a folder": watches("{outside}"),
        "watch the project": watches("{project}/.git"),
        "told of changes": told_of_changes,
        "fanotify": calls("fanotify_init", 0x200, 0),
        "fanotify mark": calls("fanotify_mark", -1, 0, 0, AT_FDCWD, NOWHERE),
        "notify": lambda plan: call("fcntl", os.open(plan.project, os.O_RDONLY), 1026, 2),
    },
    "sockets": {
        "TCP": sends_to(socket.AF_INET, STREAM, lambda plan: ("127.0.0.1", plan.tcp)),
        "UDP": sends_to(socket.AF_INET, DATAGRAM, lambda plan: ("127.0.0.1", plan.udp)),
        "IPv6": sockets(socket.AF_INET6, STREAM),
        "UDP of IPv6": sockets(socket.AF_INET6, DATAGRAM),
        "Unix": sends_to(UNIX, STREAM, lambda plan: plan.stream),
        "Unix datagram": sends_to(UNIX, DATAGRAM, lambda plan: plan.datagram),
        "abstract": sends_to(UNIX, STREAM, lambda plan: "\0" + plan.abstract),
        "ping": sockets(socket.AF_INET, DATAGRAM, 1),
        "raw": sockets(socket.AF_INET, socket.SOCK_RAW, 1),
        "packets": sockets(17),
        "netlink": sockets(16),
        "routes": sockets(16, socket.SOCK_RAW, 0),
        "kernel crypto": sockets(38, socket.SOCK_SEQPACKET),
        "virtual machine": sockets(40, STREAM),
        "Bluetooth": sockets(31),
        "many paths": sockets(socket.AF_INET, STREAM, 262),
        "keys": sockets(15, socket.SOCK_RAW, 2),
        "pair of datagrams": lambda _: socket.socketpair(UNIX, DATAGRAM),
        "pair of TIPC": lambda _: socket.socketpair(30, STREAM),
        "raw pair": lambda _: socket.socketpair(UNIX, socket.SOCK_RAW),
        "pair connects": of_pair(lambda end, plan: end.connect(plan.stream)),
        "pair connects to datagrams": of_pair(lambda end, plan: end.connect(plan.datagram)),
        "pair binds": of_pair(lambda end, plan: end.bind(f"{plan.own}/bound")),
        "pair binds a name": of_pair(lambda end, plan: end.bind("\0name")),
        "pair listens": of_pair(lambda end, _: end.listen()),
        "pair accepts": of_pair(lambda end, _: call("accept4", end.fileno(), None, None, 0)),
        "shell": runs("/bin/bash", "-c", "echo > /dev/tcp/127.0.0.1/{tcp}"),
    },
    "environment": {
        "variables": unless(lambda plan: plan.token not in "".join(os.environ.values())),
        "own": unless(lambda plan: plan.token not in Path("/proc/self/environ").read_text()),
        "all processes": unless(environments),
        "caller": opens("/proc/{caller}/environ"),
        "supervisor": opens("/proc/{supervisor}/environ"),
        "thread": opens("/proc/{caller}/task/{caller}/environ"),
    },
    "descriptors": {
        "inherited": unless(lambda plan: not plan.descriptors),
        "caller's": opens("/proc/{caller}/fd/{opened}"),
        "caller's by name": follows("/proc/{caller}/fd/{opened}"),
        "details": opens("/proc/{caller}/fdinfo/{opened}"),
        "taken": calls("pidfd_getfd", -1, 0, 0),
        "supervisor's": opens("/proc/{supervisor}/fd/2", os.O_WRONLY),
        "mapped": lists("/proc/{caller}/map_files"),
    },
    "processes": {
        "kill": lambda plan: os.kill(plan.caller, 0),
        "kill supervisor": lambda plan: os.kill(plan.supervisor, 0),
        "kill group": lambda plan: os.kill(-os.getpgid(plan.caller), 0),
        "kill all": lambda _: os.kill(-1, 0),
        "tgkill": lambda plan: call("tgkill", plan.caller, plan.caller, 0),
        "tkill": with_caller("tkill", 0),
        "queued signal": with_caller("rt_sigqueueinfo", 0, struct.pack("=iii", 0, 0, -1) + bytes(116)),
        "queued to thread": lambda plan: call(
            "rt_tgsigqueueinfo", plan.caller, plan.caller, 0, struct.pack("=iii", 0, 0, -1) + bytes(116)
        ),
        "pidfd": with_caller("pidfd_open", 0),
        "signal by pidfd": calls("pidfd_send_signal", -1, 0, None, 0),
        "owner of a pipe": owned(8, lambda plan: plan.caller),
        "owner with kind": owned(15, lambda plan: struct.pack("=ii", 1, plan.caller)),
        "signal of a pipe": owned(10, lambda _: 9),
        "seize": seized,
        "trace me": calls("ptrace", 0, 0, 0, 0),
        "read memory": copied_memory("process_vm_readv"),
        "write memory": copied_memory("process_vm_writev"),
        "memory": opens("/proc/{caller}/mem"),
        "maps": opens("/proc/{caller}/maps"),
        "details of maps": opens("/proc/{caller}/smaps"),
        "page map": opens("/proc/{caller}/pagemap"),
        "auxiliary vector": opens("/proc/{caller}/auxv"),
        "call": opens("/proc/{caller}/syscall"),
        "stack": opens("/proc/{caller}/stack"),
        "amounts": opens("/proc/{caller}/io"),
        "folder": follows("/proc/{caller}/cwd"),
        "root": opens("/proc/{caller}/root/etc/hosts"),
        "program": follows("/proc/{caller}/exe"),
        "namespace": follows("/proc/{caller}/ns/ipc"),
        "compare": with_caller("kcmp", os.getpid(), 1, 0, 0),
        "advise": calls("process_madvise", -1, None, 0, 0, 0),
        "free memory": calls("process_mrelease", -1, 0),
        "move pages": with_caller("move_pages", 0, None, None, None, 0),
        "migrate pages": with_caller("migrate_pages", 8, bytes(8), bytes(8)),
        "locks of threads": with_caller("get_robust_list", bytes(8), bytes(8)),
        "count events": with_caller("perf_event_open", 0),
        "limits": with_caller("prlimit64", resource.RLIMIT_NOFILE, None, bytes(16)),
        "page faults": calls("userfaultfd", 0xFFF),
        "tracer": calls("prctl", 0x59616D61, -1),
        "own layout": calls("prctl", 35, 99, 0, 0, 0),
        "type into terminals": lambda _: fcntl.ioctl(0, 0x5412, b"x"),
        "console": lambda _: fcntl.ioctl(0, 0x541C, b"\x0f"),
        "join group": lambda plan: os.setpgid(0, os.getpgid(plan.caller)),
    },
    "priorities": {
        "process": lambda plan: os.setpriority(os.PRIO_PROCESS, plan.caller, os.getpriority(0, plan.caller)),
        "group": lambda plan: os.setpriority(os.PRIO_PGRP, os.getpgid(plan.caller), 0),
        "user": lambda _: os.setpriority(os.PRIO_USER, os.getuid(), 0),
        "own": lambda _: os.setpriority(os.PRIO_PROCESS, 0, -1),
        "idle": lambda plan: os.sched_setscheduler(plan.caller, os.SCHED_OTHER, os.sched_param(0)),
        "parameters": lambda plan: os.sched_setparam(plan.caller, os.sched_param(0)),
        "attributes": with_caller("sched_setattr", struct.pack("=IIQiIQQQ", 48, 0, 0, 0, 0, 0, 0, 0), 0),
        "processors": lambda plan: os.sched_setaffinity(plan.caller, os.sched_getaffinity(plan.caller)),
        "processors of the supervisor": lambda plan: os.sched_setaffinity(
            plan.supervisor, os.sched_getaffinity(plan.supervisor)
        ),
        "real time": lambda _: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
        "deadline": calls("sched_setattr", 0, struct.pack("=IIQiIQQQ", 48, 6, 0, 0, 0, 10**7, 10**8, 10**8), 0),
        "disk": lambda plan: call("ioprio_set", 1, plan.caller, 0x4004),
        "disk of all": lambda _: call("ioprio_set", 3, os.getuid(), 0x4004),
        "own disk": calls("ioprio_set", 1, 0, 0x4004),
        "limit of priority": limits(resource.RLIMIT_NICE, 40, 40),
        "limit of real time": limits(resource.RLIMIT_RTPRIO, 99, 99),
        "core": calls("prctl", 62, 1, 0, 0, 0),
        "session": opens("/proc/self/autogroup", os.O_WRONLY),
        "slack": opens("/proc/{caller}/timerslack_ns", os.O_WRONLY),
        "score": opens("/proc/{caller}/oom_score_adj", os.O_WRONLY),
        "everyone waits": calls("syncfs", 0),
    },
    "sharing": {
        "memory": shares("shmget", "shmctl", 4096, 0o1600),
        "memory of others": lambda plan: call("shmget", plan.key, 0, 0),
        "memory mapped": lambda plan: call("shmat", plan.memory, None, 0o10000),
        "memory told of": lambda plan: call("shmctl", plan.memory, 2, bytes(112)),
        "memory removed": calls("shmctl", -1, 0, None),
        "semaphores": shares("semget", "semctl", 1, 0o1600),
        "semaphore used": calls("semop", -1, bytes(6), 1),
        "semaphore awaited": calls("semtimedop", -1, bytes(6), 1, None),
        "semaphore told of": calls("semctl", -1, 0, 12, 0),
        "queue": shares("msgget", "msgctl", 0o1600),
        "queue written": calls("msgsnd", -1, struct.pack("l8s", 1, b"x"), 1, 0),
        "queue read": calls("msgrcv", -1, bytes(16), 1, 0, 0),
        "queue removed": calls("msgctl", -1, 0, None),
        "named queue": calls("mq_open", b"ci-eval-escape", os.O_RDWR, 0o600, None),
        "named queue removed": calls("mq_unlink", b"ci-eval-escape"),
        "named queue written": calls("mq_timedsend", -1, b"x", 1, 0, None),
        "named queue awaited": calls("mq_notify", -1, None),
        "named queue told of": calls("mq_getsetattr", -1, None, None),
        "named memory": opens("/dev/shm/ci-eval-escape", os.O_RDWR | os.O_CREAT),
        "key": calls("add_key", b"user", b"ci-eval", b"x", 1, -1),
        "key asked for": calls("request_key", b"user", b"ci-eval-none", None, 0),
        "key ring": calls("keyctl", 0, -3, 0),
    },
    "memory": {
        "unnamed file": calls("memfd_create", b"x", 0),
        "unnamed file of large pages": calls("memfd_create", b"x", 4),
        "secret": calls("memfd_secret", 0),
        "given to a pipe": lambda _: call("vmsplice", os.pipe()[1], None, 0, 0),
        "large pages": calls("mmap", 0, 2 << 20, 3, 0x40022, -1, 0),
        "asynchronous": calls("io_setup", 1, bytes(8)),
        "hidden from the supervisor": calls("prctl", 4, 0, 0, 0, 0),
        "shared without a name": calls("mmap", 0, 4096, 3, 0x21, -1, 0),
        "shared without a name, checked": calls("mmap", 0, 4096, 3, 0x23, -1, 0),
        "of the zero device": opens("/dev/zero"),
    },
    "privileges": {
        **{
            f"new namespace {flag:#x}": calls("unshare", flag)
            for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x8000000, 0x4000000, 0x2000000, 0x80, 0)
        },
        "user namespace by clone": lambda _: call("clone", 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0) or os._exit(0),
        "network by clone": lambda _: call("clone", 0x50000000 | signal.SIGCHLD, 0, 0, 0, 0) or os._exit(0),
        "clone3": calls("clone3", bytes(88), 0),
        "setns": lambda _: call("setns", os.open("/proc/self/ns/net", os.O_RDONLY), 0),
        "mount": calls("mount", NOWHERE, NOWHERE, b"tmpfs", 0, None),
        "umount": calls("umount2", NOWHERE, 0),
        "move_mount": calls("move_mount", -1, NOWHERE, -1, NOWHERE, 0),
        "open_tree": calls("open_tree", AT_FDCWD, b"/", 1),
        "fsopen": calls("fsopen", b"tmpfs", 0),
        "fsconfig": calls("fsconfig", -1, 6, None, None, 0),
        "fsmount": calls("fsmount", -1, 0, 0),
        "fspick": calls("fspick", AT_FDCWD, NOWHERE, 0),
        "mount_setattr": calls("mount_setattr", AT_FDCWD, NOWHERE, 0, bytes(32), 32),
        "statmount": calls("statmount", bytes(24), bytes(64), 64, 0),
        "pivot_root": calls("pivot_root", NOWHERE, NOWHERE),
        "chroot": calls("chroot", b"/"),
        "bpf": calls("bpf", 9999, bytes(8), 8),
        "init_module": calls("init_module", None, 0, b""),
        "finit_module": calls("finit_module", -1, b"", 0),
        "delete_module": calls("delete_module", b"ci-eval-none", 0),
        "kexec_load": calls("kexec_load", 0, 0, None, 0xFFFF),
        "kexec_file_load": calls("kexec_file_load", -1, -1, 0, None, 0xFFFF),
        "reboot": calls("reboot", 0, 0, 0, None),
        "swapon": calls("swapon", NOWHERE, 0),
        "swapoff": calls("swapoff", NOWHERE),
        "acct": calls("acct", NOWHERE),
        "syslog": calls("syslog", 10, None, 0),
        "time": calls("settimeofday", 1, None),
        "clock": calls("clock_settime", 99, None),
        "tuning of the clock": calls("adjtimex", struct.pack("=I", 0) + bytes(204)),
        "host's name": calls("sethostname", None, -1),
        "domain's name": calls("setdomainname", None, -1),
        "setuid": lambda _: call("setuid", os.getuid()),
        "setgid": lambda _: call("setgid", os.getgid()),
        "setreuid": calls("setreuid", -1, -1),
        "setresuid": calls("setresuid", -1, -1, -1),
        "setresgid": calls("setresgid", -1, -1, -1),
        "setfsuid": lambda _: call("setfsuid", os.getuid()),
        "setgroups": calls("setgroups", 0, None),
        "capset": calls("capset", struct.pack("=Ii", 0x20080522, 0), bytes(24)),
        "capabilities": lambda _: calls_with_capabilities(),
        "programs with privileges": unless(lambda _: "NoNewPrivs:\t1" in Path("/proc/self/status").read_text()),
        "device": lambda plan: os.mknod(f"{plan.own}/null", 0o020600, os.makedev(1, 3)),
        "disk": lambda plan: os.mknod(f"{plan.own}/disk", 0o060600, os.makedev(8, 0)),
        "executable pages": calls("personality", 0x400000),
        "filters": calls("seccomp", 0, 1, None),
        "landlock": calls("landlock_create_ruleset", None, 0, 1),
        "program by descriptor": calls("execveat", -1, b"", None, None, 0x1000),
        "hang up": calls("vhangup"),
    },
    "end": {
        "leave": parented(clone=False),
        "sibling": parented(clone=True),
        "leave the session": grouped(os.setsid),
        "leave the group": lambda _: os.setpgrp(),
        "survive the supervisor": calls("prctl", 1, 0, 0, 0, 0),
        "adopt": calls("prctl", 36, 1, 0, 0, 0),
        "limits of the supervisor": lambda plan: call(
            "prlimit64", plan.supervisor, resource.RLIMIT_CPU, None, bytes(16)
        ),
        "larger files": limits(resource.RLIMIT_FSIZE, 1 << 40, 1 << 40),
        "dump memory": limits(resource.RLIMIT_CORE, 1 << 20, 1 << 20),
    },
}  # fmt: skip
"""The key of a promise in SECURITY.md → tries to break it."""


def calls_with_capabilities() -> None:
    """Raise PermissionError unless this process holds a capability beside that to read others' files."""
    sets = Path("/proc/self/status").read_text().split("CapEff:\t")[1].split()[0]
    if not int(sets, 16) & ~(1 << 2):
        raise PermissionError(errno.EPERM, "none")


def outcome(attempt: Try, plan: Any) -> str:
    """Return what came of a try, in a process of its own."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(told)
        signal.alarm(SECONDS)
        text = "broken: nothing said"
        try:
            attempt(plan)
            text = "done"
        except OSError as error:
            text = errno.errorcode.get(error.errno or 0, str(error))
        except BaseException as error:
            text = f"broken: {error!r}"
        finally:
            os.write(tell, text.encode())
            os._exit(0)
    os.close(tell)
    said = b""
    while part := os.read(told, 1000):
        said += part
    os.close(told)
    _, status = os.waitpid(child, 0)
    return said.decode() if os.WIFEXITED(status) else f"signal {os.WTERMSIG(status)}"


def main() -> None:
    """Try everything."""
    plan = SimpleNamespace(
        **json.loads(Path(sys.argv[1]).read_text()),
        supervisor=os.getppid(),
        probe=os.getpid(),
        descriptors=descriptors(),
    )
    outcomes = {
        f"{promise}: {name}": outcome(attempt, plan)
        for promise, tries in TRIES.items()
        for name, attempt in tries.items()
    }
    print(json.dumps(outcomes), flush=True)


if __name__ == "__main__":
    main()
