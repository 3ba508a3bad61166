"""A runner that forbids a Python module to start other programs: alone.py MODULE ARGUMENT…

It is used for pip. To build a package or fetch it with git, pip starts other programs, which run untrusted code.
To install wheels, pip needs no other program.
"""

import os
import runpy
import sys
from typing import Any

STARTS = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system")
# Two programs of this machine are allowed: `keyring`, which stores passwords for registries, and musl's loader, from
# which pip learns the version of the C library.
ALLOWED = ("keyring", "ld-musl-")


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise OSError if an audit event starts a program. This is an audit hook, so the module cannot remove it."""
    if event in STARTS and not (event == STARTS[0] and os.path.basename(str(arguments[0])).startswith(ALLOWED)):
        program = arguments[1] if event == STARTS[0] else event
        raise OSError(f"ci-eval lets {module} start no program: {program!r}")


module, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = module
sys.addaudithook(refuse)
runpy.run_module(module, run_name="__main__", alter_sys=True)
