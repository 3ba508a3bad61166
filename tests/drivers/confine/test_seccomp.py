"""What the filter lets through: computed for both architectures, and tried on this machine's."""

from __future__ import annotations

import errno
import platform
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from ci_eval.plugins.adapters.process import PACKAGE
from ci_eval.plugins.drivers.confine import calls, seccomp
from tests.drivers.confine.escaping import NUMBERS
from tests.needs import lack

CODE = """
import os, sys
sys.path.insert(0, {package!r})
from ci_eval.plugins.drivers.confine import calls, seccomp
import multiprocessing, shutil, socket, subprocess, tempfile, threading
calls.prctl(calls.NO_NEW_PRIVILEGES)
seccomp.restrict(truncate={truncate})
{attempt}
"""
MACHINES = sorted(seccomp.ARCHITECTURES)
COLUMNS = {machine: column for machine, (column, _) in seccomp.ARCHITECTURES.items()}
EPERM, ENOSYS = "EPERM", "ENOSYS"
HEADERS = {"x86_64": "x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "asm-generic/unistd.h"}


def outcome(machine: str, number: int, *arguments: int, architecture: int = 0, truncate: bool = False) -> str:
    """Return what the filter says of a call: `allow`, `kill` or the name of an error."""
    given = [*arguments, *[0] * (6 - len(arguments))]
    architecture = architecture or seccomp.ARCHITECTURES[machine][1]
    data = struct.pack("=IIQ6Q", number, architecture, 0, *[value & (2**64 - 1) for value in given])
    result = run(seccomp.program(machine, truncate=truncate), data)
    known = {seccomp.ALLOW: "allow", seccomp.KILL: "kill", seccomp.FAIL: "nothing"}
    return known.get(result) or errno.errorcode[result - seccomp.FAIL]


def run(program: list[seccomp.Instruction], data: bytes) -> int:
    """Return the result of a filter, by the rules of linux/filter.h."""
    place = value = 0
    while True:
        code, if_true, if_false, operand = program[place]
        place += 1
        match code:
            case 0x20:  # BPF_LD | BPF_W | BPF_ABS
                (value,) = struct.unpack_from("=I", data, operand)
            case 0x54:  # BPF_ALU | BPF_AND | BPF_K
                value &= operand
            case 0x05:  # BPF_JMP | BPF_JA
                place += operand
            case 0x15 | 0x35 | 0x45:  # BPF_JMP | BPF_JEQ, BPF_JGE, BPF_JSET | BPF_K
                tests = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}
                place += if_true if tests[code] else if_false
            case 0x06:  # BPF_RET | BPF_K
                return operand
            case _:
                raise AssertionError(f"no instruction of a filter: {code:#x}")


def of(machine: str, name: str) -> int:
    """Return the number of a checked call."""
    return calls.numbers(calls.CHECKED, COLUMNS[machine])[name]


@pytest.mark.parametrize("machine", MACHINES)
def test_listed_calls_are_allowed_and_no_others(machine: str) -> None:
    column = COLUMNS[machine]
    allowed = {number for group in calls.ALLOWED for number in calls.numbers(group, column).values()}
    pretended = {number for group in calls.PRETENDED for number in calls.numbers(group, column).values()}
    checked = set(calls.numbers(calls.CHECKED, column).values())
    assert not allowed & pretended
    assert not allowed & checked
    for number in set(range(600)) - checked:
        said = outcome(machine, number)
        if number in allowed:
            assert said == "allow", number
        elif number in pretended:
            assert said in (ENOSYS, "ENOENT", "EOPNOTSUPP", "ENOTSUP", "nothing"), number
        else:
            assert said == (EPERM if number < calls.NEWER else ENOSYS), number


@pytest.mark.parametrize("machine", MACHINES)
def test_the_calls_of_the_tries_are_refused_by_number(machine: str) -> None:
    """The numbers stand in the tests a second time, so that a slip in the list does not go unseen."""
    fine = {"openat2", "mincore", "sendto", "inotify_init1", "inotify_add_watch", *calls.numbers(calls.CHECKED, 0)}
    for name in NUMBERS.keys() - fine - {"io_setup", "tgkill", "tkill"}:
        assert outcome(machine, NUMBERS[name][COLUMNS[machine]]) in (EPERM, ENOSYS), name


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_those_of_the_kernel(machine: str) -> None:
    header = Path("/usr/include", HEADERS[machine])
    if not header.exists():
        lack("the kernel's headers are not installed")
    defined = re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)", header.read_text())
    numbers = {name.replace("fstatat", "newfstatat") if name == "fstatat" else name: int(of) for name, of in defined}
    groups = (*calls.ALLOWED, *calls.PRETENDED, calls.CHECKED)
    listed = {name: number for group in groups for name, number in calls.numbers(group, COLUMNS[machine]).items()}
    newest = max(numbers.values())
    assert {name: number for name, number in listed.items() if number <= newest} == {
        name: numbers[name] for name, number in listed.items() if number <= newest
    }


@pytest.mark.parametrize("machine", MACHINES)
def test_programs_for_another_architecture_are_killed_and_those_of_x32_find_no_calls(machine: str) -> None:
    assert outcome(machine, 4, architecture=0x40000003) == "kill"
    assert outcome(machine, 0x40000000) == ENOSYS


ARGUMENTS: dict[str, tuple[list[tuple[int, ...]], list[tuple[int, ...]]]] = {
    "clone": (
        [(0x3D0F00,), (0x01200011,), (0x4111,)],
        [(0x10000000,), (0x20000011,), (0x02000000,), (0x40000011,), (0x08000000,), (0x04000000,), (0x20000,)],
    ),
    "kill": ([(0, 9), (1, 9), (-5, 9)], [(-1, 9), (0xFFFFFFFF, 0)]),
    "mmap": ([(0, 4096, 3, 0x22), (0, 4096, 5, 0x2)], [(0, 2 << 20, 3, 0x40022)]),
    "prctl": ([(15, 7), (38, 1), (0x53564D41, 0)], [(1, 0), (4, 0), (22, 2), (35, 8), (36, 1), (62, 1)]),
    "ioctl": (
        [(1, 0x5401), (0, 0x5421), (3, 0x5451), (3, 0x541B)],
        [(3, 0x40086602), (3, 0x40046602), (3, 0x401C5820), (0, 0x5412), (3, 0x80086601)],
    ),
    "fcntl": ([(3, 1), (3, 4, 0x800), (3, 6), (3, 1030, 3)], [(3, 8), (3, 10), (3, 15), (3, 1024), (3, 1026)]),
    "socketpair": (
        [(1, 1), (1, 0x80001), (1, 0x80805), (1, 5)],
        [(1, 2), (1, 0x80002), (1, 3), (2, 1), (30, 1), (30, 5), (1, 0)],
    ),
    "mknodat": ([(-100, 0, 0o010600)], [(-100, 0, 0o020600), (-100, 0, 0o060600), (-100, 0, 0o100600)]),
    "prlimit64": ([(0, 7)], [(1, 7), (4711, 7)]),
    "sched_setaffinity": ([(0, 8)], [(1, 8), (4711, 8)]),
    "sched_setscheduler": ([(0, 3)], [(4711, 5)]),
    "sched_setparam": ([(0,)], [(4711,)]),
    "sched_setattr": ([(0,)], [(4711,)]),
    "truncate": ([(0, 0)], []),
}  # fmt: skip
"""Call → arguments with which it is allowed, and with which it is refused."""


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ARGUMENTS)
def test_the_arguments_decide(machine: str, name: str) -> None:
    allowed, refused = ARGUMENTS[name]
    assert {arguments: outcome(machine, of(machine, name), *arguments) for arguments in allowed + refused} == {
        **dict.fromkeys(allowed, "allow"),
        **dict.fromkeys(refused, EPERM),
    }


def test_all_checked_calls_are_tried() -> None:
    assert set(calls.numbers(calls.CHECKED, 0)) - {"mknod"} == set(ARGUMENTS)
    assert outcome("x86_64", of("x86_64", "mknod"), 0, 0o010600) == "allow"
    assert outcome("x86_64", of("x86_64", "mknod"), 0, 0o020600) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_files_are_cut_unless_landlock_cannot_forbid_it(machine: str) -> None:
    assert outcome(machine, of(machine, "truncate"), truncate=True) == EPERM


def tried(tmp_path: Path, attempt: str, *, truncate: bool = False) -> str:
    """Return the error of a Python under the filter: "" where nothing failed."""
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        lack("there is no filter for this machine")
    (tmp_path / "file").write_text("abc")
    code = CODE.format(package=str(PACKAGE), truncate=truncate, attempt=attempt)
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    return ended.stderr.strip().rpartition("\n")[2].partition(":")[0]


@pytest.mark.parametrize(
    "attempt",
    ["socket.socket()", "os.chmod('file', 0o777)", "os.chown('file', 0, 0)", "os.setxattr('file', 'user.a', b'b')"],
)
def test_what_leads_outside_is_refused(tmp_path: Path, attempt: str) -> None:
    assert tried(tmp_path, attempt) == "PermissionError"


def test_files_processes_and_threads_are_as_before(tmp_path: Path) -> None:
    attempts = [
        "open('new', 'w').close(); os.truncate('file', 1); os.mkfifo('pipe'); shutil.copyfile('file', 'copy')",
        "threading.Thread(target=print).start(); assert os.system('true') == 0; os.sched_setaffinity(0, {0})",
        "assert subprocess.run(['ls', '-la'], capture_output=True).returncode == 0; tempfile.mkdtemp(dir='.')",
        "one, other = socket.socketpair(); one.sendall(b'x'); assert other.recv(1) == b'x'",
    ]
    assert tried(tmp_path, "\n".join(attempts)) == ""


def test_who_asks_to_be_told_of_changes_is_not_told(tmp_path: Path) -> None:
    attempt = """
import ctypes
library = ctypes.CDLL(None)
notifier = library.inotify_init1(os.O_NONBLOCK)
assert notifier > 0 and library.inotify_add_watch(notifier, b".", 0xFFF) == 0
open("new", "w").close()
assert library.inotify_rm_watch(notifier, 0) == 0
os.read(notifier, 1000)
"""
    assert tried(tmp_path, attempt) == "BlockingIOError"


def test_what_touches_a_file_makes_it(tmp_path: Path) -> None:
    assert tried(tmp_path, "import pathlib; pathlib.Path('touched').touch(); assert os.path.exists('touched')") == ""
