"""Which files of a project are evaluated, and what the whole project declares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.contracts import Declarations, Language
from ci_eval.errors import ConfigError
from ci_eval.files import NOT_SOURCE, below, read_own
from ci_eval.grammar.document import NotText, check_lines, decode
from ci_eval.model import ActionsConfig

BINARY_PREFIX = 8192
"""Bytes at the beginning of a file that are read to tell whether it is text."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A source file, with what is needed to make its actions."""

    project: str
    path: str
    text: str
    language: Language
    seed: int = 0

    @property
    def grammar(self) -> str:
        """The grammar for a file of that name; the longest suffix decides."""
        grammars = self.language.grammars
        return grammars[max((suffix for suffix in grammars if self.path.endswith(suffix)), key=len)]


def source_files(root: Path, language: Language, config: ActionsConfig) -> Iterator[str]:
    """Paths of the files to evaluate, below the root and sorted. Raises ConfigError for an evaluation root that is
    missing."""
    ignored = NOT_SOURCE | set(config.ignore_file_names)
    found: set[str] = set()
    for given in config.evaluation_roots or (".",):
        start = root / given
        if not start.resolve().is_relative_to(root.resolve()) or not start.exists():
            raise ConfigError(
                f"actions.evaluationRoots: {given!r} is not in the project; paths are relative to its root"
            )
        found.update(_below(start, root, language.suffixes, ignored))
    return iter(sorted(found))


def _below(start: Path, root: Path, suffixes: Sequence[str], ignored: frozenset[str]) -> Iterator[str]:
    if start.is_file():
        yield start.relative_to(root).as_posix()
        return
    for path in below(start, root, suffixes, ignored):
        if "" not in suffixes or _is_text(root / path):
            yield path


def _is_text(path: Path) -> bool:
    """Whether a file is text: like git, takes a NUL byte for the sign of pictures and programs. For languages of any
    file."""
    with path.open("rb") as file:
        return b"\0" not in file.read(BINARY_PREFIX)


def declarations(root: Path, language: Language, config: ActionsConfig) -> Declarations:
    """What the files of the whole project declare, whether they are evaluated or not."""
    found: dict[str, frozenset[str]] = {}
    if language.declare is None:
        return found
    everything = ActionsConfig(ignore_file_names=config.ignore_file_names)
    for path in source_files(root, language, everything):
        try:
            path.encode()
            data = read_own(root, path)
            text = "" if len(data) > config.max_file_size else decode(data)
            check_lines(text)
        except (NotText, OSError, UnicodeEncodeError):
            # The error is reported where the file itself is evaluated.
            continue
        package, names = language.declare(text, path)
        found[package] = found.get(package, frozenset()) | names
    return found
