"""The samples of datasets, their prompts and splits, and the licence of a project."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from ci_eval.core.base import atomic
from ci_eval.core.base.chance import draw
from ci_eval.core.base.files import read_own
from ci_eval.core.model import Runnable


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A sample of a dataset. `cluster` is its repository, since samples of one repository resemble each other."""

    id: str
    cluster: str
    language: str
    instruction: str = ""
    """The prompt, in which `{name}` means the text `name` of the context."""
    context: dict[str, str]
    references: tuple[str, ...]
    meta: dict[str, object]
    run: Runnable | UnsetType = UNSET
    """Set if the answer is a test and the project allows running it."""


def spread_prompts(
    lines: Sequence[Line], templates: Sequence[str], language: str, seed: int, fill: Callable[[str, Line], str]
) -> list[Line]:
    """Return the samples, each with one of the prompts as its instruction; `meta.prompt` has the prompt's name. Prompts
    are equally frequent in each cluster and in all samples, give or take one."""
    by_name = {f"{language}-{number}": template for number, template in enumerate(templates, 1)}
    # Sorted by cluster, so that every prompt is used in all projects alike.
    order = sorted(lines, key=lambda line: (line.cluster, draw(seed, f"prompt of {line.id}")))
    turns = sorted(by_name, key=lambda name: draw(seed, f"turn of {name}"))
    prompt_of = {line.id: turns[number % len(turns)] for number, line in enumerate(order)}
    return [
        replace(line, instruction=fill(by_name[name], line), meta={**line.meta, "prompt": name})
        for line in lines
        for name in [prompt_of[line.id]]
    ]


def read_prompts(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the prompts by language. Lines of four dashes separate the prompts in a file."""
    files = {language: folder / f"prompts_{language}.txt" for language in ("en", "ru")}
    return {language: tuple(path.read_text("utf-8").split("----\n")) for language, path in files.items()}


def assign_split(cluster: str, shares: tuple[int, int, int], seed: int) -> str:
    """Return the split of a cluster. `shares`: per cent of the clusters for training, validation and test."""
    # All samples of a cluster are in one split, since they resemble each other.
    training, validation, _ = shares
    place = 100 * draw(seed, f"split {cluster.lower()}")
    return "train" if place < training else "validation" if place < training + validation else "test"


def identity(*parts: str) -> str:
    """Return an id that is the same in every run, whatever other samples there are."""
    return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def write(path: Path, lines: Iterable[Line]) -> None:
    """Write lines of JSON, the whole file or nothing. Raises WorkspaceError."""
    atomic.write(path, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def fence(text: str, language: str = "") -> str:
    ticks = make_fence(text)
    return f"{ticks}{language}\n{text}\n{ticks}"


def make_fence(text: str) -> str:
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return ticks


# --------------------------------------------------------------------------------------------------------- licences

PERMISSIVE = frozenset(
    "MIT Apache-2.0 BSD-2-Clause BSD-3-Clause ISC 0BSD Unlicense MPL-2.0 EPL-1.0 EPL-2.0 PSF-2.0".split()
)
"""Licences that allow redistribution: the UnitTests card's list, and two without further conditions, ISC and
Python's."""

NAMES = re.compile(
    r"(?:(?:un)?licen[cs]e|copying|(?:.*[-_.])?licen[cs]e|metadata|package\.json|(?:pyproject|cargo)\.toml)"
    r"(?:\.(?:txt|md|rst|markdown))?",
    re.IGNORECASE,
)
"""Names of files that may state a licence."""
# A phrase that identifies each licence. The first match decides, so licences that quote others come first.
TEXTS = (
    ("AGPL", r"GNU AFFERO GENERAL PUBLIC LICENSE"),
    ("LGPL", r"GNU LESSER GENERAL PUBLIC LICENSE|GNU LIBRARY GENERAL PUBLIC LICENSE"),
    ("GPL", r"GNU GENERAL PUBLIC LICENSE"),
    ("Apache-2.0", r"Apache License,? Version 2\.0"),
    ("MPL-2.0", r"Mozilla Public License,?(?: Version| v\.)? 2\.0"),
    ("EPL-2.0", r"Eclipse Public License -? ?v ?2\.0"),
    ("EPL-1.0", r"Eclipse Public License -? ?v ?1\.0"),
    ("Unlicense", r"This is free and unencumbered software released into the public domain"),
    ("PSF-2.0", r"PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2"),
    ("BSD-3-Clause", r"Redistribution and use in source and binary forms.*Neither the names? of"),
    ("BSD-2-Clause", r"Redistribution and use in source and binary forms"),
    ("MIT", r"Permission is hereby granted, free of charge, to any person obtaining a copy of this software"),
    ("ISC", r"Permission to use, copy, modify,? and/?o?r? ?distribute this software .*copyright notice and this"),
    ("0BSD", r"Permission to use, copy, modify,? and/?o?r? ?distribute this software"),
)
DECLARED = re.compile(
    r'(?:"license": ?"|License-Expression: |^license\s*=\s*(?:\{\s*text\s*=\s*)?["\'])([A-Za-z0-9.+-]+)["\'\s]',
    re.MULTILINE,
)
LONGEST = 100_000
"""Bytes that are read of a file: a licence is at the beginning."""


def detect_licence(root: Path) -> str:
    """Return the SPDX identifier, or an empty string if no file below `root` states a known licence."""
    for path in _files(root):
        try:
            text = read_own(root, path)[:LONGEST].decode(errors="replace")
        except OSError:
            # An unreadable licence allows nothing.
            continue
        if licence := match_licence(text):
            return licence
    return ""


def match_licence(text: str) -> str:
    """Return the SPDX identifier, or "" if the text neither is nor declares a known licence."""
    # Line ends and comment signs would break up the phrases.
    plain = re.sub(r"[\s*/#]+", " ", text)
    declared = DECLARED.search(text)
    matching = (licence for licence, pattern in TEXTS if re.search(pattern, plain))
    return next(matching, declared[1] if declared else "")


def _files(root: Path) -> Iterator[str]:
    for folder in (root, *sorted(root.glob("*.dist-info")), root / "META-INF"):
        if folder.is_dir():
            names = [path.name for path in folder.iterdir() if NAMES.fullmatch(path.name)]
            yield from sorted(
                ((folder / name).relative_to(root).as_posix() for name in names),
                key=lambda name: ("META" in name.upper() or name.endswith((".json", ".toml")), name),
            )
