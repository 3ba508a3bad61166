"""The dataset unit-tests, built from projects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from functools import partial
from pathlib import Path

import msgspec

from ci_eval.ci import Screen
from ci_eval.core import machine
from ci_eval.core.base.errors import NothingToEvaluate
from ci_eval.fetch import project, sealed
from ci_eval.jobs.datasets import telling
from ci_eval.plugins.mining import record
from ci_eval.plugins.mining.record import PERMISSIVE, detect_licence
from ci_eval.plugins.mining.unit_tests import languages
from ci_eval.plugins.mining.unit_tests.records import (
    PROMPTS,
    Contents,
    Mined,
    Origin,
    Selection,
    fill_framework,
    read_project,
    records,
    translate_kind,
)


class MinedProject(msgspec.Struct, frozen=True, kw_only=True):
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
    prompts: str = "en",
) -> None:
    """Write the records in the order of `specs`, and print the outcome of each test. `prompts`: their language. Raises
    ConfigError, PreparationError, NothingToEvaluate."""
    dialect = languages.CATALOG.load(language)
    mined_projects: list[MinedProject] = []
    known: set[str] = set()
    with sealed.care(tell=screen.warn):
        for spec in specs:
            screen.say(f"Preparing {spec}")
            prepared = project.prepare(spec, cache=machine.cache_folder())
            licence = detect_licence(prepared.root)
            if licence not in PERMISSIVE and not any_licence:
                screen.warn(
                    f"{spec} is left out: its licence is {licence or 'not known'}, none that lets its code be passed "
                    "on; --any-licence takes it all the same"
                )
                continue
            origin = Origin(info=prepared.info, root=prepared.root, licence=licence)
            with screen.steps(f"Reading {prepared.info.name}", "files") as steps:
                contents = read_project(prepared.root, dialect, jobs=jobs, advance=steps.show)
            mined = records(contents, origin, dialect, selection, known)
            mined_projects.append(
                MinedProject(spec=prepared.info.spec, licence=licence, contents=contents, mined=mined)
            )
    if not mined_projects:
        raise NothingToEvaluate("no project is left: see the warnings above for why each was left out")
    _tell(mined_projects, screen)
    lines = [translate_kind(line, prompts) for mined_project in mined_projects for line in mined_project.mined.lines]
    if not lines:
        raise NothingToEvaluate(
            f"no test of {', '.join(specs)} could be paired with a {dialect.name} function: see the table above, and "
            "whether the project's archive holds its tests (a wheel seldom does)"
        )
    fill = partial(fill_framework, language=prompts)
    record.write(output, record.spread_prompts(lines, PROMPTS[prompts], prompts, selection.seed, fill))
    screen.result(f"{len(lines):,} records")
    screen.line(str(output))


def _tell(mined_projects: Sequence[MinedProject], screen: Screen) -> None:
    sizes: Mapping[str, Callable[[Contents], Sized]] = {
        "files": lambda contents: contents.paths,
        "not read": lambda contents: contents.troubles,
        "with syntax errors": lambda contents: contents.broken,
        "functions": lambda contents: contents.functions,
        "tests": lambda contents: contents.tests,
    }
    facts = {"licence": [mined_project.licence or "not known" for mined_project in mined_projects]}
    facts |= {
        name: [f"{len(size(mined_project.contents)):,}" for mined_project in mined_projects]
        for name, size in sizes.items()
    }
    telling.table(
        [mined_project.spec for mined_project in mined_projects],
        facts,
        [mined_project.mined.fates for mined_project in mined_projects],
        screen,
    )
    for mined_project in mined_projects:
        for path, reason in mined_project.contents.troubles:
            screen.warn(f"{mined_project.spec}: {path}: {reason}")
