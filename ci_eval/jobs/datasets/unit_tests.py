"""The dataset unit-tests, made from projects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path

from ci_eval import machine
from ci_eval.ci import Screen
from ci_eval.errors import NothingToEvaluate
from ci_eval.fetch import project, sealed
from ci_eval.jobs.datasets import telling
from ci_eval.mining import record
from ci_eval.mining.licences import PERMISSIVE, licence_of
from ci_eval.mining.unit_tests import languages
from ci_eval.mining.unit_tests.contract import Dialect
from ci_eval.mining.unit_tests.reading import Contents, read_project
from ci_eval.mining.unit_tests.records import Mined, Origin, Selection, records


@dataclass(frozen=True, kw_only=True)
class MinedProject:
    """What was found in one project."""

    spec: str
    licence: str
    contents: Contents
    mined: Mined


def mine(
    specs: Sequence[str],
    language: str,
    output: Path,
    selection: Selection,
    *,
    any_licence: bool,
    jobs: int,
    screen: Screen,
) -> None:
    """Write the records of all projects, in the order of `specs`, and tell what became of each test.

    Raises ConfigError, PreparationError, NothingToEvaluate.
    """
    dialect = languages.CATALOG.load(language)
    found: list[MinedProject] = []
    known: set[str] = set()
    with sealed.care(tell=screen.warn):
        for spec in specs:
            screen.say(f"Preparing {spec}")
            each = project.prepare(spec, cache=machine.cache_folder())
            licence = licence_of(each.root)
            if licence not in PERMISSIVE and not any_licence:
                screen.warn(
                    f"{spec} is left out: its licence is {licence or 'not known'}, none that lets its code be passed "
                    "on; --any-licence takes it all the same"
                )
                continue
            origin = Origin(info=each.info, root=each.root, licence=licence)
            found.append(_mined(origin, dialect, selection, known, jobs=jobs, screen=screen))
    if not found:
        raise NothingToEvaluate("no project is left: see the warnings above for why each was left out")
    _tell(found, screen)
    lines = [line for each in found for line in each.mined.lines]
    if not lines:
        raise NothingToEvaluate(
            f"no test of {', '.join(specs)} could be paired with a {dialect.name} function: see the table above, and "
            "whether the project's archive holds its tests (a wheel seldom does)"
        )
    record.write(output, lines)
    screen.result(f"{len(lines):,} records")
    screen.result(str(output))


def _mined(
    origin: Origin, dialect: Dialect, selection: Selection, known: set[str], *, jobs: int, screen: Screen
) -> MinedProject:
    with screen.steps(f"Reading {origin.info.name}", "files") as steps:
        contents = read_project(origin.root, dialect, jobs=jobs, advance=steps.show)
    return MinedProject(
        spec=origin.info.spec,
        licence=origin.licence,
        contents=contents,
        mined=records(contents, origin, dialect, selection, known),
    )


def _tell(found: Sequence[MinedProject], screen: Screen) -> None:
    sizes: Mapping[str, Callable[[Contents], Sized]] = {
        "files": lambda each: each.paths,
        "not read": lambda each: each.troubles,
        "with syntax errors": lambda each: each.broken,
        "functions": lambda each: each.functions,
        "tests": lambda each: each.tests,
    }
    facts = {"licence": [each.licence or "not known" for each in found]}
    facts |= {name: [f"{len(size(each.contents)):,}" for each in found] for name, size in sizes.items()}
    telling.table([each.spec for each in found], facts, [each.mined.fates for each in found], screen)
    for each in found:
        for path, reason in each.contents.troubles:
            screen.warn(f"{each.spec}: {path}: {reason}")
