"""A runner of a Python module that may not start other programs: alone.py MODULE ARGUMENT…

It is for pip. To build a package or to fetch it with git, pip starts other programs, and with them strangers' code. To
install wheels, pip needs none.
"""

import os
import runpy
import sys
from typing import Any

STARTS = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system")
# Exceptions, both the user's own programs: `keyring`, which has passwords for registries, and musl's loader, which pip
# asks for the version of the C library.
ALLOWED = ("keyring", "ld-musl-")


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise OSError, as if the program were missing, if an event starts one. An audit hook cannot be removed."""
    if event in STARTS and not (event == STARTS[0] and os.path.basename(str(arguments[0])).startswith(ALLOWED)):
        program = arguments[1] if event == STARTS[0] else event
        raise OSError(f"ci-eval lets {module} start no program: {program!r}")


module, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = module
sys.addaudithook(refuse)
runpy.run_module(module, run_name="__main__", alter_sys=True)
