"""The system calls that the standard library does not offer."""

from __future__ import annotations

import ctypes
import os

_LIBRARY = ctypes.CDLL(None, use_errno=True)
# ctypes takes a result for an int, and would cut it to 32 bits.
_LIBRARY.syscall.restype = ctypes.c_long

NO_NEW_PRIVILEGES, DEATH_SIGNAL, ASK_DEATH_SIGNAL, SUBREAPER, SECCOMP, DROP_FROM_BOUNDING = 38, 1, 2, 36, 22, 24
"""The options PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_SECCOMP and
PR_CAPBSET_DROP of linux/prctl.h."""


def syscall(number: int, *arguments: object) -> int:
    """Make the system call of that number, and return its result. Raises OSError."""
    result = int(_LIBRARY.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise _error()
    return result


def prctl(option: int, value: object = 1, more: object = 0) -> None:
    """Set an option of this process; see `man 2 prctl`. Raises OSError."""
    # The kernel refuses PR_SET_NO_NEW_PRIVS unless all of its unused arguments, unsigned longs, are 0.
    arguments = [
        ctypes.c_ulong(argument) if isinstance(argument, int) else argument for argument in (value, more, 0, 0)
    ]
    if _LIBRARY.prctl(ctypes.c_int(option), *arguments):
        raise _error()


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
