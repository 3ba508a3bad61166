"""The neutral line of a dataset: the prompt, the right answer, and the origin of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from ci_eval.core.base import atomic
from ci_eval.core.base.chance import draw
from ci_eval.core.model import Runnable


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A sample of a dataset. `cluster` is its repository, since samples of one repository resemble each other."""

    id: str
    cluster: str
    language: str
    instruction: str = ""
    """The prompt for a language model; `{name}` stands for that text of the context."""
    context: dict[str, str]
    references: tuple[str, ...]
    meta: dict[str, object]
    run: Runnable | UnsetType = UNSET
    """Way to run an answer, if it is a test and the project allows that."""


def spread_prompts(
    lines: Sequence[Line], templates: Sequence[str], language: str, seed: int, fill: Callable[[str, Line], str]
) -> list[Line]:
    """Return the samples, each with one of the prompts as its instruction, and the prompt's name in `meta.prompt`.

    Of each cluster and of all, every prompt gets the same number of samples, or one more. `fill` makes the instruction
    of a sample from a template.
    """
    names = [f"{language}-{number}" for number in range(1, len(templates) + 1)]
    by_name = dict(zip(names, templates, strict=True))
    # In the order of clusters, so that no prompt is asked about other projects than the rest.
    order = sorted(lines, key=lambda line: (line.cluster, draw(seed, f"prompt of {line.id}")))
    turns = sorted(names, key=lambda name: draw(seed, f"turn of {name}"))
    prompt_of = {line.id: turns[number % len(turns)] for number, line in enumerate(order)}
    return [
        replace(line, instruction=fill(by_name[name], line), meta={**line.meta, "prompt": name})
        for line in lines
        for name in [prompt_of[line.id]]
    ]


def assign_split(cluster: str, shares: tuple[int, int, int], seed: int) -> str:
    """Return the split of a repository or project. `shares`: per cent of them for training, validation and test."""
    # All samples of a cluster are in one split, since they resemble each other.
    training, validation, _ = shares
    place = 100 * draw(seed, f"split {cluster.lower()}")
    return "train" if place < training else "validation" if place < training + validation else "test"


def identity(*parts: str) -> str:
    """Return the id of the sample that these texts make. It is the same in every run, whatever else is in the
    dataset."""
    return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def write(path: Path, lines: Iterable[Line]) -> None:
    """Write a dataset in one step. Raises WorkspaceError."""
    atomic.write(path, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def fence(text: str, language: str = "") -> str:
    ticks = make_fence(text)
    return f"{ticks}{language}\n{text}\n{ticks}"


def make_fence(text: str) -> str:
    """Return a fence longer than any in the text."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return ticks
