"""Packages that leave a file behind where any of their code is run."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

BACKEND = "open({canary!r}, 'w').close()\nraise SystemExit('built')\n"
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def source_archive(folder: Path, canary: Path) -> Path:
    """A source archive of `canarydep` 1.0, whose build writes `canary`."""
    path = folder / "canarydep-1.0.tar.gz"
    backend = BACKEND.format(canary=str(canary))
    files = {"backend.py": backend, "setup.py": backend, "pyproject.toml": PYPROJECT, "PKG-INFO": "Name: canarydep\n"}
    with tarfile.open(path, "w:gz") as bundle:
        for name, text in files.items():
            member = tarfile.TarInfo(f"canarydep-1.0/{name}")
            member.size = len(text)
            bundle.addfile(member, io.BytesIO(text.encode()))
    return path
