"""Tests of `needs.py`: a missing package skips a test, or fails it if nothing may lack, and breaks no collection."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from packaging.requirements import Requirement

from tests.needs import REQUIRE_ALL, need, need_module

TESTS = Path(__file__).parent
BEHIND = {"onnx", "scipy"}
"""Modules that come with packages of the extra `test-all`."""


def later() -> set[str]:
    """Return the modules that only the extra `test-all` installs."""
    extras = msgspec.toml.decode((TESTS.parent / "pyproject.toml").read_bytes())["project"]["optional-dependencies"]
    names = {Requirement(text).name for extra in ("ml", "onnx", "test-all") for text in extras[extra]}
    return BEHIND | {name.replace("-", "_") for name in names - {"ci-eval"}}


IMPORTS = re.compile(rf"^ *(?:import|from) (?:{'|'.join(later())})\b|\bimportorskip\(", re.MULTILINE)


@pytest.mark.parametrize(
    "text", ["import pandas as pd\n", "def test():\n    from pandas.util import x\n", "importorskip("]
)
def test_an_import_of_what_may_lack_is_seen(text: str) -> None:
    assert IMPORTS.search(text)


def test_tests_import_what_may_lack_by_need_module_alone() -> None:
    files = {path.relative_to(TESTS).as_posix(): path for path in TESTS.rglob("*.py") if "samples" not in path.parts}
    importing = {name for name, path in files.items() if IMPORTS.search(path.read_text(encoding="utf-8"))}
    # The first asks before it imports; the others have texts of programs with environments of their own.
    assert importing == {"reports/browsing.py", "learning/recommenders/kinds/test_rules.py", "test_needs.py"}


def test_without_a_package_or_a_program_a_test_is_skipped_or_fails_where_nothing_may_lack(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(REQUIRE_ALL, raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"no_such_one is not installed: pip install -e '\.\[test-all\]'"):
        need_module("no_such_one.part")
    with pytest.raises(pytest.skip.Exception, match="no-such-program not installed"):
        need("sh", "no-such-program")
    monkeypatch.setenv(REQUIRE_ALL, "1")
    with pytest.raises(pytest.fail.Exception, match=f"no_such_one is not installed.*{REQUIRE_ALL} is set"):
        need_module("no_such_one")
    with pytest.raises(pytest.fail.Exception, match="no-such-program not installed"):
        need("no-such-program")


def test_a_package_that_is_broken_is_no_reason_to_skip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_one.py").write_text("import no_such_one\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_one"):
        need_module("broken_one")
    assert "broken_one" not in sys.modules
    assert need_module("xml.dom").__name__ == "xml.dom"


FILE = """
from tests.needs import need_module
need_module("no_such_one")
def test_it():
    pass
"""


@pytest.mark.parametrize(
    ("required", "code"), [("", pytest.ExitCode.NO_TESTS_COLLECTED), ("1", pytest.ExitCode.INTERRUPTED)]
)
def test_a_file_without_its_module_is_skipped_or_breaks_the_run(required: str, code: int, tmp_path: Path) -> None:
    """pytest's own `importorskip` skips in either case."""
    (tmp_path / "test_it.py").write_text(FILE)
    argv = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:randomly", "-rs", "test_it.py"]
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent), REQUIRE_ALL: required}
    done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout
    assert "no_such_one is not installed: pip install -e '.[test-all]'" in done.stdout
