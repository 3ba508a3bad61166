"""Package clients: what they print comes back, what is told when they refuse, and that nothing outlives them."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from ci_eval.core.base.errors import InstallError
from ci_eval.fetch.clients import last_words
from ci_eval.fetch.clients import run_client as run
from ci_eval.fetch.packages import pip_download


def python(code: str, folder: Path) -> str:
    return run((sys.executable, "-c", code), cwd=folder)


def test_what_a_client_prints_comes_back(tmp_path: Path) -> None:
    assert python("print('hello')", tmp_path) == "hello\n"


def test_a_client_has_nothing_to_read(tmp_path: Path) -> None:
    assert python("import sys; print(repr(sys.stdin.read()))", tmp_path) == "''\n"


def test_the_last_lines_of_a_failed_client_are_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(InstallError) as caught:
        python("import sys; [print('line', i, file=sys.stderr) for i in range(1, 101)]; sys.exit(3)", tmp_path)
    assert "exit code 3" in str(caught.value)
    assert "line 81\n" in str(caught.value)
    assert "line 80\n" not in str(caught.value)


@pytest.mark.parametrize(
    "said",
    [
        "fatal: unable to access 'https://example.org/': Could not resolve host: example.org",
        "npm error code ENOTFOUND",
        "dial tcp: lookup proxy.example.org on 10.0.0.2:53: no such host",
    ],
)
def test_a_network_that_is_not_there_is_one_line(said: str) -> None:
    found = last_words("\n".join([said] * 5 + ["fatal: gave up"]))
    assert len(found.splitlines()) == 1
    assert "check the network" in found
    assert found.endswith("fatal: gave up")


def test_a_pip_that_reaches_nobody_says_so_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "2")
    with pytest.raises(InstallError, match="no connection") as caught:
        pip_download("six==1.16.0", tmp_path)
    assert len(str(caught.value).splitlines()) == 2


def test_passwords_in_what_a_client_says_are_not_shown(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match=r"https://example\.org/simple") as caught:
        python("raise SystemExit('no https://me:secret@example.org/simple')", tmp_path)
    assert "secret" not in str(caught.value)


def test_a_client_that_hangs_is_ended_with_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci_eval.fetch.clients.TIMEOUT", 0.7)
    child = "import time, pathlib; time.sleep(1.5); pathlib.Path('alive').touch()"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(InstallError, match=r"longer than 0\.7 s"):
        python(code, tmp_path)
    time.sleep(1.2)
    assert not (tmp_path / "alive").exists()


def test_variables_are_added_to_the_environment_of_a_client(tmp_path: Path) -> None:
    code = "import os; print(os.environ['MINE'], 'PATH' in os.environ)"
    assert run((sys.executable, "-c", code), cwd=tmp_path, variables={"MINE": "yes"}) == "yes True\n"


@pytest.mark.parametrize(
    ("name", "advice"), [("mvn", "Install Maven"), ("go", "Install Go"), ("apt-get", "Debian and its derivatives only")]
)
def test_a_missing_client_is_told_with_what_to_do(
    name: str, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InstallError, match=f"{name} is not installed. .*{advice}"):
        run((name, "help"), cwd=tmp_path)
