"""The files of a project that are evaluated, and the names that the whole project declares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.base.files import NOT_SOURCE, below, read_own
from ci_eval.core.contracts import Declarations, Language
from ci_eval.core.grammar.document import NotText, check_lines, decode_file
from ci_eval.core.grammar.syntax import choose_grammar
from ci_eval.core.model import ActionsConfig

BINARY_PREFIX = 8192
"""The number of bytes at the beginning of a file that are read to tell whether it is text."""


@dataclass(frozen=True, kw_only=True)
class Source:
    project: str
    path: str
    text: str
    language: Language
    seed: int = 0

    @property
    def grammar(self) -> str:
        """Return the grammar for a file of that name; the longest suffix decides, else the language's first one."""
        return choose_grammar(self.language.grammars, self.path)


def source_files(root: Path, language: Language, config: ActionsConfig) -> Iterator[str]:
    """Return the sorted paths of the files to evaluate, below the root. Raises ConfigError if an evaluation root is
    missing or is not in the project."""
    ignored = NOT_SOURCE | set(config.ignore_file_names)
    # Evaluation roots may overlap.
    paths: set[str] = set()
    for evaluation_root in config.evaluation_roots or (".",):
        start = root / evaluation_root
        if not start.resolve().is_relative_to(root.resolve()) or not start.exists():
            raise ConfigError(
                f"actions.evaluationRoots: {evaluation_root!r} is not in the project; paths are relative to its root"
            )
        paths.update(_below(start, root, language.suffixes, ignored))
    return iter(sorted(paths))


def _below(start: Path, root: Path, suffixes: Sequence[str], ignored: frozenset[str]) -> Iterator[str]:
    # A file that is named by itself is evaluated, whatever its suffix.
    if start.is_file():
        yield start.relative_to(root).as_posix()
        return
    for path in below(start, root, suffixes, ignored):
        if "" not in suffixes or _is_text(root / path):
            yield path


def _is_text(path: Path) -> bool:
    with path.open("rb") as file:
        # Like git, this takes a NUL byte for the sign of pictures and programs.
        return b"\0" not in file.read(BINARY_PREFIX)


def declarations(root: Path, language: Language, config: ActionsConfig) -> Declarations:
    """Return the names that each package of the whole project declares, whether its files are evaluated or not."""
    by_package: dict[str, frozenset[str]] = {}
    if language.declare is None:
        return by_package
    # Evaluated files may use names of files outside the evaluation roots.
    everything = ActionsConfig(ignore_file_names=config.ignore_file_names)
    for path in source_files(root, language, everything):
        try:
            # This raises for a name that is not UTF-8.
            path.encode()
            data = read_own(root, path)
            text = "" if len(data) > config.max_file_size else decode_file(root, path, data)
            check_lines(text)
        except (NotText, OSError, UnicodeEncodeError):
            # The error is reported where the file itself is evaluated.
            continue
        package, names = language.declare(text, path)
        by_package[package] = by_package.get(package, frozenset()) | names
    return by_package
