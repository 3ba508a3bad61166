"""The digests of the files that results depend on, for engines that declare them.

The import lines of a Python file tell which files it imports. Rather too many than too few are taken: every file of the
project whose path ends in an imported name, wherever it is.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from ci_eval.core.base.files import below, read_own
from ci_eval.core.catalogs import rankers
from ci_eval.core.grammar.imports.named import NEAR, Name, read_module_names
from ci_eval.jobs.preparation import Prepared
from ci_eval.plugins.adapters.engine import Closure, find_closure

SOURCES = (".py", ".pyi")
"""The suffixes of the files whose imports are followed."""
OWN = ("__init__",)
"""The last part of the name of the file that stands for its folder."""

_COMMENT = re.compile(r"#[^\n]*")
_BRACKETS = re.compile(r"\([^()]*\)")
_STAR = re.compile(r"\bimport\s*\(?\s*\*")
_STAR_OF = re.compile(r"\bfrom\s+([.\w]+)\s+import\s*\(?\s*\*")


def closures(prepared: Prepared) -> dict[str, str]:
    """Return the digest of everything that results in a source file depend on, by path; empty if that is the whole
    project."""
    closure = find_closure(prepared.engine)
    is_ranked = prepared.ranker.name != rankers.ENGINE_ORDER
    if closure is Closure.PROJECT or is_ranked or prepared.records or prepared.around:
        # Other completion types order by the names of the whole project.
        return {}
    root = prepared.project.root
    if closure is Closure.FILE:
        return {path: _content_digest(root, path) for path in below(root, root, prepared.language.suffixes)}
    return digest_imports(root)


def digest_imports(root: Path) -> dict[str, str]:
    """Return the digests of Python files whose results depend on what they import, by path."""
    everything = sorted(below(root, root, ("",), ignored=()))
    contents = {path: _content_digest(root, path) for path in everything}
    sources = [path for path in everything if path.endswith(SOURCES)]
    # A new file may be what an import now finds, and its name may be suggested.
    # Type checkers take `__builtins__.pyi` for a part of the language.
    seen_by_all = (
        path for path in everything if not path.endswith(SOURCES) or PurePosixPath(path).stem == "__builtins__"
    )
    shared = _digest([*everything, *(contents[path] for path in seen_by_all)])
    reached = _follow_imports(root, sources)
    known: dict[int, str] = {}
    # Files of one import cycle share their set, so its digest is made once.
    for bits in set(reached):
        among = (path for rank, path in enumerate(sources) if bits >> rank & 1)
        known[bits] = _digest([shared, *(f"{path} {contents[path]}" for path in among)])
    return {path: known[bits] for path, bits in zip(sources, reached, strict=True)}


def _content_digest(root: Path, path: str) -> str:
    return hashlib.blake2b(read_own(root, path), digest_size=16).hexdigest()


def _digest(parts: Sequence[str]) -> str:
    # A path may hold bytes that are not UTF-8.
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _follow_imports(root: Path, sources: Sequence[str]) -> list[int]:
    """Return the sources that each source imports, directly or not, itself among them, as a set of bits."""
    by_ending = _index_endings(sources)
    texts = (read_own(root, path).decode(errors="replace") for path in sources)
    edges = [sorted(set(_find_imports(path, text, by_ending))) for path, text in zip(sources, texts, strict=True)]
    # A set of bits is one integer, so a union is one operation.
    reached = [1 << rank for rank in range(len(sources))]
    changing = True
    # Imports may form cycles, so the sets grow until none changes.
    while changing:
        changing = False
        for rank, targets in enumerate(edges):
            bits = reached[rank]
            for target in targets:
                bits |= reached[target]
            changing = changing or bits != reached[rank]
            reached[rank] = bits
    return reached


def _index_endings(sources: Sequence[str]) -> Mapping[Name, list[int]]:
    """Return the ranks of the sources, by each end of their module's whole name, in parts."""
    ranks: dict[Name, list[int]] = defaultdict(list)
    for rank, path in enumerate(sources):
        parts = PurePosixPath(path)
        stem = (*parts.parent.parts, parts.name.partition(".")[0])
        for name in {stem, stem[:-1] if stem[-1:] == OWN else stem}:
            for begin in range(len(name)):
                ranks[name[begin:]].append(rank)
    return ranks


def _find_imports(path: str, text: str, places: Mapping[Name, list[int]]) -> Iterator[int]:
    plain = _COMMENT.sub("", text)
    # What stands in brackets, or after other statements on a line, is seen too.
    folded = _BRACKETS.sub(lambda brackets: brackets[0].replace("\n", " "), plain.replace("\\\n", " "))
    for name in read_module_names(f"{text}\n{re.sub('[;:]', chr(10), folded)}"):
        parts = tuple(part for part in name if part != NEAR)
        for end in range(1, len(parts) + 1):
            yield from places.get(parts[:end], ())
        if not parts:
            # The files that stand for the folders that the file is in.
            for folder in PurePosixPath(path).parents:
                yield from places.get((*folder.parts, *OWN), ())
    if _STAR.search(text):
        # `__all__` may name modules, and everything that is taken may come from a folder's own file.
        for match in _STAR_OF.finditer(folded):
            yield from _inside(match[1].rstrip(".").rpartition(".")[2], path, places)


def _inside(package: str, path: str, places: Mapping[Name, list[int]]) -> Iterator[int]:
    """Yield the files directly in folders of that name; for a name of dots alone, those beside the file or in a folder
    above."""
    folders = {package} if package else {parent.name for parent in PurePosixPath(path).parents}
    for name, ranks in places.items():
        if len(name) == 2 and name[0] in folders:
            yield from ranks
