"""The locks of CI: what pyproject.toml asks for stands in them, by version and digest, and nothing else is needed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from runpy import run_path

import msgspec
import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / ".ci").glob("*.txt"))
RUN = run_path(str(ROOT / ".github" / "actions" / "run.py"))
PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]


def at(python: str) -> dict[str, str | AbstractSet[str]]:
    """What markers are about."""
    return {
        **{name: str(value) for name, value in default_environment().items()},
        "python_version": python,
        "python_full_version": f"{python}.9",
    }


def locked(lock: Path, python: str) -> dict[str, str]:
    """Name → version of what it installs on Linux."""
    lines = lock.read_text().replace("\\\n", " ").splitlines()
    entries = [Requirement(line.partition(" --hash")[0]) for line in lines]
    chosen = [entry for entry in entries if not entry.marker or entry.marker.evaluate(at(python))]
    found: dict[str, str] = {canonicalize_name(entry.name): str(entry.specifier).removeprefix("==") for entry in chosen}
    assert len(found) == len(chosen), "one is locked twice"
    return found


def wanted(extra: str, python: str) -> Iterator[Requirement]:
    whole = msgspec.toml.decode((ROOT / "pyproject.toml").read_bytes())
    project = whole["project"]
    texts = [*whole["build-system"]["requires"], *project["dependencies"]]
    texts += project["optional-dependencies"][extra] if extra else []
    for each in map(Requirement, texts):
        if not each.marker or each.marker.evaluate(at(python)):
            yield each


def version_in(found: dict[str, str], wanted: Requirement) -> str:
    return found.get(canonicalize_name(wanted.name), "0")


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("extra", ["", "ml"])
def test_a_lock_has_what_the_project_asks_for(extra: str, python: str) -> None:
    found = locked(ROOT / ".ci" / f"requirements{extra and '-'}{extra}.txt", python)
    stale = [str(each) for each in wanted(extra, python) if not each.specifier.contains(version_in(found, each))]
    assert stale == [], "stale: run .ci/lock"


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_line_of_a_lock_is_a_version_with_its_digests_and_names_no_place(lock: Path) -> None:
    lines = lock.read_text().replace("\\\n", " ").splitlines()
    assert lines
    for line in lines:
        assert re.fullmatch(r"[a-z0-9.-]+==[0-9][\w.]*(?: ; [^-@:/]+?)?(?: +--hash=sha256:[0-9a-f]{64})+", line), line


@pytest.mark.registry
@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_pip_needs_nothing_beside_a_lock(lock: Path) -> None:
    options = ("--dry-run", "--ignore-installed", "--quiet", "--require-hashes", "--only-binary=:all:")
    done = subprocess.run([sys.executable, "-m", "pip", "install", *options, "-r", str(lock)], check=False, timeout=600)
    assert done.returncode == 0


def test_the_actions_install_nothing_that_is_not_locked() -> None:
    for ml in (False, True):
        packages, own = RUN["installing"](ml)
        assert {
            "--require-hashes",
            "--only-binary=:all:",
            str(ROOT / ".ci" / f"requirements{'-ml' if ml else ''}.txt"),
        } <= set(packages)
        assert {"--no-index", "--no-deps", "--no-build-isolation", str(ROOT)} == set(own)
