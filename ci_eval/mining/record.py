"""The neutral line of a dataset: what is shown, what should be answered, and where both come from."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType

from ci_eval import atomic
from ci_eval.model import Runnable


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One record. `cluster` is the repository: records of one repository resemble each other."""

    id: str
    cluster: str
    language: str
    instruction: str
    """What a model is asked; `{name}` stands for that text of the context."""
    context: dict[str, str]
    references: tuple[str, ...]
    meta: dict[str, object]
    run: Runnable | UnsetType = UNSET
    """How an answer is run, where it is a test and the project allows that."""


def identity(*parts: str) -> str:
    """The id of the record that these texts make: the same in every run, whatever else is in the dataset."""
    return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def write(path: Path, lines: Iterable[Line]) -> None:
    """Write a dataset in one step. Raises WorkspaceError."""
    atomic.write(path, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def fenced(text: str, language: str = "") -> str:
    """The text as a block of Markdown."""
    ticks = fence_of(text)
    return f"{ticks}{language}\n{text}\n{ticks}"


def fence_of(text: str) -> str:
    """A fence longer than any in the text."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return ticks
