"""The command line within the test, and a small project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ci_eval.cli import main
from tests.command import raise_bug
from tests.projects import GREETER, write

Run = Callable[..., tuple[object, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run(*arguments)` is the exit code, and what was printed. `bug`: whether one is planted."""

    def run(*arguments: object, bug: bool = False) -> tuple[object, str, str]:
        monkeypatch.setattr("sys.argv", ["ci-eval", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        if not bug:
            raise_bug(ended.value.code, printed.err)
        return ended.value.code, printed.out, printed.err

    return run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "p", a__py=GREETER)
