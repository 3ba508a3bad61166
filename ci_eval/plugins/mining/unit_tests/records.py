"""The reading of a project's tests, and the making of samples from pairs, filtered as in MERA's UnitTests card.

prompts_LANGUAGE.txt holds ten prompts. If the test framework is known, a sentence about it replaces FRAMEWORK in them.
"""

from __future__ import annotations

import gc
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from ci_eval.core.base.chance import draw
from ci_eval.core.base.files import below, read_own
from ci_eval.core.grammar.document import NotText, decode
from ci_eval.core.grammar.syntax import choose_grammar, parse_tree
from ci_eval.core.model import ProjectInfo, Runnable, Stretch
from ci_eval.core.model.records import REGISTRIES
from ci_eval.plugins.mining.record import Line, assign_split, fence, identity, read_prompts
from ci_eval.plugins.mining.sources import LARGEST, dedent, read_all
from ci_eval.plugins.mining.unit_tests.languages import CATALOG
from ci_eval.plugins.mining.unit_tests.pairing import Dialect, Function, Index, Outcome, Pair, Parsed, Place, Test, pair


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    paths: Sequence[str]
    functions: Sequence[Function]
    tests: Sequence[Test]
    broken: Sequence[str]
    troubles: Sequence[tuple[str, str]]


def read_project(root: Path, dialect: Dialect, *, jobs: int, advance: Callable[[int, int], None]) -> Contents:
    """Read the tests and functions of a project. `advance(done, of)` is called after each file."""
    paths = sorted(below(root, root, tuple(dialect.grammars)))
    parsed, troubles = read_all(paths, read_file, (root, dialect.name), jobs=jobs, advance=advance)
    return Contents(
        paths=paths,
        functions=[function for file in parsed.values() for function in file.functions],
        tests=[test for file in parsed.values() for test in file.tests],
        broken=[path for path, file in parsed.items() if file.broken],
        troubles=list(troubles.items()),
    )


def read_file(root: Path, language: str, path: str) -> Parsed | str:
    """Read a file, or return an error message if it cannot be read. Runs in a worker process."""
    # Each worker process loads the language once.
    dialect = CATALOG.load(language)
    try:
        source = read_source(root, path)
    except (NotText, OSError, UnicodeEncodeError) as error:
        return str(error)
    grammar = choose_grammar(dialect.grammars, path)
    # Parsing creates many small objects but no garbage, so garbage collection would only cost time.
    gc.disable()
    try:
        return dialect.read(source, path, parse_tree(dialect.mask(source), grammar).root_node)
    finally:
        gc.enable()


def read_source(root: Path, path: str) -> bytes:
    """Return a file's text as UTF-8 with normalised line ends. Raises NotText, OSError."""
    # Raise an error if the path is not UTF-8: no sample could hold it.
    path.encode()
    data = read_own(root, path)
    if len(data) > LARGEST:
        raise NotText(f"the file has {len(data):,} bytes; the limit is {LARGEST:,}")
    return decode(data).encode()


PLACEHOLDER = "#focal function/method here"
LONGEST_TEST = 5_000
"""The limit of a test's length, in characters."""
LONGEST_INPUT = 70_000
"""The limit for all texts of a prompt's context together, in characters."""
MOST_ASSERTIONS = 20


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    info: ProjectInfo
    root: Path
    licence: str


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    limit: int = 200
    """The limit of samples per project. If there are more, they are chosen at random."""
    seed: int = 0
    shares: tuple[int, int, int] = (0, 0, 100)
    """The percentages of projects for training, validation and test."""
    only_high: bool = False


class Mined(msgspec.Struct):
    lines: list[Line] = msgspec.field(default_factory=list)
    outcomes: Counter[Outcome] = msgspec.field(default_factory=Counter)


def records(contents: Contents, origin: Origin, dialect: Dialect, selection: Selection, known: set[str]) -> Mined:
    """Return the samples of a project. `known`: the digests of the dataset's earlier samples; new digests are added."""
    mined = Mined()
    index = Index(contents.functions, contents.paths)
    sources: dict[str, bytes] = {}

    def source(path: str) -> bytes:
        return sources[path] if path in sources else sources.setdefault(path, read_source(origin.root, path))

    test_places: dict[str, list[Place]] = defaultdict(list)
    for test in contents.tests:
        test_places[test.place.path].append(test.place)
    for test in contents.tests:
        pairing = pair(test, index, dialect)
        if not isinstance(pairing, Pair):
            mined.outcomes[pairing] += 1
            continue
        line = _line(pairing, origin, dialect, selection, source, test_places[test.place.path])
        if refused := _refuse(line, pairing, selection, known):
            mined.outcomes[refused] += 1
        else:
            mined.lines.append(line)
    kept = sorted(mined.lines, key=lambda line: draw(selection.seed, line.id))[: selection.limit]
    mined.outcomes["over the limit"] = len(mined.lines) - len(kept)
    mined.outcomes["paired"] = len(kept)
    chosen = {line.id for line in kept}
    mined.lines = [line for line in mined.lines if line.id in chosen]
    return mined


def _refuse(line: Line, pairing: Pair, selection: Selection, known: set[str]) -> Outcome | None:
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
    test_places: Sequence[Place],
) -> Line:
    test, function = pairing.test, pairing.function
    of_test, of_function = source(test.place.path), source(function.place.path)
    reference = dedent(of_test, test.place.begin, test.place.end)
    focal = dedent(of_function, function.place.begin, function.place.end)
    surrounding = (
        of_function[: function.place.begin] + PLACEHOLDER.encode() + of_function[function.place.end :]
    ).decode()
    framework = ""
    if dialect.framework:
        # Of the folders above the test, the nearest one whose package.json names a framework decides.
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
        meta={
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
            "split": assign_split(origin.info.name, selection.shares, selection.seed),
        },
        run=_run(pairing, origin, dialect, source, test_places),
    )


def _run(
    pairing: Pair, origin: Origin, dialect: Dialect, source: Callable[[str], bytes], test_places: Sequence[Place]
) -> Runnable | UnsetType:
    """Return how to run the test alone in its project. `test_places`: the locations of all tests in the test's file."""
    focal, own = pairing.function.place, pairing.test.place
    if not dialect.nothing or origin.info.spec.partition(":")[0] not in REGISTRIES:
        return UNSET
    kept, end, begin = b"", 0, 0
    test = source(own.path)
    for location in sorted(test_places, key=lambda place: place.begin):
        kept += test[end : location.begin]
        if location == own:
            # A Stretch counts code points, a Place counts bytes.
            begin = len(kept.decode())
        else:
            # A run reports on all tests in the file, so the other tests are removed.
            kept += dialect.nothing.encode()
        end = location.end
    code = source(focal.path)
    return Runnable(
        project=origin.info.spec,
        files={own.path: (kept + test[end:]).decode()},
        focal=Stretch(path=focal.path, begin=len(code[: focal.begin].decode()), end=len(code[: focal.end].decode())),
        test=Stretch(path=own.path, begin=begin, end=begin),
    )


def _packages(root: Path, path: str) -> Iterator[dict[str, object]]:
    for folder in PurePosixPath(path).parents:
        try:
            package = json.loads(read_own(root, (folder / "package.json").as_posix()))
        except (OSError, ValueError, RecursionError):
            # If the file is missing or not JSON, try the folder above.
            continue
        if isinstance(package, dict):
            yield package


UNKNOWN = "Unknown"

PROMPTS = read_prompts(Path(__file__).parent)
FRAMEWORKS = {"en": "It is run by {test_framework}. ", "ru": "Его запускает {test_framework}. "}
KINDS = {"ru": {"function": "функция", "method": "метод"}}


def translate_kind(line: Line, language: str) -> Line:
    kind = line.context["test_func_type"]
    return replace(line, context={**line.context, "test_func_type": KINDS.get(language, {}).get(kind, kind)})


def fill_framework(template: str, line: Line, language: str) -> str:
    is_known = line.context["test_framework"] not in {"", UNKNOWN}
    return template.replace("FRAMEWORK", FRAMEWORKS[language] if is_known else "")
