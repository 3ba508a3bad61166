"""The samples that the pairs of a project make, by the filters of MERA's UnitTests card."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from msgspec import UNSET, UnsetType

from ci_eval.core.base.chance import draw
from ci_eval.core.base.files import read_own
from ci_eval.core.model import ProjectInfo, Runnable, Stretch
from ci_eval.core.model.records import REGISTRIES
from ci_eval.plugins.mining.record import Line, assign_split, fence, identity
from ci_eval.plugins.mining.sources import dedent
from ci_eval.plugins.mining.unit_tests.contract import Dialect, Index, Place
from ci_eval.plugins.mining.unit_tests.pairing import Fate, Pair, pair
from ci_eval.plugins.mining.unit_tests.prompts import UNKNOWN
from ci_eval.plugins.mining.unit_tests.reading import Contents, read_source

PLACEHOLDER = "#focal function/method here"
LONGEST_TEST = 5_000
"""Number of characters that a test must stay below."""
LONGEST_INPUT = 70_000
"""Characters that the prompt's context must stay below."""
MOST_ASSERTIONS = 20
"""Occurrences of the word `assert` in a test."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    info: ProjectInfo
    root: Path
    licence: str


@dataclass(frozen=True, kw_only=True)
class Selection:
    limit: int = 200
    """The most samples of one project. If there are more, they are sampled."""
    seed: int = 0
    shares: tuple[int, int, int] = (0, 0, 100)
    """Per cent of the projects for training, validation and test."""
    only_high: bool = False
    """True if only pairs of high confidence count."""


@dataclass
class Mined:
    lines: list[Line] = field(default_factory=list)
    fates: Counter[Fate] = field(default_factory=Counter)


def records(contents: Contents, origin: Origin, dialect: Dialect, selection: Selection, known: set[str]) -> Mined:
    """Return samples from the project's pairs. `known` has the digests of what is in the dataset already; those of this
    project are added."""
    mined = Mined()
    index = Index(contents.functions, contents.paths)
    sources: dict[str, bytes] = {}

    def source(path: str) -> bytes:
        return sources[path] if path in sources else sources.setdefault(path, read_source(origin.root, path))

    beside: dict[str, list[Place]] = defaultdict(list)
    for test in contents.tests:
        beside[test.place.path].append(test.place)
    for test in contents.tests:
        pairing = pair(test, index, dialect)
        if not isinstance(pairing, Pair):
            mined.fates[pairing] += 1
            continue
        line = _line(pairing, origin, dialect, selection, source, beside[test.place.path])
        if refused := _refuse(line, pairing, selection, known):
            mined.fates[refused] += 1
        else:
            mined.lines.append(line)
    kept = sorted(mined.lines, key=lambda line: draw(selection.seed, line.id))[: selection.limit]
    mined.fates["over the limit"] = len(mined.lines) - len(kept)
    mined.fates["paired"] = len(kept)
    chosen = {line.id for line in kept}
    mined.lines = [line for line in mined.lines if line.id in chosen]
    return mined


def _refuse(line: Line, pairing: Pair, selection: Selection, known: set[str]) -> Fate | None:
    test = line.references[0]
    if len(test) >= LONGEST_TEST:
        return "long test"
    if sum(map(len, line.context.values())) >= LONGEST_INPUT:
        return "long input"
    if test.count("assert") > MOST_ASSERTIONS:
        return "many assertions"
    if selection.only_high and pairing.confidence != "high":
        return "low confidence"
    same = identity(*line.context["focal_func"].split(), "", *test.split())
    if same in known:
        return "duplicate"
    known.add(same)
    return None


def _line(
    pairing: Pair,
    origin: Origin,
    dialect: Dialect,
    selection: Selection,
    source: Callable[[str], bytes],
    beside: Sequence[Place],
) -> Line:
    test, function = pairing.test, pairing.function
    of_test, of_function = source(test.place.path), source(function.place.path)
    reference = dedent(of_test, test.place.begin, test.place.end)
    focal = dedent(of_function, function.place.begin, function.place.end)
    around = (of_function[: function.place.begin], PLACEHOLDER.encode(), of_function[function.place.end :])
    surrounding = b"".join(around).decode()
    framework = ""
    if dialect.framework:
        # The nearest package.json above the test that names one decides.
        packages = _packages(origin.root, test.place.path)
        framework = next(filter(None, map(dialect.framework, packages)), UNKNOWN)
    return Line(
        id=identity(origin.info.name, test.place.path, reference, function.place.path, focal),
        cluster=origin.info.name,
        language=dialect.name,
        context={
            "focal_func": fence(focal, dialect.name),
            "focal_func_context": fence(f"#{function.place.path}\n{surrounding}", dialect.name),
            "test_func_type": test.kind,
            "test_func_context": fence(test.context, dialect.name),
            "language": dialect.name,
            "focal_file_path": function.place.path,
            "test_file_path": test.place.path,
            "test_framework": framework,
        },
        references=(reference,),
        meta={**_meta(pairing, origin), "split": assign_split(origin.info.name, selection.shares, selection.seed)},
        run=_run(pairing, origin, dialect, source, beside),
    )


def _run(
    pairing: Pair, origin: Origin, dialect: Dialect, source: Callable[[str], bytes], beside: Sequence[Place]
) -> Runnable | UnsetType:
    """Return how the test is run: in its project, by itself. `beside` has the locations of the tests in its file, its
    own among them."""
    focal, own = pairing.function.place, pairing.test.place
    if not dialect.nothing or origin.info.spec.partition(":")[0] not in REGISTRIES:
        return UNSET
    kept, end, begin = b"", 0, 0
    test = source(own.path)
    for location in sorted(beside, key=lambda place: place.begin):
        kept += test[end : location.begin]
        if location == own:
            # A stretch counts code points, a place counts bytes.
            begin = len(kept.decode())
        else:
            # All tests in the file are judged, so the others must go.
            kept += dialect.nothing.encode()
        end = location.end
    code = source(focal.path)
    return Runnable(
        project=origin.info.spec,
        files={own.path: (kept + test[end:]).decode()},
        focal=Stretch(path=focal.path, begin=len(code[: focal.begin].decode()), end=len(code[: focal.end].decode())),
        test=Stretch(path=own.path, begin=begin, end=begin),
    )


def _meta(pairing: Pair, origin: Origin) -> dict[str, object]:
    test, function = pairing.test, pairing.function
    return {
        "project": origin.info.spec,
        "revision": origin.info.revision,
        "licence": origin.licence,
        "test": ".".join(filter(None, (test.owner, test.name))),
        "testPath": test.place.path,
        "testLines": test.place.lines,
        "focal": ".".join(filter(None, (function.owner, function.name))),
        "focalPath": function.place.path,
        "focalLines": function.place.lines,
        "focalType": function.kind,
        "rule": pairing.rule,
        "nameMatches": pairing.name_matches,
        "isCalled": pairing.is_called,
        "confidence": pairing.confidence,
    }


def _packages(root: Path, path: str) -> Iterator[dict[str, object]]:
    for folder in PurePosixPath(path).parents:
        try:
            package = json.loads(read_own(root, (folder / "package.json").as_posix()))
        except (OSError, ValueError, RecursionError):
            # If it is missing or no JSON, the next folder's may name the framework.
            continue
        if isinstance(package, dict):
            yield package
