"""The licence of a project, according to its own files, as an SPDX identifier."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ci_eval.core.base.files import read_own

PERMISSIVE = frozenset(
    "MIT Apache-2.0 BSD-2-Clause BSD-3-Clause ISC 0BSD Unlicense MPL-2.0 EPL-1.0 EPL-2.0 PSF-2.0".split()
)
"""Licences that let samples be passed on: the UnitTests card's list, with ISC and Python's, which ask for no more."""

NAMES = re.compile(
    r"(?:un)?licen[cs]e|copying|(?:.*[-_.])?licen[cs]e|metadata|package\.json|(?:pyproject|cargo)\.toml", re.IGNORECASE
)
"""Names of files that state a licence, without their extension."""
# Phrases that only this licence has, spaces aside. The first match decides, so licences that quote others come first.
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
"""The most bytes of a file that are read, since a licence is at its beginning."""


def detect_licence(root: Path) -> str:
    """Return the SPDX identifier, or an empty string if no file below `root` states a known licence."""
    licences = [licence for path in _files(root) if (licence := match_licence(_text(root, path)))]
    return licences[0] if licences else ""


def match_licence(text: str) -> str:
    """Return the licence that a text is or declares, or an empty string if neither."""
    # Line ends and the signs of comments would break up the phrases.
    plain = re.sub(r"[\s*/#]+", " ", text)
    for licence, pattern in TEXTS:
        if re.search(pattern, plain):
            return licence
    declared = DECLARED.search(text)
    return declared[1] if declared else ""


def _files(root: Path) -> Iterator[str]:
    """Yield the files at the top that may state a licence, licences before metadata; then those of a wheel's own
    metadata."""
    for folder in (root, *sorted(root.glob("*.dist-info")), root / "META-INF"):
        if folder.is_dir():
            names = [path.name for path in folder.iterdir() if NAMES.fullmatch(_strip_suffix(path.name))]
            yield from sorted(
                ((folder / name).relative_to(root).as_posix() for name in names),
                key=lambda name: ("META" in name.upper() or name.endswith((".json", ".toml")), name),
            )


def _strip_suffix(name: str) -> str:
    return name if name == "package.json" else re.sub(r"\.(?:txt|md|rst|markdown)$", "", name, flags=re.IGNORECASE)


def _text(root: Path, path: str) -> str:
    try:
        return read_own(root, path)[:LONGEST].decode(errors="replace")
    except OSError:
        # A licence that cannot be read allows nothing.
        return ""
