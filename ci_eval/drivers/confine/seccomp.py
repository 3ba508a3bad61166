"""A seccomp filter: no sockets, no namespaces, no looking into other processes, no changed rights of files, no shared
memory or queues of the system, no memory that belongs to no process, and no priorities but one's own.

It closes what Landlock leaves open: UDP, Unix sockets that have a path, and the owners and rights of files.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

from ci_eval.drivers.confine.kernel import SECCOMP, prctl

NONE = -1
# Name → number on x86-64 and on AArch64 (NONE: does not exist there), from the kernel's tables of system calls.
REFUSED: dict[str, tuple[int, int]] = {
    "socket": (41, 198),
    "unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51), "pivot_root": (155, 41),
    "mount": (165, 40), "umount2": (166, 39), "move_mount": (429, 429), "open_tree": (428, 428),
    "fsopen": (430, 430), "fsmount": (432, 432), "fsconfig": (431, 431), "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438),
    "kcmp": (312, 272), "process_madvise": (440, 440),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "fanotify_init": (300, 262),
    "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142), "quotactl": (179, 60), "syslog": (103, 116),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "fchmod": (91, 52), "fchown": (93, 55), "fsetxattr": (190, 7), "fremovexattr": (199, 16),
    "file_setattr": (469, 469),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
    "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181),
    "setpriority": (141, 140), "ioprio_set": (251, 30),
    "chmod": (90, NONE), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, NONE), "lchown": (94, NONE), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "removexattrat": (466, 466),
}  # fmt: skip
# These fail as on an older kernel. Programs then fall back to calls whose arguments a filter can check.
UNKNOWN = {
    "clone3": (435, 435), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
}  # fmt: skip
TRUNCATE, CLONE, LIMIT = (76, 45), (56, 220), (302, 261)
# Allowed on the caller itself (0) alone: an engine must not slow ci-eval, or the other engine of a comparison.
OF_PROCESSES = {"sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274)}
AFFINITY = (203, 122)
IOCTL = (16, 29)
FILE_FLAGS = (0x40086602, 0x40046602, 0x401C5820)
"""FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS and FS_IOC_FSSETXATTR, which change a file that was opened for reading."""
NEW_NAMESPACES = 0x7E020000
ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
X32 = 0x40000000

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24
"""Their offsets in the kernel's struct seccomp_data."""
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000


def restrict(*, truncate: bool) -> None:
    """From now on the calls in REFUSED fail; `truncate`: so does that one, which Landlock forbids only since version 3.

    Raises OSError.
    """
    machine = os.uname().machine
    if machine not in ARCHITECTURES or sys.maxsize < 2**32:
        raise OSError(errno.ENOSYS, f"no table of system calls for {machine}")
    code = b"".join(struct.pack("=HBBI", *each) for each in _filter(*ARCHITECTURES[machine], truncate))
    filters = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("@HP", len(code) // 8, ctypes.addressof(filters)))
    prctl(SECCOMP, 2, ctypes.byref(program))


Instruction = tuple[int, int, int, int]
"""Of the kernel's filter language (BPF): the operation, how many instructions to skip if it is true and if it is false,
and its operand."""


def _filter(column: int, architecture: int, truncate: bool) -> list[Instruction]:
    code = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
    ]
    if column == 0:
        code += _refuse(AT_LEAST, X32, errno.ENOSYS)
    for numbers in [*REFUSED.values(), *([TRUNCATE] if truncate else [])]:
        if (number := numbers[column]) != NONE:
            code += _refuse(EQUAL, number, errno.EPERM)
    for numbers in UNKNOWN.values():
        code += _refuse(EQUAL, numbers[column], errno.ENOSYS)
    # `clone` is allowed without new namespaces, and `prlimit64` on the process itself (0).
    code += _look(CLONE[column], (ANY_BIT, 0, 1, NEW_NAMESPACES))
    for numbers in (LIMIT, AFFINITY, *OF_PROCESSES.values()):
        code += _look(numbers[column], (EQUAL, 1, 0, 0))
    tests = [(EQUAL, len(FILE_FLAGS) - 1 - place, 0, flags) for place, flags in enumerate(FILE_FLAGS[:-1])]
    code += [
        (EQUAL, 0, len(FILE_FLAGS) + 3, IOCTL[column]),
        (LOAD, 0, 0, SECOND_ARGUMENT),
        *tests,
        (EQUAL, 0, 1, FILE_FLAGS[-1]),
        (RETURN, 0, 0, FAIL | errno.EPERM),
        (RETURN, 0, 0, ALLOW),
    ]
    return [*code, (RETURN, 0, 0, ALLOW)]


def _refuse(how: int, number: int, error: int) -> list[Instruction]:
    return [(how, 0, 1, number), (RETURN, 0, 0, FAIL | error)]


def _look(number: int, test: Instruction) -> list[Instruction]:
    """Refuse the call where the test of its first argument does not jump over the refusal."""
    return [
        (EQUAL, 0, 4, number),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        test,
        (RETURN, 0, 0, FAIL | errno.EPERM),
        (RETURN, 0, 0, ALLOW),
    ]
