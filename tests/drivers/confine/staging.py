"""Sets the stage for a break-out, outside the sandbox: staging.py FOLDER PYTHON [OPTION OF THE LAUNCHER…].

FOLDER has a folder `code`, with a copy of the launcher and of the tries. What this process owns is what the tries are
made on: files, a project, sockets, shared memory, and itself. It prints JSON: the launcher's report, and what came of
each try.
"""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

START = "import sys; sys.path.insert(0, {!r}); from ci_eval.plugins.drivers.confine.main import main; main()"
TRIES = "import sys; sys.path.insert(0, {!r}); from tests.drivers.confine.escapes import main; main()"
LIBC = ctypes.CDLL(None, use_errno=True)


def lay_out(folder: Path) -> dict[str, str]:
    """Make the files; return the folders by name."""
    folders = {name: folder / name for name in ("outside", "project", "own", "plan")}
    for path in (
        *folders.values(),
        folders["project"] / ".git",
        folders["project"] / "a",
        folders["outside"] / "empty",
    ):
        path.mkdir()
    outside, project = folders["outside"], folders["project"]
    for name in ("secret", "cut", "gone", "moved", "exchanged", "renamed", "canary"):
        (outside / name).write_text("content\n")
    for name in ("a.py", "b.py", "c.py", ".git/config", ".git/HEAD"):
        (project / name).write_text("content\n")
    links = {
        "file_link": outside / "secret",
        "folder_link": outside,
        "git_link": project / ".git",
        "chain": project / "folder_link",
        "a/deep_link": outside,
        "etc_link": Path("/etc"),
        "caller_link": Path(f"/proc/{os.getpid()}"),
    }
    for name, target in links.items():
        (project / name).symlink_to(target)
    return {name: str(path) for name, path in folders.items()}


def listen(stack: ExitStack, kind: socket.SocketKind, address: str | tuple[str, int]) -> socket.socket:
    """Return a socket that others can reach."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    server = stack.enter_context(socket.socket(family, kind))
    server.bind(address)
    if kind == socket.SOCK_STREAM:
        server.listen()
    return server


def main() -> None:
    """Set the stage, start the launcher with the tries, and tell what came of it."""
    folder, python, *options = sys.argv[1:]
    folders = lay_out(Path(folder))
    outside = folders["outside"]
    key = secrets.randbelow(1 << 30) + 1
    memory = LIBC.shmget(key, 4096, 0o1600)
    with ExitStack() as stack:
        stack.callback(LIBC.shmctl, memory, 0, None)
        plan = {
            **{name: path for name, path in folders.items() if name != "plan"},
            "caller": os.getpid(),
            "token": secrets.token_hex(16),
            "tcp": listen(stack, socket.SOCK_STREAM, ("127.0.0.1", 0)).getsockname()[1],
            "udp": listen(stack, socket.SOCK_DGRAM, ("127.0.0.1", 0)).getsockname()[1],
            "stream": listen(stack, socket.SOCK_STREAM, f"{outside}/stream").getsockname(),
            "datagram": listen(stack, socket.SOCK_DGRAM, f"{outside}/datagram").getsockname(),
            "abstract": f"ci-eval-{key}",
            "opened": stack.enter_context(open(f"{outside}/secret")).fileno(),
            "key": key,
            "memory": memory,
        }
        listen(stack, socket.SOCK_STREAM, f"\0{plan['abstract']}")
        Path(folders["plan"], "plan.json").write_text(json.dumps(plan))
        report, reporting = os.pipe()
        done = subprocess.run(
            [
                *(python, "-I", "-S", "-c", START.format(f"{folder}/code")),
                *("--read", folders["project"], "--read", folders["plan"], "--read", f"{folder}/code"),
                *("--write", folders["own"], "--canary", f"{outside}/canary", "--report", str(reporting)),
                *("--caller", str(os.getpid())),
                *options,
                *("--", python, "-I", "-S", "-c", TRIES.format(f"{folder}/code"), f"{folders['plan']}/plan.json"),
            ],
            # The job's environment holds a token; what is started for the job's sake does not get it.
            env={"PATH": os.defpath, "TMPDIR": folders["own"], "LANG": "C.UTF-8"},
            pass_fds=(reporting, int(plan["opened"])),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        os.close(reporting)
        said = os.read(report, 4096).decode().strip()
    outcomes = json.loads(done.stdout) if done.returncode == 0 else {}
    trouble = done.stderr if done.returncode else ""
    print(json.dumps({"report": said, "outcomes": outcomes, "trouble": trouble}))


if __name__ == "__main__":
    main()
