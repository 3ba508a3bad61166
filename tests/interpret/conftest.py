"""A small project of two files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.projects import GREETER, write


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "p", a__py=GREETER, b__py=GREETER + "import a\n")
