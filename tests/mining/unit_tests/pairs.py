"""Small projects, and the pairs in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from ci_eval.core.model import ProjectInfo
from ci_eval.plugins.mining.record import Line
from ci_eval.plugins.mining.unit_tests.languages import CATALOG
from ci_eval.plugins.mining.unit_tests.pairing import Parsed
from ci_eval.plugins.mining.unit_tests.records import Contents, Mined, Origin, Selection, read_file, records

INFO = ProjectInfo(spec="path:demo", name="demo", revision="1", checksum="0" * 64)


def mined(
    root: Path,
    language: str,
    files: Mapping[str, str],
    selection: Selection | None = None,
    known: set[str] | None = None,
    spec: str = INFO.spec,
) -> Mined:
    """The records of a project of these files."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    dialect = CATALOG.load(language)
    sources = sorted(path for path in files if path.endswith(tuple(dialect.grammars)))
    parsed = [each for path in sources if isinstance(each := read_file(root, language, path), Parsed)]
    contents = Contents(
        paths=sources,
        functions=[function for each in parsed for function in each.functions],
        tests=[test for each in parsed for test in each.tests],
        broken=[],
        troubles=[],
    )
    origin = Origin(info=replace(INFO, spec=spec), root=root, licence="MIT")
    return records(contents, origin, dialect, selection or Selection(), set() if known is None else known)


def pairs(found: Mined) -> dict[object, object]:
    """Test → function."""
    return {line.meta["test"]: line.meta["focal"] for line in found.lines}


def fate(found: Mined) -> str:
    """That of the only test."""
    (only,) = +found.outcomes
    return only


def shown(line: Line, name: str) -> str:
    """A text of the context without its fence."""
    return "\n".join(line.context[name].split("\n")[1:-1])
