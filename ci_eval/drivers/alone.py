"""Runs a Python module that may start no other program: alone.py MODULE ARGUMENT…

pip starts programs to build packages and to fetch them from repositories of code, both of which run strangers' code;
to unpack wheels it needs none.
"""

import os
import runpy
import sys
from typing import Any

STARTS = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system")
# The user's own: where passwords of registries are kept, and the C library that tells its version.
ALLOWED = ("keyring", "ld-musl-")


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook, which nothing takes away again. An OSError, as of a program that is missing."""
    if event in STARTS and not (event == STARTS[0] and os.path.basename(str(arguments[0])).startswith(ALLOWED)):
        program = arguments[1] if event == STARTS[0] else event
        raise OSError(f"ci-eval lets {module} start no program: {program!r}")


module, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = module
sys.addaudithook(refuse)
runpy.run_module(module, run_name="__main__", alter_sys=True)
