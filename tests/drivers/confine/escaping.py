"""Ways to try to break out of the sandbox; `escapes.py` says which are tried, and why.

They use the standard library alone, since the Python that runs them may be the system's. They have no lasting effect
where they succeed: they set what is set already, or have arguments that the kernel refuses after it has looked whether
the call is permitted.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Try = Callable[[Any], object]
"""It is given the plan (see `staging.py`), and raises OSError where it is refused."""

NUMBERS = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "tgkill": (234, 131),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "process_madvise": (440, 440),
    "process_mrelease": (448, 448), "move_pages": (279, 239), "migrate_pages": (256, 238), "mincore": (27, 232),
    "get_robust_list": (274, 100), "prlimit64": (302, 261), "perf_event_open": (298, 241), "prctl": (157, 167),
    "userfaultfd": (323, 282), "unshare": (272, 97), "setns": (308, 268), "clone": (56, 220), "clone3": (435, 435),
    "mount": (165, 40), "umount2": (166, 39), "move_mount": (429, 429), "open_tree": (428, 428), "fsopen": (430, 430),
    "fsmount": (432, 432), "fsconfig": (431, 431), "fspick": (433, 433), "mount_setattr": (442, 442),
    "pivot_root": (155, 41), "chroot": (161, 51), "bpf": (321, 280), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "syslog": (103, 116),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "sethostname": (170, 161), "setdomainname": (171, 162),
    "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145), "setresuid": (117, 147),
    "setresgid": (119, 149), "setfsuid": (122, 151), "setgroups": (116, 159), "capset": (126, 91),
    "personality": (135, 92), "seccomp": (317, 277), "landlock_create_ruleset": (444, 444), "execveat": (322, 281),
    "vhangup": (153, 58), "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190),
    "semop": (65, 193), "semtimedop": (220, 192), "semctl": (66, 191), "msgget": (68, 186), "msgsnd": (69, 189),
    "msgrcv": (70, 188), "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181), "mq_notify": (244, 184),
    "mq_timedsend": (242, 182), "mq_getsetattr": (245, 185), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "memfd_create": (319, 279), "memfd_secret": (447, 447), "vmsplice": (278, 75),
    "mlockall": (151, 230), "io_setup": (206, 0), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "mmap": (9, 222), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262), "fanotify_mark": (301, 263), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "getxattrat": (464, 464), "listxattrat": (465, 465), "setxattrat": (463, 463),
    "removexattrat": (466, 466), "file_getattr": (468, 468), "file_setattr": (469, 469), "fchmodat2": (452, 452),
    "openat2": (437, 437), "statmount": (457, 457), "listmount": (458, 458), "setpriority": (141, 140),
    "sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274),
    "ioprio_set": (251, 30), "ioprio_get": (252, 31), "syncfs": (306, 267), "sync": (162, 81), "fcntl": (72, 25),
    "sendto": (44, 206), "bind": (49, 200), "listen": (50, 201), "accept4": (288, 242), "connect": (42, 203),
}  # fmt: skip
COLUMN = 0 if os.uname().machine == "x86_64" else 1
LIBC = ctypes.CDLL(None, use_errno=True)
NOWHERE = b"/nowhere/at/all"
AT_FDCWD = -100


def call(name: str, *arguments: object) -> int:
    """Make a system call; raise OSError if it fails."""
    typed = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result: int = LIBC.syscall(ctypes.c_long(NUMBERS[name][COLUMN]), *typed)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def calls(name: str, *arguments: object) -> Try:
    """Return a try that makes one system call."""
    return lambda _: call(name, *arguments)


def shares(get: str, control: str, *arguments: object) -> Try:
    """Return a try that makes an object of System V, and removes it: it would outlive the process."""
    removal = (0, 0, None) if control == "semctl" else (0, None)
    return lambda _: call(control, call(get, 0, *arguments), *removal)


def runs(*command: str) -> Try:
    """Return a try that starts a program of the system, in which {} stands for what is in the plan."""

    def attempt(plan: Any) -> None:
        words = [word.format(**vars(plan)) for word in command]
        if subprocess.run(words, capture_output=True, check=False).returncode:
            raise PermissionError(errno.EPERM, "it failed")

    return attempt


def opens(path: str, flags: int = os.O_RDONLY) -> Try:
    """Return a try that opens a path, in which {} stands for what is in the plan, and reads, or writes nothing."""

    def attempt(plan: Any) -> None:
        descriptor = os.open(path.format(**vars(plan)), flags, 0o600)
        if not flags & (os.O_WRONLY | os.O_RDWR | os.O_PATH | os.O_DIRECTORY):
            os.read(descriptor, 1)

    return attempt


def lists(path: str) -> Try:
    """Return a try that lists a folder."""
    return lambda plan: os.listdir(path.format(**vars(plan)))


def follows(path: str) -> Try:
    """Return a try that asks where a link of the kernel's leads."""
    return lambda plan: os.readlink(path.format(**vars(plan)))


def of_project(change: Callable[[int], object]) -> Try:
    """Return a try that changes a file of the project which it opened for reading."""
    return lambda plan: change(os.open(f"{plan.project}/a.py", os.O_RDONLY))


def of_pair(use: Callable[[socket.socket, Any], object]) -> Try:
    """Return a try that uses one of a pair of connected sockets."""

    def attempt(plan: Any) -> None:
        one, other = socket.socketpair()
        with one, other:
            use(one, plan)

    return attempt


def unless(condition: Callable[[Any], bool]) -> Try:
    """Return a try that is refused if the condition holds."""

    def attempt(plan: Any) -> None:
        if condition(plan):
            raise PermissionError(errno.EPERM, "nothing there")

    return attempt


def through_descriptor(flags: int) -> Try:
    """Return a try that opens a descriptor again, which names a file only."""

    def attempt(plan: Any) -> None:
        named = os.open(f"{plan.outside}/secret", os.O_PATH)
        os.close(os.open(f"/proc/self/fd/{named}", flags))

    return attempt


def from_thread(plan: Any) -> None:
    """Read from another thread."""
    raised: list[OSError] = []

    def read() -> None:
        try:
            Path(plan.outside, "secret").read_text()
        except OSError as error:
            raised.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


def below_folder(plan: Any, folder: str, name: str) -> None:
    """Read relative to a folder that was only named."""
    named = os.open(f"{vars(plan)[folder]}", os.O_PATH | os.O_DIRECTORY)
    os.close(os.open(name, os.O_RDONLY, dir_fd=named))


def from_within(folder: str, name: str) -> Try:
    """Return a try that goes into a folder and reads a file there."""

    def attempt(plan: Any) -> None:
        os.chdir(folder.format(**vars(plan)))
        os.close(os.open(name, os.O_RDONLY))

    return attempt


def by_openat2(plan: Any) -> None:
    """Open with the call that has a structure instead of flags."""
    how = struct.pack("=QQQ", os.O_RDONLY, 0, 0)
    call("openat2", AT_FDCWD, f"{plan.outside}/secret".encode(), how, len(how))


def linked(plan: Any, target: str, name: str) -> str:
    """Return a new link in the own folder."""
    link = f"{plan.own}/{name}"
    os.symlink(target, link)
    return link


def by_handle(plan: Any) -> None:
    """Open a file by the number that its file system gives it."""
    handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    call("name_to_handle_at", AT_FDCWD, f"{plan.outside}/secret".encode(), handle, ctypes.byref(mount), 0)


def exchanged(plan: Any) -> None:
    """Exchange an own file with one outside (RENAME_EXCHANGE)."""
    Path(plan.own, "mine").write_text("x")
    if LIBC.renameat2(AT_FDCWD, f"{plan.own}/mine".encode(), AT_FDCWD, f"{plan.outside}/exchanged".encode(), 2):
        raise OSError(ctypes.get_errno(), "renameat2")


def moved_out(plan: Any) -> None:
    """Move an own file out."""
    Path(plan.own, "thing").write_text("x")
    os.rename(f"{plan.own}/thing", f"{plan.outside}/moved-out")


def linked_out(plan: Any) -> None:
    """Give an own file a second name outside."""
    Path(plan.own, "twin").write_text("x")
    os.link(f"{plan.own}/twin", f"{plan.outside}/twin")


def linked_by_descriptor(plan: Any) -> None:
    """Give an open file of the project a name in the own folder (AT_EMPTY_PATH), where it could be written to."""
    source = os.open(f"{plan.project}/a.py", os.O_RDONLY)
    if LIBC.linkat(source, b"", AT_FDCWD, f"{plan.own}/copy".encode(), 0x1000):
        raise OSError(ctypes.get_errno(), "linkat")


def watches(path: str) -> Try:
    """Return a try that asks to be told of changes; the filter answers with 0, which the kernel never does."""

    def attempt(plan: Any) -> None:
        notifier = call("inotify_init1", 0)
        if not call("inotify_add_watch", notifier, path.format(**vars(plan)).encode(), 2):
            raise PermissionError(errno.EPERM, "not told")

    return attempt


def told_of_changes(plan: Any) -> None:
    """Change a file, and be told of it."""
    notifier = call("inotify_init1", os.O_NONBLOCK)
    changed = Path(plan.own, "changed")
    changed.write_text("x")
    call("inotify_add_watch", notifier, str(changed).encode(), 2)
    changed.write_text("y")
    try:
        os.read(notifier, 1000)
    except BlockingIOError as error:
        raise PermissionError(errno.EPERM, "not told") from error


def environments(plan: Any) -> bool:
    """Return whether no process shows the job's token."""
    return not any(plan.token.encode() in content(path) for path in Path("/proc").glob("[0-9]*/environ"))


def content(path: Path) -> bytes:
    """Return what can be read there."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def descriptors() -> list[int]:
    """Return what is open beside the standard streams, and beside the file that some systems' libffi keeps open."""
    links = {descriptor: Path(f"/proc/self/fd/{descriptor}") for descriptor in range(3, 1024)}
    return [number for number, link in links.items() if link.exists() and "libffi" not in str(link.readlink())]


def seized(plan: Any) -> None:
    """Trace a process outside, and let it go again."""
    call("ptrace", 0x4206, plan.caller, 0, 0)  # PTRACE_SEIZE
    call("ptrace", 17, plan.caller, 0, 0)  # PTRACE_DETACH


def copied_memory(name: str) -> Try:
    """Return a try that copies no memory between this process and one outside."""
    return lambda plan: call(name, plan.caller, None, 0, None, 0, 0)


def with_caller(name: str, *arguments: object) -> Try:
    """Return a try with the id of a process outside as the first argument of a call."""
    return lambda plan: call(name, plan.caller, *arguments)


def owned(command: int, value: Callable[[Any], object]) -> Try:
    """Return a try that has signals of a pipe sent to a process outside."""

    def attempt(plan: Any) -> None:
        call("fcntl", os.pipe()[0], command, value(plan))

    return attempt


def parented(clone: bool) -> Try:
    """Return a try that is refused if a process that left its parent is the supervisor's."""

    def attempt(plan: Any) -> None:
        allowed, allow = os.pipe()
        told, tell = os.pipe()
        middle = call("clone", 0x8000 | signal.SIGCHLD, 0, 0, 0, 0) if clone else os.fork()  # CLONE_PARENT
        if not middle:
            if clone or not os.fork():
                os.setsid()
                os.read(allowed, 1)
                os.write(tell, b"%d" % os.getppid())
            os._exit(0)
        if not clone:
            os.waitpid(middle, 0)
        os.write(allow, b".")
        parent = int(os.read(told, 20))
        if parent in (plan.supervisor, plan.probe):
            raise PermissionError(errno.EPERM, "it is watched")

    return attempt


def grouped(leave: Callable[[], object]) -> Try:
    """Return a try that is refused if a process that leaves its group is in it still."""

    def attempt(_: Any) -> None:
        told, tell = os.pipe()
        if not os.fork():
            leave()
            os.write(tell, b"%d" % os.getpgrp())
            os._exit(0)
        if int(os.read(told, 20)) == os.getpgrp():
            raise PermissionError(errno.EPERM, "it is still in the group")

    return attempt


def sends_to(family: int, kind: int, address: Callable[[Any], Any]) -> Try:
    """Return a try that connects a socket and sends something."""

    def attempt(plan: Any) -> None:
        with socket.socket(family, kind) as talking:
            talking.connect(address(plan))
            talking.send(b"stolen")

    return attempt


def sockets(family: int, kind: int = socket.SOCK_RAW, protocol: int = 0) -> Try:
    """Return a try that makes a socket."""
    return lambda _: socket.socket(family, kind, protocol).close()


def limits(which: int, *values: int) -> Try:
    """Return a try that sets a limit of its own process to (soft, hard)."""
    return lambda _: call("prlimit64", 0, which, struct.pack("=QQ", *values), None)
