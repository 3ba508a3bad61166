"""The samples of datasets, with their prompts and splits, and the detection of a project's licence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
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
    """A sample of a dataset. `cluster` is the sample's repository: samples of one repository resemble each other."""

    id: str
    cluster: str
    language: str
    instruction: str = ""
    """The prompt. In it, `{name}` stands for the entry `name` of `context`."""
    context: dict[str, str]
    references: tuple[str, ...]
    meta: dict[str, object]
    run: Runnable | UnsetType = UNSET
    """Set if the answer is a test and the project allows running it."""


def spread_prompts(
    lines: Sequence[Line], templates: Sequence[str], language: str, seed: int, fill: Callable[[str, Line], str]
) -> list[Line]:
    """Return the samples with prompts as their instructions. `meta.prompt` is the prompt's name. Each prompt is used
    equally often, give or take one, both within a cluster and over all samples."""
    by_name = {f"{language}-{number}": template for number, template in enumerate(templates, 1)}
    # The prompts take turns. Samples of a cluster are neighbours here, so each cluster uses all prompts equally often.
    order = sorted(lines, key=lambda line: (line.cluster, draw(seed, f"prompt of {line.id}")))
    turns = sorted(by_name, key=lambda name: draw(seed, f"turn of {name}"))
    prompt_of = {line.id: turns[number % len(turns)] for number, line in enumerate(order)}
    return [
        replace(line, instruction=fill(by_name[name], line), meta={**line.meta, "prompt": name})
        for line in lines
        for name in [prompt_of[line.id]]
    ]


def read_prompts(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the prompts by language. In a file, a line of four dashes separates two prompts."""
    files = {language: folder / f"prompts_{language}.txt" for language in ("en", "ru")}
    return {language: tuple(path.read_text("utf-8").split("----\n")) for language, path in files.items()}


def assign_split(cluster: str, shares: tuple[int, int, int], seed: int) -> str:
    """Return the split of a cluster. `shares`: the percentages of clusters for training, validation and test."""
    # Samples of a cluster resemble each other, so the whole cluster goes into one split.
    training, validation, _ = shares
    place = 100 * draw(seed, f"split {cluster.lower()}")
    return "train" if place < training else "validation" if place < training + validation else "test"


def identity(*parts: str) -> str:
    """Return an id that depends only on `parts`, so it is the same in every run."""
    return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def write(path: Path, lines: Iterable[Line]) -> None:
    """Write the samples as JSON lines. If writing fails, the old file stays. Raises WorkspaceError."""
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
"""Licences that allow redistribution: those in MERA's UnitTests card, plus ISC and PSF-2.0, which add no conditions."""

NAMES = re.compile(
    r"(?:(?:un)?licen[cs]e|copying|(?:.*[-_.])?licen[cs]e|metadata|package\.json|(?:pyproject|cargo)\.toml)"
    r"(?:\.(?:txt|md|rst|markdown))?",
    re.IGNORECASE,
)
"""Names of files that may state a licence."""
# A phrase that identifies each licence. The first match counts, so a licence comes before licences that it quotes.
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
"""Only the first bytes of a file are searched, since a licence is at the beginning."""


def detect_licence(root: Path) -> str:
    """Return the SPDX identifier, or an empty string if no file below `root` states a known licence."""
    for folder in (root, *sorted(root.glob("*.dist-info")), root / "META-INF"):
        names = [path.name for path in folder.iterdir() if NAMES.fullmatch(path.name)] if folder.is_dir() else []
        paths = [(folder / name).relative_to(root).as_posix() for name in names]
        for path in sorted(paths, key=lambda path: ("META" in path.upper() or path.endswith((".json", ".toml")), path)):
            # An unreadable file counts as no licence.
            with suppress(OSError):
                if licence := match_licence(read_own(root, path)[:LONGEST].decode(errors="replace")):
                    return licence
    return ""


def match_licence(text: str) -> str:
    """Return the SPDX identifier, or "" if the text neither contains nor names a known licence."""
    # Line ends and comment signs would break up the phrases of TEXTS.
    plain = re.sub(r"[\s*/#]+", " ", text)
    declared = DECLARED.search(text)
    matching = (licence for licence, pattern in TEXTS if re.search(pattern, plain))
    return next(matching, declared[1] if declared else "")
