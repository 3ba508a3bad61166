"""llama.cpp's own server with a tiny model, in a process and an environment of its own."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

NEEDED = ("xllamacpp==2026.10.11549", "gguf==0.19.0")
TEXT = "print(wave) "
"""What the model has read: each byte has one that follows, so that all it writes is known."""


SIZE, SMOOTH = 272, 1e-4
"""As in tiny.py."""


def logprob_of(before: str, letter: str, text: str = TEXT) -> float:
    """How likely the model of that text takes a letter to be behind another: ln of its smoothed share (tiny.py)."""
    counts = Counter(pairwise(text))
    following = sum(count for (first, _), count in counts.items() if first == before) + text.endswith(before)
    return math.log((counts[before, letter] + SMOOTH) / (following + SIZE * SMOOTH))


def continued(text: str, count: int) -> str:
    """What the model makes of a text, by hand: byte after byte, the one that followed in what it has read."""
    following = dict(pairwise(TEXT))
    written = ""
    while len(written) < count and (text + written)[-1] in following:
        written += following[(text + written)[-1]]
    return written


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has what `tiny.py` needs."""
    folder = tmp_path_factory.mktemp("llama") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", *NEEDED], check=True)
    return folder / "bin" / "python"


@contextmanager
def served(python: Path, folder: Path, text: str = TEXT) -> Iterator[str]:
    """The address of a server, while it runs; `text`: what its model has read."""
    (folder / "text").write_text(text)
    program = Path(__file__).with_name("tiny.py")
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            [python, program, folder / "tiny.gguf", folder / "text"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        ) as process,
    ):
        assert process.stdout
        yield process.stdout.readline().decode().strip()
        process.kill()


@pytest.fixture(scope="module")
def llama(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server for the tests of a module."""
    with served(python, tmp_path_factory.mktemp("tiny")) as address:
        yield address
