"""The sandbox as a whole: each promise of SECURITY.md is tried at each start, and tried to be broken in many ways.

The tries are in `escapes.py`. They run as root, if these tests do, and as a normal user.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from ci_eval.plugins.adapters.process import NOTHING_OPEN, PACKAGE, find_installs, interpreter
from ci_eval.plugins.drivers.confine.proof import CANARIES, UNCOUNTED
from ci_eval.plugins.drivers.confine.seccomp import ARCHITECTURES
from tests.drivers.confine.escapes import TRIES
from tests.needs import lack

# The runs of a user and a version of Landlock are shared by the tests of one process.
pytestmark = pytest.mark.xdist_group("escapes")

NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"
USERS = ["root", "normal user"] if hasattr(os, "geteuid") and os.geteuid() == 0 else ["normal user"]
NEWEST = 99

# A machine may lack them.
DEVICES = {f"writing: {name}" for name in ("memory of the machine", "virtual machine", "tunnel", "fuse")}
# How a try ends that is refused in another way than by EPERM or EACCES.
REFUSED = {
    "EXDEV": {"reading: hard link", "git: hard link", "writing: project link"},
    "ENOTSUP": {f"attributes: {prefix}{verb}xattr" for prefix in ("", "l", "f") for verb in ("get", "list")},
    "ENOSYS": {
        "reading: ring",
        *(f"rights: {call}" for call in ("fchmodat2", "setxattrat", "removexattrat", "file_setattr")),
        *(f"attributes: {call}" for call in ("getxattrat", "listxattrat", "file_getattr")),
        *(f"processes: {call}" for call in ("pidfd", "signal by pidfd")),
        *(f"memory: {call}" for call in ("unnamed file", "unnamed file of large pages", "secret")),
        *(f"privileges: {call}" for call in ("clone3", "statmount", "program by descriptor")),
    },
    "ENOENT": {"rights: utime", "rights: utime of link", "rights: futimens", *DEVICES},
}
# What is refused without walls, too: by the launcher and the supervisor, which are always there, or by the kernel.
WITHOUT_WALLS = {
    *("environment: variables", "environment: own", "environment: all processes", "descriptors: inherited"),
    *("end: leave", "end: sibling", "end: larger files", "end: dump memory"),
    *("priorities: limit of priority", "priorities: limit of real time", "processes: join group"),
    *("processes: own layout", "sockets: ping", *DEVICES),
}
# What the kernel allows root alone.
ROOTS = {
    *("writing: settings of the kernel", "sockets: raw", "sockets: packets", "processes: stack", "priorities: group"),
    *("priorities: own", "priorities: real time", "priorities: deadline", "sharing: named memory"),
    *("reading: kernel log",),
}


def promises() -> dict[str, str]:
    """Return the promises of SECURITY.md by key."""
    return dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", (PACKAGE / "SECURITY.md").read_text(), re.MULTILINE))


def broken(where: str) -> set[str]:
    """Return the keys of the promises that do not hold there, by SECURITY.md."""
    rows = re.findall(r"^\| ([^|`]+) \| ([^|]+) \| [^|]+ \|$", (PACKAGE / "SECURITY.md").read_text(), re.MULTILINE)
    return next(set(re.findall(r"`(\w+)`", keys)) for name, keys in rows if name.startswith(where))


@cache
def tried(user: str, confine: str = "auto", abi: int = NEWEST) -> tuple[str, dict[str, str]]:
    """Return the launcher's report, and what came of each try; `abi`: the newest version of Landlock to use."""
    if sys.platform != "linux" or os.uname().machine not in ARCHITECTURES:
        lack("engines are confined on Linux, on x86-64 and AArch64")
    python, command = interpreter(), []
    options = [word for install in find_installs(python) for word in ("--run", str(install))]
    if user != "root" and os.geteuid() == 0:
        if not shutil.which("setpriv") or not Path(SYSTEM_PYTHON).exists():
            lack("becoming a normal user takes setpriv, and a Python that everybody may run")
        python, options = SYSTEM_PYTHON, []
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    # Not below pytest's folder, into which no other user may look.
    with tempfile.TemporaryDirectory(prefix="escapes-") as temporary:
        folder = Path(temporary)
        for part in ("ci_eval/plugins/drivers/confine", "tests/drivers/confine"):
            shutil.copytree(PACKAGE / part, folder / "code" / part, ignore=shutil.ignore_patterns("__pycache__"))
        if command:
            shutil.chown(folder, NOBODY, NOBODY)
        stage = [python, "-I", str(folder / "code/tests/drivers/confine/staging.py"), str(folder), python]
        done = subprocess.run(
            [*command, *stage, *options, "--confine", confine, "--abi", str(abi)],
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
    said = json.loads(done.stdout)
    assert said["trouble"] == ""
    return said["report"], said["outcomes"]


def is_refused(name: str, outcome: str) -> bool:
    """Return whether a try ended as it does where the promise holds."""
    return outcome in ("EPERM", "EACCES") or name in REFUSED.get(outcome, ())


def successes(outcomes: dict[str, str]) -> dict[str, str]:
    """Return the tries that were not refused."""
    return {name: outcome for name, outcome in outcomes.items() if not is_refused(name, outcome)}


@pytest.mark.parametrize("user", USERS)
def test_no_try_to_break_out_succeeds(complete_walls: None, user: str) -> None:
    report, outcomes = tried(user)
    assert report.endswith(NOTHING_OPEN)
    assert len(outcomes) >= 150
    assert successes(outcomes) == {}


@pytest.mark.parametrize("user", USERS)
def test_without_walls_the_tries_succeed(user: str) -> None:
    """A try that is refused anyway would prove nothing."""
    report, outcomes = tried(user, "off")
    assert report == "not confined: interpret.confine is off"
    refused = {name for name, outcome in outcomes.items() if is_refused(name, outcome)} - WITHOUT_WALLS
    if user != "root":
        refused = {name for name in refused - ROOTS if not name.startswith("privileges: ")}
    assert refused == set()
    assert {name: outcome for name, outcome in outcomes.items() if outcome.startswith(("broken", "signal"))} == {}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(("abi", "where"), [(0, "Linux without Landlock"), (5, "Landlock 1 to 5")], ids=str)
def test_what_an_older_kernel_leaves_open_is_declared(complete_walls: None, user: str, abi: int, where: str) -> None:
    report, outcomes = tried(user, "auto", abi)
    declared = broken(where)
    named = set(report.split("open: ")[1].partition(" (")[0].split(", "))
    reported = {CANARIES[what][0] for what in named - {UNCOUNTED}}  # the last one is no attempt
    succeeded = {name.partition(":")[0] for name in successes(outcomes)}
    assert reported | succeeded <= declared
    if user != "root":
        # Root without capabilities may not look into processes of root with them; and /dev/shm may be closed to users.
        assert declared - {"sharing"} <= reported & succeeded


def test_each_promise_has_an_attempt_at_each_start_and_three_tries() -> None:
    keys = set(promises())
    assert {key for key, _ in CANARIES.values()} == keys, "proof.py tries each promise of SECURITY.md, and no other"
    assert set(TRIES) == keys
    assert {key: len(tries) for key, tries in TRIES.items() if len(tries) < 3} == {}


def test_what_is_promised_of_engines_stands_in_the_table_and_nowhere_else() -> None:
    text = (PACKAGE / "SECURITY.md").read_text()
    section = text[text.index("**Engines are confined**") : text.index("**What is reported")]
    prose = [line for line in section.splitlines() if line and not line.startswith("|")]
    assert " ".join(prose).endswith("Confined, this is promised of an engine and all it starts:")
    assert len(prose) == 3, "a sentence outside the table has no key, and so no attempt and no tries"


def test_where_nothing_is_confined_every_promise_is_listed() -> None:
    assert broken("not Linux") == set(promises())
    assert broken("Landlock 6") == set()
    assert broken("Linux on other processors") < set(promises())
