"""An engine's process: its rights (see `drivers/confine`), its time limits, and how it is ended with its children."""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import msgspec

from ci_eval.core.base.errors import EngineCrash, EngineMisbehaved, EngineTimeout
from ci_eval.core.base.quoting import quote
from ci_eval.core.machine import count_cpu_below, list_descendants, peak_below, read_cpu_clocks
from ci_eval.core.model import Confine
from ci_eval.core.tracing import tell

PACKAGE = Path(__file__).parents[3]
# With -I, Python would not find ci-eval's packages, so their folder is passed.
START = (
    f"import sys; sys.path.insert(0, {str(PACKAGE)!r}); from ci_eval.plugins.drivers.confine.main import main; main()"
)

NOTHING_OPEN = "nothing found open"
"""The sandbox report of a fully confined process ends with this text; see `drivers/confine/proof.py`."""

SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store", "/gnu/store")))
"""Folders in which every engine may read and run everything."""
TOPS = ("package.json", "pyproject.toml", "Gemfile", "composer.json", "go.mod", "Cargo.toml", ".git")


def interpreter() -> str:
    """Return the Python that runs ci-eval, without its virtual environment."""
    # CPython does not document `_base_executable`, and may leave it empty.
    base: str = getattr(sys, "_base_executable", "") or sys.executable
    return base


class SandboxPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The rights of a process in addition to those for the system's libraries. By default, there are none."""

    confine: Confine = "off"
    runs: tuple[Path, ...] = ()
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    connects: int = 0
    """The only TCP port that the process may connect to, or 0 if the process may use no sockets."""
    canary: Path | None = None
    """A file that the process must not be able to read; needed unless `confine` is off."""
    memory: int = 0
    """The limit for the process and its descendants together, in bytes, or 0 for no limit."""
    address_space: int = 0
    """The limit for the process alone, in bytes, or 0 for no limit."""
    remains: Path | None = None
    """A folder that the supervisor deletes if ci-eval itself is killed."""

    def around(self, argv: Sequence[str], report: int) -> list[str]:
        """Return the command that starts `argv` in the sandbox. `report`: the descriptor for the sandbox report."""
        paths = {"--run": self.runs, "--read": self.reads, "--write": self.writes}
        options = [text for name, allowed in paths.items() for path in allowed for text in (name, str(path))]
        options += ["--confine", self.confine, "--report", str(report)]
        options += ["--memory", str(self.memory), "--address-space", str(self.address_space)]
        options += ["--canary", str(self.canary or ""), "--remains", str(self.remains or "")]
        options += ["--connect", str(self.connects), "--caller", str(os.getpid())]
        # With -I and -S, Python imports nothing from the current folder, the environment or `site` before the sandbox
        # is ready.
        return [interpreter(), "-I", "-S", "-c", START, *options, "--", *argv]


def find_installs(program: str) -> list[Path]:
    """Return the folders where a program and, for a script, its interpreter are installed. Folders in `SYSTEM` are
    excluded, since every program may read them."""
    executable = shutil.which(program)
    if executable is None:
        return []
    paths = [Path(executable).absolute()]
    with paths[0].open("rb") as file:
        # A compiled program may have no line end for megabytes.
        first = file.readline(500)
    if first.startswith(b"#!"):
        words = first[2:].decode(errors="replace").split()
        if words[:1] == ["/usr/bin/env"]:
            # Options of env, such as `-S`, come before the program.
            words = [shutil.which(word) or "" for word in words[1:] if not word.startswith("-")]
        paths += [Path(word).absolute() for word in words[:1] if word]
    # A virtual environment's Python needs that environment and the Python that it links to.
    files = (file for path in paths for file in (path, path.resolve()))
    own = (file for file in files if not any(file.is_relative_to(system) for system in SYSTEM))
    return list(dict.fromkeys(map(find_install_root, own)))


def find_install_root(path: Path) -> Path:
    """Return the folder where a file was installed or is developed. Return the file itself if that folder may contain
    passwords: the home, a folder above the home, or a folder in which many programs store their files."""
    home = Path.home()
    if "node_modules" in path.parts:
        # A package of npm needs the packages that are installed next to it.
        modules = Path(*path.parts[: path.parts.index("node_modules") + 1])
        tops = [*([modules.parent] if _is_top(modules.parent) else []), modules]
    elif path.parent.name in ("bin", "sbin"):
        # A program in bin needs what is installed next to bin, such as lib.
        tops = [path.parents[1]]
    else:
        tops = [*filter(_is_top, path.parents), path.parent]
    for top in tops:
        # A hidden folder in the home is allowed only if it is a virtual environment.
        is_hidden = top.parent == home and top.name.startswith(".") and not (top / "pyvenv.cfg").exists()
        if not (home.is_relative_to(top) or is_hidden or top.parent in (home / ".local", Path("/"))):
            return top
    return path


def _is_top(folder: Path) -> bool:
    return any((folder / name).exists() for name in TOPS)


ENDING = 5.0
"""The time for the supervisor (`drivers/confine/supervisor.py`) to end an engine and all it started, in seconds."""

DENIED = re.compile("permission denied|operation not permitted|function not implemented|EACCES|EPERM|ENOSYS", re.I)
CONFINED = (
    "The engine runs in a sandbox. If the engine needs other folders, name them in `engine.reads`; "
    "`interpret.confine: off` turns the sandbox off."
)
LOOK_S = 1.0
"""The list of an engine's processes is renewed after this many seconds."""
LONGEST_ANSWER = 256 * 2**20
"""An engine that sends more bytes than this at once is taken to be broken."""


class EngineProcess:
    """A program with pipes to its standard streams. If ci-eval ends, the program and its child processes end.
    The program never runs in the project's folder, since several languages import from the current folder."""

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], walls: SandboxPolicy | None = None
    ) -> None:
        """Start the program. Raises EngineCrash if that fails."""
        self.name = Path(argv[0]).name
        program = shutil.which(argv[0])
        if program is None:
            raise EngineCrash(f"{self.name} is not installed, or not on PATH")
        read, report = os.pipe()
        self._report = os.fdopen(read, "rb", buffering=0)
        self._walls = walls or SandboxPolicy()
        self._confined = ""
        self._cpu = 0.0
        self._pids: tuple[int, ...] = ()
        self._next_look = 0.0
        try:
            self._process = subprocess.Popen(
                self._walls.around([program, *argv[1:]], report),
                cwd=cwd,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Reads and writes use the file descriptors, without Python's buffers.
                bufsize=0,
                # A new group, so that the program can be killed with all it started.
                start_new_session=True,
                pass_fds=(report,),
            )
        except OSError as error:
            self._report.close()
            raise EngineCrash(f"{self.name} could not be started: {error}") from error
        finally:
            # While our copy of the descriptor is open, the pipe stays open after the child's end.
            os.close(report)
        assert self._process.stdin
        assert self._process.stdout
        self._stdin = self._process.stdin.fileno()
        self._stdout = self._process.stdout.fileno()
        # A program that does not read must not block us beyond the time limit.
        os.set_blocking(self._stdin, False)
        os.set_blocking(self._stdout, False)
        self._received = bytearray()
        self._last_words = b""
        # A program stops if the pipe of its standard error is full, so a thread reads it.
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def confined(self) -> str:
        """Return the sandbox report, which is made before the program starts (see `drivers/confine/proof.py`), or "" if
        the process ended without a report. Raises EngineTimeout if the report does not come in time."""
        if not self._confined and not self._report.closed:
            self._await(self._report.fileno(), selectors.EVENT_READ, time.monotonic() + ENDING)
            self._confined = self._report.readline().decode().strip()
        return self._confined

    @property
    def pid(self) -> int:
        """Return the supervisor's id (on Linux), or the program's own."""
        return self._process.pid

    def peak_memory(self) -> int | None:
        return peak_below(self.pid)

    def count_cpu(self) -> float:
        """Return the CPU seconds of the program and its children. After its end, return the last known value."""
        if self._process.returncode is None:
            self._cpu = max(count_cpu_below(self.pid) or 0.0, self._cpu)
        return self._cpu

    def start_clock(self) -> Mapping[int, int]:
        # Listing the processes takes longer than reading their clocks, so the list is kept for `LOOK_S` seconds.
        if time.monotonic() > self._next_look:
            self._pids, self._next_look = tuple(list_descendants(self.pid)), time.monotonic() + LOOK_S
        return read_cpu_clocks(self._pids)

    def stop_clock(self, began: Mapping[int, int]) -> float | None:
        """Return the CPU milliseconds since `began` of the processes that ran all the time, or None if unknown."""
        now = read_cpu_clocks(began)
        return sum(now[pid] - began[pid] for pid in now) / 1e6 if now else None

    def _await(self, fd: int, event: int, deadline: float) -> None:
        left = deadline - time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(fd, event)
            # A program that writes without pause is always ready, so the remaining time is checked first.
            if left <= 0 or not selector.select(left):
                raise EngineTimeout(f"{self.name} did not answer in time")

    def _crash(self) -> EngineCrash:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return EngineCrash(f"{self.name} closed its output")
        self._listener.join(timeout=1)
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        words = self.last_words()
        # A program that may not read its own files often ends without a message.
        silent = code != 0 and not words
        if self._walls.confine != "off" and (silent or any(DENIED.search(line) for line in words)):
            words.append(CONFINED)
        return EngineCrash("\n".join([f"{self.name} ended ({cause})", *words]))

    def last_words(self) -> list[str]:
        """Return the last lines, at most 20, of the standard error."""
        return [quote(line.rstrip(), 500) for line in self._last_words.decode(errors="replace").splitlines()[-20:]]

    def _listen(self) -> None:
        assert self._process.stderr
        while chunk := self._process.stderr.read(65536):
            self._last_words = (self._last_words + chunk)[-8192:]

    def close(self) -> None:
        """End the program and all it started; never raises."""
        self.count_cpu()
        is_ended = False
        # `drivers/confine/main.py` starts a supervisor on Linux only.
        if sys.platform == "linux":
            # The process is the supervisor. On this signal, it ends all processes that it watches.
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=ENDING)
                is_ended = True
        if not is_ended:
            # On a busy machine, the supervisor may be too slow. Killing it alone would leave its program running.
            groups = [self._process.pid]
            for pid in list_descendants(self._process.pid):
                with suppress(ProcessLookupError):
                    groups.append(os.getpgid(pid))
            for group in reversed(dict.fromkeys(groups)):
                # The group may have ended by itself.
                with suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)
            self._process.wait()
        self._listener.join(timeout=1)
        for pipe in (self._report, self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()


AHEAD = 32 * 2**20
"""If more bytes than this arrive while one message is sent, the server is not reading."""


class PipeProcess(EngineProcess):
    """A program whose output is read even while we write: otherwise both sides could wait for each other for ever."""

    @cached_property
    def _selector(self) -> selectors.BaseSelector:
        selector = selectors.DefaultSelector()
        selector.register(self._stdout, selectors.EVENT_READ)
        return selector

    def _write(self, data: bytes, deadline: float) -> None:
        """Write all data. Raises EngineTimeout at `deadline` (time.monotonic()), EngineCrash or EngineMisbehaved."""
        unsent = memoryview(data)
        limit = len(self._received) + AHEAD
        while True:
            try:
                unsent = unsent[os.write(self._stdin, unsent) :]
            except BlockingIOError:
                pass
            except BrokenPipeError as error:
                raise self._crash() from error
            if not unsent:
                return
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
            try:
                ready = self._select(deadline)
            finally:
                self._selector.unregister(self._stdin)
            if not ready:
                raise EngineTimeout(f"{self.name} did not read what it was sent")
            if self._stdout in ready:
                self._read()
            if len(self._received) > limit:
                raise EngineMisbehaved(f"{self.name} sent {AHEAD:,} bytes and did not read what it was sent")

    def _select(self, deadline: float) -> list[int]:
        # Without this check, a server that never stops sending would hold us for ever.
        left = deadline - time.monotonic()
        return [key.fd for key, _ in self._selector.select(left)] if left > 0 else []

    def _read(self) -> None:
        try:
            chunk = os.read(self._stdout, 2**20)
        except BlockingIOError:
            return
        if not chunk:
            raise self._crash()
        self._received += chunk
        if len(self._received) > LONGEST_ANSWER + LONGEST_HEADER:
            raise EngineMisbehaved(f"{self.name} sent more than {LONGEST_ANSWER:,} bytes at once")

    def close(self) -> None:
        self._selector.close()
        super().close()


class LineProcess(PipeProcess):
    def ask(self, line: bytes, timeout: float) -> bytes:
        """Send a line, and return the line that answers it. Raises EngineTimeout, EngineCrash or EngineMisbehaved."""
        deadline = time.monotonic() + timeout
        self._read()
        if self._received:
            raise EngineMisbehaved(f"{self.name} answered before it was asked: {quote(bytes(self._received), 80)!r}")
        self._write(line + b"\n", deadline)
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            if not self._select(deadline):
                raise EngineTimeout(f"{self.name} did not answer in time")
            self._read()
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line


LONGEST_HEADER = 8192
_LENGTH = re.compile(rb"content-length\s*:\s*(\d{1,12})\s*(?:\r\n|$)", re.IGNORECASE)


class MessageProcess(PipeProcess):
    _length = -1
    """The length of the message whose header was read, in bytes, or -1 if no header was read."""
    _unsent = b""

    def send(self, body: bytes) -> None:
        """Add a message to those that `flush` sends together, since each write wakes the server."""
        tell("->", body)
        self._unsent += b"Content-Length: %d\r\n\r\n%b" % (len(body), body)

    def flush(self, deadline: float) -> None:
        """Send messages. Raises EngineTimeout at `deadline` (time.monotonic()), EngineCrash or EngineMisbehaved."""
        unsent, self._unsent = self._unsent, b""
        if unsent:
            self._write(unsent, deadline)

    def receive(self, deadline: float) -> bytes | None:
        """Call `flush`, and return the next message, or None at `deadline` (time.monotonic()). Raises
        EngineTimeout, EngineCrash or EngineMisbehaved."""
        self.flush(deadline)
        while time.monotonic() < deadline:
            message = self._message()
            if message is not None:
                return message
            if self._select(deadline):
                self._read()
        return None

    def _message(self) -> bytes | None:
        if self._length < 0:
            end = self._received.find(b"\r\n\r\n")
            if end < 0:
                if len(self._received) > LONGEST_HEADER:
                    start = quote(bytes(self._received[:LONGEST_HEADER]), 80)
                    raise EngineMisbehaved(f"{self.name} wrote something other than a message: {start!r}")
                return None
            header = bytes(self._received[:end])
            match = _LENGTH.search(header)
            # Some servers print a line or two before their first message. These lines are ignored.
            if not match or int(match[1]) > LONGEST_ANSWER:
                raise EngineMisbehaved(
                    f"{self.name} wrote a header without a usable Content-Length: {quote(header, 80)!r}"
                )
            del self._received[: end + 4]
            self._length = int(match[1])
        if len(self._received) < self._length:
            return None
        # A slice of the bytearray itself would copy the message twice.
        body = bytes(memoryview(self._received)[: self._length])
        del self._received[: self._length]
        self._length = -1
        tell("<-", body)
        return body
