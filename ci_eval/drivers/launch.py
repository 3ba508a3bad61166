"""Becomes another program, limited in memory and gone when its parent is: launch.py BYTES PROGRAM ARGUMENT…"""

import ctypes
import os
import resource
import signal
import sys

memory, *command = sys.argv[1:]
if int(memory):
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1 = PR_SET_PDEATHSIG
os.execvp(command[0], command)  # noqa: S606  argument list, no shell
