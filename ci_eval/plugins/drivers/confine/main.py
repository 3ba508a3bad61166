"""A starter that confines itself, and then becomes another program: [OPTION VALUE]… -- PROGRAM ARGUMENT…

--confine auto|required|off   required: exit with 126 if the sandbox has gaps, instead of starting the program
--run, --read, --write PATH   a path that may be read and run, read, or written, except `.git` in it; may be repeated
--connect PORT          the only TCP port to connect to, 0 for no sockets. Landlock limits ports from version 4 on
--canary FILE           a file outside of these paths; the sandbox is tested by trying to use this file
--report DESCRIPTOR     the descriptor to which the sandbox report, one line, is written before the program starts
--memory BYTES          the limit for the program and its descendants; 0 = no limit
--address-space BYTES   the limit for the program alone; 0 = no limit
--caller PROCESS        the process that starts this one: the program is killed when the caller has ended
--remains FOLDER        a folder to remove if the caller is killed
--abi VERSION           use no later version of Landlock (for tests)

The starter imports few modules that are not written in C, since every start of an engine waits for the imports. On
systems other than Linux, it only sets limits.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` imports enum, re and collections
import os
import resource
import struct
import sys

from ci_eval.plugins.drivers.confine import calls, landlock, proof, seccomp, supervisor

# Shells exit with this code if a program exists but cannot be executed.
REFUSED = 126
LARGEST_FILE = 4 << 30
RIGHTS = {"--run": landlock.READ_AND_RUN, "--read": landlock.READ, "--write": landlock.WRITE}


class Options:
    def __init__(self, arguments: list[str]) -> None:
        # The arguments need no check, since only `SandboxPolicy.around` writes them.
        end = arguments.index("--")
        self.command = arguments[end + 1 :]
        pairs = list(zip(arguments[:end:2], arguments[1:end:2]))  # noqa: B905  `strict` would take time
        self.rules = [(value, RIGHTS[name]) for name, value in pairs if name in RIGHTS]
        single = dict(pairs)
        self.confine = single.get("--confine", "auto")
        self.connects = int(single.get("--connect", 0))
        self.canary = single.get("--canary", "")
        self.report = int(single.get("--report", -1))
        self.memory = int(single.get("--memory", 0))
        self.address_space = int(single.get("--address-space", 0))
        # If the caller is killed before Python starts, our parent is another process.
        self.caller = int(single["--caller"])
        self.remains = single.get("--remains", "")
        self.abi = int(single.get("--abi", 99))


def main() -> None:
    options = Options(sys.argv[1:])
    report = "not confined: ci-eval confines engines on Linux only"
    counted = False
    if sys.platform == "linux":
        name = os.path.basename(options.command[0])
        counted = supervisor.start(options.caller, memory=options.memory, name=name, remains=options.remains)
        # In a new session, the program has no terminal, so it cannot type commands into one.
        os.setsid()
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: LARGEST_FILE}
    if sys.platform == "linux":
        # Forbid higher priorities and message queues, even if the system's limits allow them.
        limits |= {resource.RLIMIT_NICE: 0, resource.RLIMIT_RTPRIO: 0, resource.RLIMIT_MSGQUEUE: 0}
        # The limit is compared with all processes and threads of the user. The machine's number is an upper bound.
        machine = int(supervisor.read("/proc/loadavg").split()[3].partition("/")[2])
        limits[resource.RLIMIT_NPROC] = machine + supervisor.MOST_PROCESSES + 100
    if options.address_space:
        limits[resource.RLIMIT_AS] = options.address_space
    for kind, limit in limits.items():
        allowed = resource.getrlimit(kind)[1]
        limit = limit if allowed == resource.RLIM_INFINITY else min(limit, allowed)
        resource.setrlimit(kind, (limit, limit))
    if sys.platform == "linux":
        if options.report >= 0:
            os.closerange(3, options.report)
        os.closerange(max(options.report, 2) + 1, 65536)
        report = "not confined: interpret.confine is off" if options.confine == "off" else confine(options, counted)
    if options.report >= 0:
        os.write(options.report, f"{report}\n".encode())
        os.close(options.report)
    if options.confine == "required" and not report.endswith(proof.NOTHING_OPEN):
        sys.stderr.write(f"interpret.confine is required, but: {report}\n")
        sys.stderr.flush()
        os._exit(REFUSED)
    # Python ignores SIGPIPE, and the program would inherit this setting.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execv(options.command[0], options.command)  # noqa: S606  argument list, no shell
    except OSError as error:
        sys.stderr.write(f"{options.command[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(REFUSED)


def confine(options: Options, counted: bool) -> str:
    """Confine this process. Return the sandbox report. `counted`: whether a control group counts the memory."""
    walls, reasons = [], []
    # The kernel requires NO_NEW_PRIVILEGES for Landlock and seccomp.
    calls.prctl(calls.NO_NEW_PRIVILEGES)
    abi, why = landlock.version()
    abi = min(abi, options.abi)
    if abi:
        own = [rule for path, rights in options.rules for rule in _exclude_git(path, rights)]
        landlock.restrict([*landlock.system_rules(), *own], abi, options.connects)
        walls.append(f"landlock {abi}")
    else:
        reasons.append(f"landlock: {why or 'not wanted'}")
    if os.geteuid() == 0:
        # Only Landlock limits what root reads, so without Landlock root loses this capability, too.
        mask = 1 << proof.READ_WHATEVER_ITS_OWNER if abi else 0
        for number in range(64):
            if not mask >> number & 1:
                try:
                    calls.prctl(calls.DROP_FROM_BOUNDING, number)
                except OSError:
                    # The kernel has no further capabilities, or this process may not drop them.
                    break
        if capset := {"x86_64": 126, "aarch64": 91}.get(os.uname().machine):
            # 0x20080522 is _LINUX_CAPABILITY_VERSION_3 of linux/capability.h: each set has two words.
            calls.syscall(capset, struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", mask, mask, 0, 0, 0, 0))
    try:
        # The filter comes last, since it refuses the system calls of the steps above.
        seccomp.restrict(truncate=abi < 3, connects=bool(options.connects))
        walls.append("seccomp")
    except OSError as error:
        reasons.append(f"seccomp: {error.strerror}")
    # In a git worktree, `.git` itself is a file.
    repositories = (f"{path}/.git{part}" for path, _ in options.rules for part in ("/config", "/HEAD", ""))
    stage = proof.Stage(
        options.canary,
        os.getppid(),
        scratch=next((path for path, rights in options.rules if rights == landlock.WRITE), ""),
        repository=next(filter(os.path.isfile, repositories), ""),
        report=options.report,
    )
    return proof.sentence(walls, proof.still_open(stage), reasons, counted=counted)


def _exclude_git(path: str, rights: int) -> list[tuple[str, int]]:
    # CI systems store tokens in .git.
    if not os.path.lexists(os.path.join(path, ".git")):
        return [(path, rights)]
    # Rules cannot forbid, so each entry except `.git` gets a rule. A link gets no rule, since it may lead anywhere; if
    # its target is in the folder, the target has a rule.
    inside = (os.path.join(path, name) for name in os.listdir(path) if name != ".git")
    return [(path, landlock.LIST), *((entry, rights | landlock.NO_LINK) for entry in inside)]
