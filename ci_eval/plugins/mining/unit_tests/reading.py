"""The reader of a project's files, each into its functions and tests."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ci_eval.core.base.files import below, read_own
from ci_eval.core.grammar.document import NotText, decode
from ci_eval.core.grammar.syntax import parser
from ci_eval.plugins.mining.sources import LARGEST, read_all
from ci_eval.plugins.mining.unit_tests.contract import Dialect, Function, Parsed, Test
from ci_eval.plugins.mining.unit_tests.languages import CATALOG


@dataclass(frozen=True, kw_only=True)
class Contents:
    paths: Sequence[str]
    """Paths of all files of the language."""
    functions: Sequence[Function]
    tests: Sequence[Test]
    broken: Sequence[str]
    """Paths of files of which the grammar could not read some part."""
    troubles: Sequence[tuple[str, str]]
    """Path and reason of files that could not be read at all."""


def read_project(root: Path, dialect: Dialect, *, jobs: int, advance: Callable[[int, int], None]) -> Contents:
    """Read all files of the language below `root`, in order of their paths. Calls `advance(done, of)` after each
    file."""
    paths = sorted(below(root, root, tuple(dialect.grammars)))
    parsed, troubles = read_all(paths, read_file, (root, dialect.name), jobs=jobs, advance=advance)
    ordered = [(path, parsed[path]) for path in paths if path in parsed]
    return Contents(
        paths=paths,
        functions=[function for _, file in ordered for function in file.functions],
        tests=[test for _, file in ordered for test in file.tests],
        broken=[path for path, file in ordered if file.broken],
        troubles=sorted(troubles.items()),
    )


def read_file(root: Path, language: str, path: str) -> Parsed | str:
    """Return the functions and tests in a file, or why it cannot be read. Runs in a worker process."""
    dialect = _dialect(language)
    try:
        source = read_source(root, path)
    except (NotText, OSError, UnicodeEncodeError) as error:
        return str(error)
    grammar = dialect.grammars[max((end for end in dialect.grammars if path.endswith(end)), key=len)]
    # Parsing makes many small values, none of which is garbage, so collections would only cost time.
    gc.disable()
    try:
        return dialect.read(source, path, parser(grammar).parse(dialect.mask(source)).root_node)
    finally:
        gc.enable()


def read_source(root: Path, path: str) -> bytes:
    """Return the text of a file with its line ends normalised, as UTF-8. Raises NotText, OSError."""
    # A path that is not UTF-8 fails here, since no sample could hold it.
    path.encode()
    data = read_own(root, path)
    if len(data) > LARGEST:
        raise NotText(f"{len(data):,} bytes are more than {LARGEST:,}")
    return decode(data).encode()


@cache
def _dialect(language: str) -> Dialect:
    return CATALOG.load(language)
