"""What a shell completes, asked as bash, zsh and fish ask."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ci_eval.cli.group import Bash, cli
from tests.waiting import HANGS

PROGRAM = Path(sys.executable).with_name("ci-eval")


def asked(*words: str) -> dict[str, str]:
    """The variables by which bash asks what completes the last word."""
    return {"_CI_EVAL_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}


def offered_in(out: str) -> list[str]:
    """The words of an answer."""
    return [line.partition(",")[2] for line in out.splitlines() if line]


def test_the_program_answers_a_shell() -> None:
    env = {**os.environ, **asked("ci-eval", "comp")}
    done = subprocess.run([PROGRAM], env=env, capture_output=True, text=True, check=True, timeout=HANGS)
    assert offered_in(done.stdout) == ["compare", "compare-engines"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("ci-eval", "evaluate", "--engine", "jed"), ["jedi", "jedi-language-server"]),
        (("ci-eval", "evaluate", "--language", "py"), ["python"]),
        (("ci-eval", "evaluate", "--task", "go"), ["golf"]),
        (("ci-eval", "evaluate", "--completion-type", "REC"), ["RECENCY"]),
        (("ci-eval", "evaluate", "--project", "py"), ["pypi:"]),
        (("ci-eval", "evaluate", "--set", "interpret.sessionsL"), ["interpret.sessionsLimit="]),
        (("ci-eval", "evaluate", "--set", "interpret.confine=o"), ["interpret.confine=off"]),
        (("ci-eval", "evaluate", "--set", "interpret.saveLogs=f"), ["interpret.saveLogs=false"]),
        (("ci-eval", "evaluate", "--set", "interpret.confine", "=", "o"), ["off"]),
        (("ci-eval", "evaluate", "--set", "interpret.saveLogs", "="), ["false", "true"]),
        (("ci-eval", "evaluate", "--set", "interpret.saveLogs", "=", "false", "--lang"), ["--language"]),
        (("ci-eval", "evaluate", "--set", "no.such="), []),
        (("ci-eval", "sweep", "--vary", "engine=pyri"), ["engine=pyright"]),
        (("ci-eval", "compare", "a", "b", "--gate", "TypingS"), ["TypingSaved"]),
        (("ci-eval", "compare-engines", "pyri"), ["pyright"]),
        (("ci-eval", "list", "ke"), ["keys"]),
    ],
)
def test_a_shell_gets_the_names_that_begin_so(
    words: tuple[str, ...], offered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in asked(*words).items():
        monkeypatch.setenv(name, value)
    assert offered_in(Bash(cli, {}, "ci-eval", "_CI_EVAL_COMPLETE").complete()) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_script(shell: str) -> None:
    env = {**os.environ, "_CI_EVAL_COMPLETE": f"{shell}_source"}
    done = subprocess.run([PROGRAM], env=env, capture_output=True, text=True, check=True, timeout=HANGS)
    assert "_CI_EVAL_COMPLETE" in done.stdout
