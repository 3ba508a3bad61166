"""A language server that turns on its user: hostile_server.py PLAN. What it suggests is what it could do.

PLAN: JSON with `root` (the project), `outside` (a folder with the files secret, cut, opened, gone), `tcp` and `udp`
(ports of servers on this machine), `unix` and `abstract` (names of sockets), `caller` (a process). An attempt that
works is suggested as NAME_done, else as NAME_refused.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import socket
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PLAN = json.loads(Path(sys.argv[1]).read_text())
OUTSIDE = Path(PLAN["outside"])
OWN = Path(os.environ["TMPDIR"])
ROOT = Path(PLAN["root"])
SECRET = OUTSIDE / "secret"


def read() -> Any:
    length = 0
    while (line := sys.stdin.buffer.readline().strip()) or not length:
        if not line and not length:
            sys.exit(0)
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length))


def send(**message: Any) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


def say(family: int, kind: int, address: Any) -> None:
    with socket.socket(family, kind) as talking:
        talking.connect(address)
        talking.send(b"stolen")


def through_a_link() -> None:
    (OWN / "link").symlink_to(SECRET)
    (OWN / "link").read_text()


def move_out() -> None:
    (OWN / "thing").write_text("x")
    (OWN / "thing").rename(OUTSIDE / "moved")


def trace_parent() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(0x4206, os.getppid(), 0, 0):  # PTRACE_SEIZE
        raise PermissionError
    libc.ptrace(17, os.getppid(), 0, 0)  # PTRACE_DETACH


def token() -> None:
    if not os.environ.get("CI_TOKEN") and "CI_TOKEN" not in Path("/proc/self/environ").read_text():
        raise PermissionError


def others_files() -> None:
    # The one through which the folder was listed is closed again. Some systems' libffi keeps its own file open.
    links = [each for each in list(Path("/proc/self/fd").iterdir()) if int(each.name) > 2 and each.exists()]
    if not [link for link in links if "libffi" not in str(link.readlink())]:
        raise PermissionError


def opened_for_reading(change: Callable[[int], object]) -> None:
    place = os.open(ROOT / "a.py", os.O_RDONLY)
    try:
        change(place)
    finally:
        os.close(place)


def flags(place: int) -> None:
    """Make a file immutable, and no longer, so that pytest can remove it."""
    for flag in (0x10, 0):  # FS_IMMUTABLE_FL
        fcntl.ioctl(place, 0x40086602, struct.pack("L", flag))  # FS_IOC_SETFLAGS


LIBC = ctypes.CDLL(None, use_errno=True)


def called(name: str, *arguments: object) -> int:
    """Call a function of the C library, and return its result; raise OSError if it fails."""
    if (result := int(getattr(LIBC, name)(*arguments))) < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def shared(get: str, control: str, *arguments: object) -> None:
    """Make an object of System V, and remove it: it would outlive the process."""
    called(control, called(get, 0, *arguments), 0, *([0] if control == "semctl" else [None]))


def datagram_pair() -> None:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.close()
    other.close()


def news() -> None:
    """Ask to be told of changes outside; 0 is no answer of the kernel's."""
    notifier = LIBC.inotify_init1(0)
    answer = LIBC.inotify_add_watch(notifier, str(SECRET).encode(), 2)
    os.close(notifier)
    if answer < 1:
        raise PermissionError


def queue() -> None:
    """Open a POSIX queue; the C library of some systems has that in a library of its own."""
    library = ctypes.CDLL("librt.so.1", use_errno=True)
    if library.mq_open(b"/ci-eval-test", os.O_RDWR | os.O_CREAT, 0o600, None) < 0:
        raise OSError(ctypes.get_errno(), "mq_open")
    library.mq_unlink(b"/ci-eval-test")


ATTEMPTS: dict[str, Callable[[], object]] = {
    "own": lambda: (OWN / "a").write_text("allowed"),
    "project": lambda: (ROOT / "a.py").read_text(),
    "read": SECRET.read_text,
    "list": lambda: list(OUTSIDE.iterdir()),
    "link": through_a_link,
    "write": lambda: (OUTSIDE / "written").write_text("x"),
    "change": lambda: SECRET.open("a").close(),
    "cut": lambda: os.truncate(OUTSIDE / "cut", 0),
    "open_up": lambda: (OUTSIDE / "opened").chmod(0o777),
    "remove": (OUTSIDE / "gone").unlink,
    "move": move_out,
    "hard_link": lambda: os.link(SECRET, OWN / "hard"),
    "change_project": lambda: (ROOT / "new.py").write_text("x"),
    "git": (ROOT / ".git" / "config").read_text,
    "tcp": lambda: say(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", PLAN["tcp"])),
    "udp": lambda: say(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", PLAN["udp"])),
    "unix": lambda: say(socket.AF_UNIX, socket.SOCK_STREAM, PLAN["unix"]),
    "abstract": lambda: say(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + PLAN["abstract"]),
    "signal": lambda: os.kill(PLAN["caller"], 0),
    "environ": lambda: Path(f"/proc/{PLAN['caller']}/environ").read_bytes(),
    "memory": lambda: os.close(os.open(f"/proc/{PLAN['caller']}/mem", os.O_RDONLY)),
    "trace": trace_parent,
    "limit": lambda: resource.prlimit(PLAN["caller"], resource.RLIMIT_NOFILE),
    "folder_behind_link": lambda: list((ROOT / "folder_link").iterdir()),
    "file_behind_link": (ROOT / "folder_link" / "secret").read_text,
    "file_link": (ROOT / "file_link").read_text,
    "link_to_git": (ROOT / "git_link" / "config").read_text,
    "open_up_project": lambda: opened_for_reading(lambda place: os.fchmod(place, 0o777)),
    "own_project": lambda: opened_for_reading(lambda place: os.fchown(place, os.getuid(), os.getgid())),
    "attributes": lambda: opened_for_reading(lambda place: os.setxattr(place, "user.x", b"x")),
    "no_attributes": lambda: opened_for_reading(lambda place: os.removexattr(place, "user.there")),
    "file_flags": lambda: opened_for_reading(flags),
    "shared_memory": lambda: shared("shmget", "shmctl", 4096, 0o1600),
    "semaphores": lambda: shared("semget", "semctl", 1, 0o1600),
    "queues": lambda: shared("msgget", "msgctl", 0o1600),
    "posix_queues": queue,
    "slow_down": lambda: os.setpriority(os.PRIO_PROCESS, PLAN["caller"], os.getpriority(0, PLAN["caller"])),
    "slow_down_all": lambda: os.setpriority(os.PRIO_USER, 0, os.getpriority(0, 0)),
    "idle": lambda: os.sched_setscheduler(PLAN["caller"], os.SCHED_OTHER, os.sched_param(0)),
    "one_processor": lambda: os.sched_setaffinity(PLAN["caller"], os.sched_getaffinity(PLAN["caller"])),
    "nobodys_memory": lambda: os.close(os.memfd_create("x")),
    "dates": lambda: os.utime(SECRET),
    "attribute_names": lambda: os.listxattr(SECRET),
    "news": news,
    "datagrams_of_a_pair": datagram_pair,
    "namespace": lambda: called("unshare", 0),
    "token": token,
    "descriptors": others_files,
}


def flee() -> str:
    """Start a process that nothing seems to hold any more; its number."""
    receiving, telling = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(telling, b"%d" % os.getpid())
            os.closerange(0, 100)
            time.sleep(600)
        os._exit(0)
    return f"pid{os.read(receiving, 20).decode()}"


def tried(name: str, attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError:
        return f"{name}_refused"
    return f"{name}_done"


while True:
    message = read()
    match message["method"]:
        case "initialize":
            send(id=message["id"], result={"capabilities": {"textDocumentSync": 1, "completionProvider": {}}})
        case "textDocument/completion":
            labels = [tried(*each) for each in ATTEMPTS.items()]
            send(id=message["id"], result=[{"label": label} for label in [*labels, flee()]])
        case "shutdown":
            send(id=message["id"], result=None)
        case "exit":
            sys.exit(0)
        case _:
            continue
