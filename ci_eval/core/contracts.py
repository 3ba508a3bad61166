"""The contracts of variants: Language, Engine, Task, Grader, Ranker, Metric. Others are in `fetch/`, `logs/` …

A variant is a file in the folder of its plural, such as `languages/`, that ends in a typed value, such as `LANGUAGE`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import msgspec

from ci_eval.core.import_syntax import Imports, ImportSyntax
from ci_eval.core.model import (
    Confine,
    EngineInfo,
    Extraction,
    Histories,
    Kind,
    LookupScore,
    MetricInfo,
    PlayItem,
    Properties,
    QueriesConfig,
    Record,
    RemovedImport,
    RunConfig,
    SessionScore,
    Span,
    Status,
    StrategyConfig,
    Suggestion,
    Token,
    Usage,
)

Lines = Iterable[tuple[int, dict[str, object] | str]]
"""Number of a line of a dataset → its fields, or why it has none."""


class RecordItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item that a dataset's line expands to."""

    record: Record
    expected: str
    """The right result, as a text for people."""
    properties: Properties


class SourceHole(msgspec.Struct, frozen=True, kw_only=True):
    """A source file with one hole."""

    before: str
    expected: str
    after: str
    ending: str
    """The end of the file's name, which decides the grammar."""
    properties: Properties


class Split(msgspec.Struct, frozen=True, kw_only=True):
    items: Sequence[RecordItem] = ()
    hole: SourceHole | None = None
    """The line's only item, if engines are asked at a caret in the line's own file."""
    fates: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Outcome → number of candidates for items that met it."""
    drawn: bool = False
    """True if another seed would make other items."""
    histories: Histories = msgspec.field(default_factory=Histories)
    """The history that the line is, if it is one."""
    texts: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Digest → text, for the texts that carets of the items point into."""
    trouble: str = ""
    """The part of the line that could not be used, though there are items."""


Splitter = Callable[[Mapping[str, object]], Split]
"""Expands the fields of a line. Raises ValueError, which says what is wrong with the line."""


class Splitting(msgspec.Struct, frozen=True, kw_only=True):
    """The functions that expand lines to items, and items to lookups. They are sent to worker processes, so none is a
    lambda."""

    splitter: Callable[[Lines, QueriesConfig, int], Splitter]
    """The whole dataset (read if sampling needs it), the settings, the seed → the splitter of its lines."""
    cluster: tuple[str, ...]
    """Fields whose values together name the cluster of a line, unless the configuration does."""
    lookup: Callable[[Record, int], Record]
    """The record of an item, the number of a lookup from 0 → the record that the lookup asks about."""
    grade: Callable[[Sequence[Suggestion], Record], Mapping[str, float]]
    """The suggestions of a lookup, its record → its grades."""
    named: Callable[[Sequence[Suggestion]], Sequence[Suggestion]] | None = None
    """The suggestions of a completion engine at the caret of a lookup → the same as an answer to the record has it.
    None if the task's records have no carets."""
    ranked: Callable[[Sequence[Suggestion], Record], Mapping[str, float]] | None = None
    """The `grade` of such a list, which has no end that would mean anything."""


WORD = re.compile(r"\w+")

Declarations = Mapping[str, frozenset[str]]
"""The known names that each package (module, namespace) declares at its top, by the package's full name."""


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """The node types that matter for hiding code that is not typed yet, by their names in the grammar."""

    lists: frozenset[str] = frozenset()
    """The nodes outside functions whose children are typed in order: file, body of a class; also "PARENT NODE"."""
    bodies: frozenset[str] = frozenset()
    """The nodes that hold the statements of a function, with their brackets if they have some; also "PARENT NODE"."""
    closers: frozenset[str] = frozenset()
    """The leaves that are typed, or added by an editor, early: `)`, `]`, `}`, `;`, `end`; also "PARENT LEAF"."""
    quoted: frozenset[str] = frozenset()
    """The nodes of text in quotes whose closing quote is not a separate leaf."""
    stand_ins: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The nodes that must be there → the shortest text in their place, for the first after the caret."""


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """A programming language, as stage 1 needs it."""

    name: str
    title: str
    grammars: Mapping[str, str]
    """The grammar for each end of a file's name, for example ".py"; "" = every other file."""
    keywords: frozenset[str]
    extract: Callable[[str, str, Declarations], Extraction]
    """A function: text of a file, its path, the project's declarations → its completable tokens in order of offset."""
    declare: Callable[[str, str], tuple[str, frozenset[str]]] | None = None
    """A function: text and path → the file's package, and the names it declares there: quick rather than exact."""
    shape: Shape | None = None
    """The shape of the syntax trees; None: for PREVIOUS, everything after the caret is gone."""
    resolve: Resolver | None = None
    """A function that fills in properties that only a type analysis can tell; called only when a filter needs them."""
    resolver: str = ""
    """The name and version of that analysis: its results are stored until this, the file or the project changes."""
    word: re.Pattern[str] = WORD
    """The pattern of a name at the beginning of the inserted text."""
    imports: Callable[[Path, Path | None], Imports] | None = None
    """A function: the project's root, the folder with its dependencies → a reader of imports; None if there is none."""
    import_syntax: ImportSyntax | None = None
    """The way to take an import out of a file and to read what acceptance puts in; None: not for the task imports."""
    see_names: Callable[[str, str], NamesInScope] | None = None
    """A function: text of a file, its path → the names that its tokens can see; None: that is not known."""
    dependencies: str = ""
    """The way to install what its projects need: a name of `adapters/environments.py`; "" = not at all."""
    comment: str = "//"
    """The sign that begins a comment up to the end of the line."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return the ends of the names of its files."""
        return tuple(self.grammars)


class NamesInScope(Protocol):
    """The names that the tokens of one file can see; offsets are in code points."""

    def origin(self, offset: int, name: str) -> str:
        """Return where a name is defined: local, file or builtin; "" if it is not visible, or that is not known."""

    def is_barred(self, offset: int, name: str, *, is_member: bool) -> bool | None:
        """Return whether a bare name, by the engine a member or not, cannot be meant; None if that is not known."""

    def is_standard(self, package: str) -> bool:
        """Return whether a package belongs to the language's standard library."""


class Resolver(Protocol):
    """A function that decides `is_static` and `package` if the text of the file alone could not."""

    def __call__(self, root: Path, path: str, text: str, tokens: Sequence[Token]) -> list[Token]: ...


class Installation(msgspec.Struct, frozen=True, kw_only=True):
    info: EngineInfo
    folder: Path | None = None


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """The engine context: the project, the language and the limits with which an engine runs."""

    root: Path
    language: str
    keywords: frozenset[str]
    cache: Path
    timeout: float  # seconds of one completion
    memory: int
    """The bytes that the engine may use; 0 = no limit."""
    suffixes: tuple[str, ...] = ()
    """The ends of the names of the language's files."""
    word: re.Pattern[str] = WORD
    initialize: float = 60.0
    ready: float = 120.0
    """The seconds that a language server may take to start (`initialize`), and then for the work it announces."""
    ignored: frozenset[str] = frozenset()
    """The names of files and folders of the project that are left out."""
    environment: Path | None = None
    """The folder with the project's own dependencies."""
    sources: tuple[Path, ...] | None = None
    """The folders in which a Python project's own packages are; None = those that its files name."""
    confine: Confine = "auto"
    reads: tuple[Path, ...] = ()
    """The folders besides its own that a confined engine may read and run."""
    kinds: frozenset[Kind] | None = None
    """The kinds of tokens that are asked for in this run; None = all."""
    grammars: Mapping[str, str] = msgspec.field(default_factory=dict)


# gc=False: there is one for each lookup, and none is part of a reference cycle.
class Query(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    offset: int
    prefix: str
    expected: str
    """The expected text, for the controls (`oracle`): an engine that reads it before it answers measures nothing."""
    continues: bool = False
    """A flag: only the rest of the prefix was typed since the last question, and an editor would keep a full list."""
    removed: RemovedImport | None = None
    """The missing import of the expected name; an engine returns the edits of suggestions of that name then."""
    record: Record | None = None
    """The record that is asked in place of the caret if the task's items come from a dataset."""
    span: Span = "word"
    word: re.Pattern[str] = WORD
    """The extent of what is asked for (`span`), and the pattern of a name; `spans.py` has the rules."""
    repeat: int = 0
    """The number of the round in which the same question is asked once more."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The completion result of an engine: its candidates in its own order, its time and CPU time (ms)."""

    suggestions: Sequence[Suggestion]
    latency: float
    cpu: float | None = None
    usage: Usage | None = None
    """The usage of a language model, if one answered."""
    raw: str = ""
    """The whole response of a language model, if that is more than its suggestions, or they are read from it."""
    typed: int | None = None
    dropped: int = 0
    """The number of unreadable items. `typed`: the characters of the prefix when the engine was asked (None = all)."""


Edit = tuple[int, int, str]
"""An edit of the document: (offset, number of code points deleted there, text inserted there)."""


class Running(Protocol):
    """A started engine. Its methods raise EngineFailure, which says whether it must then be restarted."""

    @property
    def confined(self) -> str:
        """Return the sandbox report measured inside the engine's process; "" if it runs in the process of ci-eval."""

    def open(self, path: str, text: str) -> None:
        """Show a file of the project; `path` is relative to its root. It replaces the file that was open before."""

    def edit(self, edits: Sequence[Edit]) -> None:
        """Apply edits, one after the other, to the open file."""

    def complete(self, query: Query) -> Answer:
        """Ask for the completion result at the caret. Its duration is the latency that users see."""

    def restart(self) -> None:
        """Start a fresh process; no file is open afterwards."""

    def close(self) -> None:
        """Stop the process and whatever it started; never raises."""


class Engine(Protocol):
    """A program or language model that completes code."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str:
        """Return one line for `ci-eval list engines`."""

    @property
    def languages(self) -> frozenset[str] | None:
        """Return the names of the languages it knows; None = any."""

    @property
    def version(self) -> str: ...  # the one that is installed by default

    @property
    def source(self) -> str: ...  # where it is installed from

    @property
    def licence(self) -> str: ...  # as an SPDX expression

    @property
    def verified(self) -> bool:
        """Return whether this project's tests drive it for real."""

    @property
    def toolchains(self) -> Mapping[str, str]:
        """Return the tools of its default version: name (`plugins/adapters/engine.py`) → lowest version."""

    @property
    def needs_dependencies(self) -> bool:
        """Return whether it suggests next to nothing if the project's imports are not installed."""

    @property
    def takes_records(self) -> bool:
        """Return whether it answers records of a dataset; all engines answer at a caret."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the programs of this machine that it is installed with or runs on."""

    @property
    def own_process(self) -> bool:
        """Return whether it runs in a separate process, which is then confined."""

    def is_ready(self, cache: Path) -> bool | None:
        """Return whether its default version is ready below `cache`; None for engines that come with ci-eval."""

    def install(self, version: str | None, cache: Path) -> Installation:
        """Install its version (None = the default one) below `cache`, once. Raises PreparationError or ConfigError."""

    def start(self, installation: Installation, surroundings: Surroundings) -> Running: ...


@runtime_checkable
class Configurable(Protocol):
    @property
    def described(self) -> str:
        """Return those of its options that are not the usual ones, for people; "" = none."""

    def configured(self, options: Mapping[str, object]) -> Engine:
        """Return the same engine with these options. Raises ConfigError."""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a file that is produced under observation: one session, or one per prefix."""

    begin: int
    end: int
    text: str
    properties: Properties
    ranges: tuple[tuple[int, int], ...] = ()
    """The begin and end, within the item, of the tokens in it."""
    record: Record | None = None


class Hands(Protocol):
    """An editor: what a task may do to the document while it plays an item."""

    def type(self, text: str) -> None:
        """Insert text at the caret, which is after the text then."""

    def ask(self, prefix: str, expected: str) -> LookupScore | None:
        """Ask for `expected`, of which `prefix` is before the caret; None if the session has failed."""


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """A group of sessions that went about equally well, in reports."""

    name: str
    outcome: Literal["first", "near", "low", "absent"]
    label: str = ""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of work that engines are measured at. It is sent to worker processes, so its functions have names."""

    name: str
    summary: str
    unit: str
    """The unit of its sessions, in the plural: metrics are of a unit."""
    items: Callable[[str, Sequence[Token]], Iterable[Item]] | None = None
    """A function: text of a file, its tokens that pass the filters → items by offset. None: a dataset has them."""
    record: Callable[[Mapping[str, object]], Record] | None = None
    """A line of a dataset → the item it is; raises ValueError. Such a task plays its items. None: code has them."""
    splitting: Splitting | None = None
    takes_holes: bool = False
    """A flag: a dataset may have its items in place of code, as holes in source files."""
    rank: Callable[[str, str, Sequence[Suggestion]], int | None]
    """A function: expected text, typed prefix, displayed suggestions → the rank (1-based) of the one that counts."""
    status: Callable[[Sequence[LookupScore]], Status]
    """A function: lookups of a session without a failure, none only if items are played → OK, NO_MATCH or EMPTY."""
    score: Callable[[SessionScore], float]
    """A function: session → how well it went, from 0 to 1: of two evaluations, the one with the higher score won it."""
    bands: Sequence[Band]
    band: Callable[[SessionScore], Band]
    """A function: an evaluated session → its band."""
    legend: Mapping[str, str]
    """The meaning of each outcome, for people."""
    heading: str
    """The heading over the bands, in reports."""
    play: Callable[[PlayItem, Hands], None] | None = None
    """A function that types an item and asks where it likes; the rest is typed then. None: it is asked at prefixes."""
    of_imports: bool = False
    """A flag: its items are uses of names whose import is taken out of the file."""
    of_silence: bool = False
    """A flag: its items are places at which something new is written; a rank is that of what is in the way there."""
    every_token: bool = False
    """A flag: its items are made of all tokens of the code, definitions, literals and punctuation among them."""
    action: type[PlayItem] = PlayItem
    """The class that a played item is stored as."""
    askable: Callable[[PlayItem], int] | None = None
    """A function: a played item → the number of lookups that it takes if no suggestion is taken."""
    span: Span = "word"
    """The extent of the text that an item is, and that a result may be."""
    configured: Callable[[Task, StrategyConfig], Task] | None = None
    graders: Sequence[str] = ()
    graded: int = 1
    """The number of suggestions of each lookup that are graded, from the first on."""
    judge: str = ""
    """The name of the grader that looks at them, too, if the configuration has a judge."""
    runner: str = ""
    """The name of the grader that runs them, if the configuration says so."""
    best: bool = False
    """A flag: a lookup has the best grades of its suggestions, each score by itself, rather than those of the first."""
    summed: Callable[[Sequence[Mapping[str, float]]], Mapping[str, float]] | None = None
    """A function: one grader's scores of the suggestions, in order → the lookup's stored grades. None: `best`."""
    read: Callable[[str, Record], Sequence[Suggestion] | None] | None = None
    """A function: a response to a record → its suggestions, None if it has not the form that was asked for."""
    write: Callable[[str], str] | None = None
    """A function: the expected text → the response that holds it, which the controls get; None: it is the response."""
    readers: Mapping[str, Callable[[str, Record], Sequence[str]]] = msgspec.field(default_factory=dict)
    """The texts that single graders look at instead: grader → a function that reads them from the response."""


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    reference: str
    hypothesis: str
    language: str = ""
    before: str = ""
    """The text before this one in its file, and `after` it; both are empty if there is no file."""
    after: str = ""
    record: Record | None = None


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings for running tests that engines wrote."""

    wanted: RunConfig
    confine: Confine = "auto"
    memory: int = 0
    """The bytes that one run may use; 0 = no limit."""


class Grader(Protocol):
    """A measure of how close a text is to what was expected; one that is installed is a `graders.Installed`, too."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        """Return the scores by name, higher is closer; the same names for every pairing that it can grade.

        A single one may be called `score`, from 0 to 100: a share under the grader's name. Raises CiEvalError.
        """


class CaretContext(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The caret at which suggestions are ranked. `after`: the text after it, of which no logged feature is made."""

    path: str
    before: str
    """The text of the file before the word that is being typed; `prefix` is the typed part of that word."""
    prefix: str
    query: int = 0
    """The number of lookups in this session before this one."""
    after: str = ""


class FileContext(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    text: str
    """The text as it is on disk: only what distinguishes the other files from it may be made of it."""
    keywords: frozenset[str]
    names: Path | None = None
    """The file with the names of the whole project (`logs/names.py`)."""
    surroundings: Surroundings | None = None


Ordering = Callable[[Sequence[Suggestion], CaretContext], Sequence[Suggestion]]
"""A function that returns the same suggestions, best first. Its time counts as latency."""


class Ranker(Protocol):
    """A completion type: the order in which the engine's candidates are shown."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...

    @property
    def needs_names(self) -> bool:
        """Return whether it looks at the names of the project's other files."""

    def configured(self, model: Path | None) -> Ranker:
        """Return it with the configured model, which a ranker that needs none ignores. Raises ConfigError."""

    def open(self, context: FileContext) -> Ordering:
        """Return the function that orders suggestions in that file, for the time that it is open."""


Observation = tuple[float, float]
"""A pair: (numerator, denominator) for a ratio; (value, 1) for a quantile or a count; (score, 1 or 0) for an area."""


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of the report: what is observed in each session, and how observations become the figure."""

    info: MetricInfo
    observe: Callable[[SessionScore], Sequence[Observation]]
    """The observations of one session: none if it is outside the metric's denominator."""
    order: tuple[int, ...] = (99,)
    """The rank in reports: the lowest first, of equals those of the same file in that file's order."""
    summary_of_a_user: str = ""
    """The summary if a user is modelled or typing is emulated; "" = the usual one. Bounds likewise, None = as usual."""
    bounds_of_a_user: tuple[float | None, float | None] | None = None
    order_of_a_user: tuple[int, ...] | None = None
    """The rank in reports if a user is modelled and it is what that user gets out of completion: among the first."""
    statistic: Literal["ratio", "quantile", "count", "auc"] = "ratio"
    """The kind of figure. ratio: sum of numerators / sum of denominators. quantile: the nearest-rank quantile. count:
    the sum. auc: of (score, 1 if right, else 0), the area under the ROC curve; none if all or none were right."""
    quantile: float = 1.0
    """The quantile (0 < quantile <= 1) for the statistic of that name; 1 is the maximum."""
    of: str = "tokens"
    """The unit of the tasks it is a figure of (see Task); "either": any; "models": any that a language model does."""
    without: float | None = None
    """The figure when nothing was observed; None = there is none."""
    found_by_both: bool = False
    """A flag: comparisons count only sessions observed on both sides. Otherwise a side that finds less looks better."""
    of_the_user: bool = False
    """A flag: it looks at ranks in sessions that end when a modelled user stops, so the user decides it, too."""
    by_round: Callable[[SessionScore, int], Iterable[Sequence[Observation]]] | None = None
    """A function: session, number of rounds → the observations in each; their variance is noise. None: `observe`."""
    timed: bool | Literal["cpu"] = False
    """True: it depends on how long results took, and is compared only if engines were asked in turns; cpu: on CPU."""

    @property
    def compared(self) -> bool:
        """Return whether comparisons judge by it: a count says how much was asked, an area has no verdict."""
        return self.statistic in {"ratio", "quantile"}

    @property
    def is_maximum(self) -> bool:
        """Return whether one observation decides: no sample tells how far off such a figure is."""
        return self.statistic == "quantile" and self.quantile == 1
