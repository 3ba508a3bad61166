"""Stands in for package clients: shell scripts of their names, first on PATH."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def client(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, script: str) -> None:
    """Put a client of that name, a shell script, first on PATH."""
    program = folder / "bin" / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
