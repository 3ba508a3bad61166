"""A project whose files are traps."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.projects import write


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A project with files that never end, or are not its own."""
    write(tmp_path / "outside", secret__py="password = 1\n")
    root = write(tmp_path / "p", a__py="os\n")
    os.mkfifo(root / "pipe.py")
    (root / "device.py").symlink_to("/dev/zero")
    (root / "link.py").symlink_to("../outside/secret.py")
    (root / "folder").symlink_to("../outside")
    return root
