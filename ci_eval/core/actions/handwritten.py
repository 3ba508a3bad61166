"""The search for source files that were generated or copied from other projects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from ci_eval.core.base.files import is_own, read_own

VENDORED = re.compile(r"_?vendor(?:s|ed)?|third[-_]?party|3rd[-_]?party|bower_components|Godeps", re.IGNORECASE)
"""The names of folders with copies of other projects' code, among those that GitHub's linguist knows (vendor.yml)."""
GENERATED = re.compile(r".*(?:_pb2(?:_grpc)?\.pyi?|[._](?:g|pb|min|gen|generated|designer)\.\w+|\.pb\.gw\.go)")
HEAD_LINES = 30
"""The number of lines at the beginning of a file in which generators say what they are."""
MARK = re.compile(
    r"^\s*(?:#|//|/?\*|--|;|<!--|%|\"\"\"|''').*(?:DO NOT (?:EDIT|MODIFY)|@generated\b|<auto-?generated)", re.MULTILINE
)
"""A comment by which a generator says that it wrote the file."""
ATTRIBUTE = re.compile(r"([-!]?)linguist-(generated|vendored)(?:=(\w+))?")
WILDCARDS = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def find_left_out(root: Path, paths: Iterable[str], evaluation_roots: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the files that the project did not write itself, each with "generated" or "vendored".

    `.gitattributes` decides by `linguist-generated` and `linguist-vendored`; else names of files and of folders below
    an evaluation root, and the comment at a file's beginning. A file that is an evaluation root itself is never among
    them.
    """
    attributes = list(_read_attributes(root))
    starts = [PurePosixPath(start) for start in evaluation_roots]
    for path in map(PurePosixPath, paths):
        if path in starts:
            continue
        stated = {kind: holds for pattern, kind, holds in attributes if pattern.fullmatch(str(path))}
        below = [path.relative_to(start).parent.parts for start in starts if path.is_relative_to(start)]
        folders = min(below, key=len, default=path.parent.parts)
        if stated.get("vendored", any(map(VENDORED.fullmatch, folders))):
            yield str(path), "vendored"
        elif stated.get("generated", GENERATED.fullmatch(path.name) or _is_marked(root, str(path))):
            yield str(path), "generated"


def _is_marked(root: Path, path: str) -> bool:
    try:
        lines = read_own(root, path).decode(errors="replace").splitlines()[:HEAD_LINES]
    except OSError:
        # The error is reported where the file itself is evaluated.
        return False
    return MARK.search("\n".join(lines)) is not None


def _read_attributes(root: Path) -> Iterator[tuple[re.Pattern[str], str, bool]]:
    """Yield what the project's `.gitattributes` say about generated and vendored files: a pattern of paths, the kind,
    and whether the files are of that kind. Later lines go before earlier ones, deeper files before those above."""
    for file in sorted(root.rglob(".gitattributes"), key=lambda file: (len(file.parts), file)):
        lines = file.read_text("utf-8", "replace").splitlines() if is_own(file, root) else []
        for line in lines:
            pattern, *words = line.split() or [""]
            for match in filter(None, map(ATTRIBUTE.fullmatch, words)):
                folder = file.parent.relative_to(root).as_posix()
                yield _compile(folder, pattern), match[2], not match[1] and match[3] != "false"


def _compile(folder: str, pattern: str) -> re.Pattern[str]:
    # Without a slash, the pattern is for names in any folder below.
    pattern = pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"
    parts = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?)", pattern if folder == "." else f"{folder}/{pattern}")
    return re.compile("".join(WILDCARDS.get(part) or re.escape(part) for part in parts))
