"""The system calls that a confined program may make, and functions for two calls that Python lacks.

All other calls are refused. The list was recorded with strace from all verified engines on glibc, and completed by hand
with the calls that glibc and musl use for the same purposes. After a call's name come its numbers on x86-64 and AArch64
(`-`: no such call), from arch/x86/entry/syscalls/syscall_64.tbl and scripts/syscall.tbl of Linux 6.11.
"""

from __future__ import annotations

import ctypes
import errno
import os

# Landlock checks the paths, and an open file allows only the access for which it was opened. Missing on purpose: sync
# and syncfs, for which the whole machine waits, chroot, and the kernel's asynchronous I/O (io_setup).
FILES = """
    open 2 -, openat 257 56, openat2 437 437, creat 85 -, close 3 57, close_range 436 436, read 0 63, write 1 64,
    pread64 17 67, pwrite64 18 68, readv 19 65, writev 20 66, preadv 295 69, pwritev 296 70, preadv2 327 286,
    pwritev2 328 287, lseek 8 62, sendfile 40 71, copy_file_range 326 285, splice 275 76, tee 276 77,
    fadvise64 221 223, readahead 187 213, fallocate 285 47, ftruncate 77 46, fsync 74 82, fdatasync 75 83,
    sync_file_range 277 84, flock 73 32, dup 32 23, dup2 33 -, dup3 292 24, pipe 22 -, pipe2 293 59, umask 95 166
"""
# Landlock checks the calls that change something. Calls that only ask (stat, access, readlink) work for every path,
# since a seccomp filter does not see paths.
PATHS = """
    stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, statx 332 291, statfs 137 43, fstatfs 138 44, access 21 -,
    faccessat 269 48, faccessat2 439 439, readlink 89 -, readlinkat 267 78, getdents 78 -, getdents64 217 61,
    getcwd 79 17, chdir 80 49, fchdir 81 50, mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35,
    rename 82 -, renameat 264 38, renameat2 316 276, link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36
"""
# Calls for the memory of the process. Missing on purpose: calls that take the id of another process (move_pages,
# migrate_pages, process_madvise), calls for memory that belongs to no process (vmsplice; memfd below), and userfaultfd.
MEMORY = """
    brk 12 214, munmap 11 215, mremap 25 216, mprotect 10 226, madvise 28 233, mincore 27 232,
    msync 26 227, mlock 149 228, mlock2 325 284, munlock 150 229, membarrier 324 283, mbind 237 235,
    get_mempolicy 239 236, set_mempolicy 238 237, pkey_alloc 330 289, pkey_free 331 290, pkey_mprotect 329 288,
    mseal 462 462
"""
# Calls that start processes and threads, and wait for them; `clone` is in CHECKED. Missing on purpose: setpgid,
# unshare, setns, ptrace, kcmp, process_vm_readv.
PROCESSES = """
    fork 57 -, vfork 58 -, execve 59 221, exit 60 93, exit_group 231 94, wait4 61 260, waitid 247 95, getpid 39 172,
    getppid 110 173, gettid 186 178, getpgid 121 155, getpgrp 111 -, getsid 124 156, set_tid_address 218 96,
    set_robust_list 273 99, rseq 334 293, arch_prctl 158 -, restart_syscall 219 128, futex 202 98, futex_waitv 449 449
"""
# Calls that ask for ids of users and groups. Missing on purpose: calls that change them (setuid and the like, capset).
OWNERS = """
    getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177, getresuid 118 148, getresgid 120 150,
    getgroups 115 158, capget 125 90
"""
# From version 6, Landlock forbids signals to processes outside. Missing on purpose: rt_sigqueueinfo, which sends
# signals with a forged sender, and which runtimes do not use.
SIGNALS = """
    tkill 200 130, tgkill 234 131, rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigpending 127 136,
    rt_sigtimedwait 128 137, rt_sigsuspend 130 133, rt_sigreturn 15 139, sigaltstack 131 132, pause 34 -,
    signalfd 282 -, signalfd4 289 74
"""
# Calls that ask for the schedule. Calls that change it are in CHECKED. Missing on purpose: setpriority, ioprio_set.
SCHEDULE = """
    sched_yield 24 124, sched_getaffinity 204 123, sched_getparam 143 121, sched_getscheduler 145 120,
    sched_getattr 315 275, sched_get_priority_max 146 125, sched_get_priority_min 147 126,
    sched_rr_get_interval 148 127, getpriority 140 141, getcpu 309 168
"""
# Calls that read clocks, but do not set them.
TIMES = """
    time 201 -, gettimeofday 96 169, clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115,
    nanosleep 35 101, times 100 153, alarm 37 -, getitimer 36 102, setitimer 38 103, timer_create 222 107,
    timer_settime 223 110, timer_gettime 224 108, timer_getoverrun 225 109, timer_delete 226 111,
    timerfd_create 283 85, timerfd_settime 286 86, timerfd_gettime 287 87
"""
# Calls for the event loops of node, Go, Rust and the JVM.
EVENTS = """
    poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20,
    epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -, eventfd2 290 19,
    inotify_init 253 -, inotify_init1 294 26
"""
# Node talks to its children through a pair of connected sockets; `socketpair` is in CHECKED. Missing on purpose:
# socket, and also connect, bind, listen and accept, which would let a socket of the pair reach other sockets.
PAIRS = """
    sendto 44 206, sendmsg 46 211, sendmmsg 307 269, recvfrom 45 207, recvmsg 47 212, recvmmsg 299 243,
    shutdown 48 210, getsockname 51 204, getpeername 52 205, getsockopt 55 209, setsockopt 54 208
"""
MACHINE = "uname 63 160, sysinfo 99 179, getrandom 318 278, getrlimit 97 163, setrlimit 160 164, getrusage 98 165"

# These calls fail as on an older kernel (ENOSYS). Programs then use calls whose arguments a filter can check, or calls
# that need no descriptor of a process.
UNKNOWN = """
    clone3 435 435, memfd_create 319 279, memfd_secret 447 447, io_uring_setup 425 425, io_uring_enter 426 426,
    io_uring_register 427 427, pidfd_open 434 434, pidfd_send_signal 424 424, execveat 322 281
"""
# These calls fail as on a file system without extended attributes (EOPNOTSUPP); programs that copy files accept this.
# Landlock does not check the paths of these calls, so they could read attributes of files outside.
ATTRIBUTES = "getxattr 191 8, lgetxattr 192 9, fgetxattr 193 10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13"

# These calls fail as if the file were missing (ENOENT). Programs that touch a file then create it. Any other error
# would end jedi, whose parser touches a file in its cache.
DATES = "utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88"

# These calls succeed without any effect: an engine that asks for notices of changes gets none, as on many network file
# systems. If the calls failed, TypeScript's server would poll each file, which takes 1 % of a processor. If the calls
# worked, engines would get notices of files outside.
WATCHES = "inotify_add_watch 254 27, inotify_rm_watch 255 28"

# This call succeeds without any effect. So all processes stay in one process group, which the kernel can kill at once.
SESSIONS = "setsid 112 157"

# These calls are allowed only with certain arguments, see `seccomp.py`.
CHECKED = """
    clone 56 220, kill 62 129, prctl 157 167, ioctl 16 29, fcntl 72 25, socketpair 53 199, mknod 133 -,
    mknodat 259 33, prlimit64 302 261, sched_setaffinity 203 122, sched_setscheduler 144 119, sched_setparam 142 118,
    sched_setattr 314 274, truncate 76 45, mmap 9 222
"""

# A client that fetches packages may also make these calls with certain arguments. Landlock limits the port.
CLIENTS = "socket 41 198, connect 42 203, sendto 44 206, sendmsg 46 211, sendmmsg 307 269"

PRETENDED = {UNKNOWN: errno.ENOSYS, ATTRIBUTES: errno.EOPNOTSUPP, DATES: errno.ENOENT, WATCHES: 0, SESSIONS: 0}
"""Group of refused calls → the error with which they fail (0 = success). After EPERM, programs would not go on."""
ALLOWED = (FILES, PATHS, MEMORY, PROCESSES, OWNERS, SIGNALS, SCHEDULE, TIMES, EVENTS, PAIRS, MACHINE)
NEWER = 451
"""Calls from this number on fail with ENOSYS unless they are listed, as on the kernels where the list was recorded.
So do calls of x86-64's x32 mode, which have greater numbers."""


def numbers(group: str, column: int) -> dict[str, int]:
    """Return name → number of a group's calls on x86-64 (column 0) or AArch64 (column 1)."""
    entries = [entry.split() for entry in group.split(",")]
    return {entry[0]: int(entry[column + 1]) for entry in entries if entry[column + 1] != "-"}


_LIBRARY = ctypes.CDLL(None, use_errno=True)
# By default, ctypes would cut the result to 32 bits.
_LIBRARY.syscall.restype = ctypes.c_long

NO_NEW_PRIVILEGES, DEATH_SIGNAL, ASK_DEATH_SIGNAL, SUBREAPER, SECCOMP, DROP_FROM_BOUNDING = 38, 1, 2, 36, 22, 24
"""The options PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_SECCOMP and
PR_CAPBSET_DROP of linux/prctl.h."""


def syscall(number: int, *arguments: object) -> int:
    result = int(_LIBRARY.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise _error()
    return result


def prctl(option: int, value: object = 1, more: object = 0) -> None:
    """Set an option of this process; see `man 2 prctl`. Raises OSError."""
    # The kernel refuses PR_SET_NO_NEW_PRIVS unless all unused arguments are 0. The arguments are unsigned longs.
    arguments = [
        ctypes.c_ulong(argument) if isinstance(argument, int) else argument for argument in (value, more, 0, 0)
    ]
    if _LIBRARY.prctl(ctypes.c_int(option), *arguments):
        raise _error()


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
