"""The contracts of Language, Engine, Task, Grader, Ranker and Metric, which variants in packages fulfil."""

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
"""The number of a dataset's line → its fields, or the reason why it has none."""


class RecordItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item that a dataset's line expands to."""

    record: Record
    expected: str
    """The right result, as a text for readers."""
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
    """Outcome → number of candidate items with this outcome."""
    drawn: bool = False
    """True if another seed would make other items."""
    histories: Histories = msgspec.field(default_factory=Histories)
    """The history that the line holds, if it holds one."""
    texts: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Digest → text, for the texts in which the items' carets are."""
    trouble: str = ""
    """The part of the line that could not be used, if the line has items nevertheless."""


Splitter = Callable[[Mapping[str, object]], Split]
"""A function that expands the fields of a line to items. Raises ValueError with the fault of the line."""


class Splitting(msgspec.Struct, frozen=True, kw_only=True):
    """The functions that expand lines to items, and items to lookups. None may be a lambda, since they are pickled."""

    splitter: Callable[[Lines, QueriesConfig, int], Splitter]
    """A function: the whole dataset (read if sampling needs it), the settings, the seed → a splitter of lines."""
    cluster: tuple[str, ...]
    """The fields whose values together name a line's cluster, unless the configuration names others."""
    lookup: Callable[[Record, int], Record]
    """A function: an item's record, the number of a lookup from 0 → the record that the lookup asks about."""
    grade: Callable[[Sequence[Suggestion], Record], Mapping[str, float]]
    """A function: the suggestions of a lookup, the record → grades."""
    named: Callable[[Sequence[Suggestion]], Sequence[Suggestion]] | None = None
    """A function: a completion engine's suggestions at a lookup's caret → the same suggestions in the form of an answer
    to the record. None if the task's records have no carets."""
    ranked: Callable[[Sequence[Suggestion], Record], Mapping[str, float]] | None = None
    """The same as `grade`, for lists of completion engines, whose length has no meaning."""


WORD = re.compile(r"\w+")

Declarations = Mapping[str, frozenset[str]]
"""Package (module, namespace) by full name → the known names that it declares at its top level."""


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """The node types of a grammar that matter for hiding code that is not typed yet."""

    lists: frozenset[str] = frozenset()
    """The nodes outside functions whose children are typed in order: file, body of a class; also "PARENT NODE"."""
    bodies: frozenset[str] = frozenset()
    """The nodes that hold the statements of a function, with their brackets if they have some; also "PARENT NODE"."""
    closers: frozenset[str] = frozenset()
    """The leaves that are typed, or added by an editor, early: `)`, `]`, `}`, `;`, `end`; also "PARENT LEAF"."""
    quoted: frozenset[str] = frozenset()
    """The nodes of text in quotes whose closing quote is not a separate leaf."""
    stand_ins: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Node types that must not be missing → the shortest text that replaces the first such node after the caret."""


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """A programming language, as seen by stage 1."""

    name: str
    title: str
    grammars: Mapping[str, str]
    """File ending, such as ".py" → grammar; "" = all other files."""
    keywords: frozenset[str]
    extract: Callable[[str, str, Declarations], Extraction]
    """A function: a file's text, its path, the project's declarations → its completable tokens in order of offset."""
    declare: Callable[[str, str], tuple[str, frozenset[str]]] | None = None
    """A function: text and path → the file's package, and the names that it declares; quick rather than exact."""
    shape: Shape | None = None
    """The shape of the syntax trees; None: the context PREVIOUS hides everything after the caret."""
    resolve: Resolver | None = None
    """A function that adds properties found only by type analysis; it is called only if a filter needs them."""
    resolver: str = ""
    """Name and version of the type analysis, whose results are stored until it, the file or the project changes."""
    word: re.Pattern[str] = WORD
    """The pattern of a name at the beginning of the inserted text."""
    imports: Callable[[Path, Path | None], Imports] | None = None
    """A function: the project's root, the folder with its dependencies → a reader of imports; None: not supported."""
    import_syntax: ImportSyntax | None = None
    """The functions that remove an import and read inserted imports; None: no task imports for the language."""
    see_names: Callable[[str, str], NamesInScope] | None = None
    """A function: a file's text, its path → the names visible to its tokens; None if that is not known."""
    dependencies: str = ""
    """The installer of a project's dependencies: a name in `adapters/environments.py`, which may only give advice."""
    comment: str = "//"
    """The sign that begins a comment to the end of the line."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return the file endings of the language."""
        return tuple(self.grammars)


class NamesInScope(Protocol):
    """The names that are visible to the tokens of one file; offsets are in code points."""

    def origin(self, offset: int, name: str) -> str:
        """Return where a name is defined: local, file or builtin; "" if it is not visible or not known."""

    def is_barred(self, offset: int, name: str, *, is_member: bool) -> bool | None:
        """Return whether a bare name cannot be meant; None if not known. `is_member`: as the engine calls it."""

    def is_standard(self, package: str) -> bool:
        """Return whether a package belongs to the language's standard library."""


class Resolver(Protocol):
    """A function that finds `is_static` and `package` if the file's text does not show them."""

    def __call__(self, root: Path, path: str, text: str, tokens: Sequence[Token]) -> list[Token]: ...


class Installation(msgspec.Struct, frozen=True, kw_only=True):
    info: EngineInfo
    folder: Path | None = None


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """The surroundings of an engine: project, language and limits."""

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
    """The seconds that a language server may take to start (`initialize`), and again for the work that it announces."""
    ignored: frozenset[str] = frozenset()
    """The names of files and folders of the project that are left out."""
    environment: Path | None = None
    """The folder with the project's own dependencies."""
    sources: tuple[Path, ...] | None = None
    """The folders in which a Python project's own packages are; None = those that its files name."""
    confine: Confine = "auto"
    reads: tuple[Path, ...] = ()
    """The folders that a confined engine may read and run, besides its own folder."""
    kinds: frozenset[Kind] | None = None
    """The kinds of tokens that this run asks for; None = all."""
    grammars: Mapping[str, str] = msgspec.field(default_factory=dict)


# gc=False saves time: there is one for each lookup, and none is in a reference cycle.
class Query(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    offset: int
    prefix: str
    expected: str
    """The expected text, which only the controls (`oracle`) may read before they answer."""
    continues: bool = False
    """True if the prefix was only typed on since the last question, so that an editor keeps a complete list."""
    removed: RemovedImport | None = None
    """The missing import of the expected name; the engine then returns the edits of suggestions with that name."""
    record: Record | None = None
    """The record that is asked in place of the caret, if the task's items come from a dataset."""
    span: Span = "word"
    word: re.Pattern[str] = WORD
    """The pattern of a name; `span` is the extent of the requested text (rules in `text_spans.py`)."""
    repeat: int = 0
    """The number of the round, if the same question is asked several times."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The completion result of an engine: candidates in its order, and time and CPU time in ms."""

    suggestions: Sequence[Suggestion]
    latency: float
    cpu: float | None = None
    usage: Usage | None = None
    raw: str = ""
    """The whole response of a language model, if it says more than the suggestions, or if these are read from it."""
    typed: int | None = None
    """The number of characters of the prefix that were typed when the engine was asked; None = all."""
    dropped: int = 0
    """The number of items that could not be read."""
    find_edits: Callable[[Sequence[Suggestion]], Sequence[Suggestion]] | None = None
    """A function that adds the edits elsewhere in the file to suggestions of this answer, if the engine sends them only
    on request."""


Edit = tuple[int, int, str]
"""An edit of the document: (offset, number of code points deleted there, text inserted there)."""


class Running(Protocol):
    """A started engine. Its methods raise EngineFailure, which says whether the engine must be restarted."""

    @property
    def confined(self) -> str:
        """Return the sandbox report measured inside the engine's process; "" if it has no process."""

    def open(self, path: str, text: str) -> None:
        """Open a file of the project in place of the open one; `path` is relative to the root."""

    def edit(self, edits: Sequence[Edit]) -> None:
        """Apply edits in order to the open file."""

    def complete(self, query: Query) -> Answer:
        """Return the completion result at the caret. The duration of this call is the latency that users notice."""

    def restart(self) -> None:
        """Start a fresh process; no file is open afterwards."""

    def close(self) -> None:
        """Stop the process and all processes that it started. Never raises."""


class Engine(Protocol):
    """A program or language model that completes code."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str:
        """Return one line for `ci-eval list engines`."""

    @property
    def languages(self) -> frozenset[str] | None:
        """Return the names of the supported languages; None = any language."""

    @property
    def version(self) -> str: ...  # the one that is installed by default

    @property
    def source(self) -> str: ...  # where it is installed from

    @property
    def licence(self) -> str: ...  # as an SPDX expression

    @property
    def verified(self) -> bool:
        """Return whether tests of ci-eval run the real engine."""

    @property
    def toolchains(self) -> Mapping[str, str]:
        """Return the tools that the default version needs: name (`plugins/adapters/engine.py`) → lowest version."""

    @property
    def needs_dependencies(self) -> bool:
        """Return whether the engine suggests almost nothing if the project's dependencies are not installed."""

    @property
    def takes_records(self) -> bool:
        """Return whether the engine answers records of a dataset; every engine answers at a caret."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the programs that the engine needs on this machine to be installed or to run."""

    @property
    def own_process(self) -> bool:
        """Return whether the engine runs in a separate process, which can be confined."""

    def is_ready(self, cache: Path) -> bool | None:
        """Return whether the default version is installed below `cache`; None for engines that are part of ci-eval."""

    def install(self, version: str | None, cache: Path) -> Installation:
        """Install a version (None = the default) unless it is there. Raises PreparationError or ConfigError."""

    def start(self, installation: Installation, surroundings: Surroundings) -> Running: ...


@runtime_checkable
class Configurable(Protocol):
    @property
    def described(self) -> str:
        """Return the options that differ from the defaults, as a text for readers; "" = none."""

    def configured(self, options: Mapping[str, object]) -> Engine:
        """Return a copy of the engine with these options. Raises ConfigError."""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a file that an engine is asked to produce: in one session, or in one session per prefix."""

    begin: int
    end: int
    text: str
    properties: Properties
    ranges: tuple[tuple[int, int], ...] = ()
    """The begin and end of each token in the item, relative to the item."""
    record: Record | None = None


class Hands(Protocol):
    """The editor in which a task types an item."""

    def type(self, text: str) -> None:
        """Insert text at the caret and move the caret after it."""

    def ask(self, prefix: str, expected: str) -> LookupScore | None:
        """Return the lookup for `expected`, of which `prefix` is typed; None if the session failed."""


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """A group of sessions with similar results."""

    name: str
    outcome: Literal["first", "near", "low", "absent"]
    label: str = ""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of question to engines. Tasks are pickled for worker processes, so no function may be a lambda."""

    name: str
    summary: str
    unit: str
    """The plural name of the unit of its sessions, such as tokens; metrics belong to a unit."""
    items: Callable[[str, Sequence[Token]], Iterable[Item]] | None = None
    """A function: a file's text, the filtered tokens → items by offset. None: items come from a dataset."""
    record: Callable[[Mapping[str, object]], Record] | None = None
    """A function: a dataset's line → an item to play; raises ValueError. None: items come from code."""
    splitting: Splitting | None = None
    takes_holes: bool = False
    """True if items may also come from a dataset of holes in source files."""
    rank: Callable[[str, str, Sequence[Suggestion]], int | None]
    """A function: expected text, typed prefix, displayed suggestions → the rank (from 1) of the right suggestion."""
    status: Callable[[Sequence[LookupScore]], Status]
    """A function: lookups of a session without a failure, perhaps none → OK, NO_MATCH or EMPTY."""
    score: Callable[[SessionScore], float]
    """A function: session → score from 0 to 1. In a comparison, the side with the higher score wins the session."""
    bands: Sequence[Band]
    band: Callable[[SessionScore], Band]
    """A function: an evaluated session → its band."""
    legend: Mapping[str, str]
    """Outcome → its meaning, as a text for readers."""
    heading: str
    """The heading of the bands in reports."""
    play: Callable[[PlayItem, Hands], None] | None = None
    """A function that types an item and asks at offsets of its choice. None: the engine is asked at prefixes."""
    of_imports: bool = False
    """True if items are uses of names whose import is taken out of the file."""
    of_silence: bool = False
    """True if items are locations at which something new is written; the rank is that of a disturbing suggestion."""
    every_token: bool = False
    """True if items are made of all tokens of the code, including definitions, literals and punctuation."""
    action: type[PlayItem] = PlayItem
    """The class of the action that stores a played item."""
    askable: Callable[[PlayItem], int] | None = None
    """A function: a played item → the number of lookups if no suggestion is accepted."""
    span: Span = "word"
    """The extent of the text of an item, and of a result."""
    configured: Callable[[Task, StrategyConfig], Task] | None = None
    graders: Sequence[str] = ()
    graded: int = 1
    """The number of suggestions of each lookup that are graded, from the first one on."""
    judge: str = ""
    """The name of the grader that asks the judge, if the configuration has a judge."""
    runner: str = ""
    """The name of the grader that runs tests, if the configuration allows it."""
    best: bool = False
    """True if a lookup's grades are the best ones among its suggestions, not those of the first suggestion."""
    summed: Callable[[Sequence[Mapping[str, float]]], Mapping[str, float]] | None = None
    """A function: one grader's scores of the suggestions, in order → the lookup's stored grades. None: see `best`."""
    read: Callable[[str, Record], Sequence[Suggestion] | None] | None = None
    """A function: a response to a record → its suggestions; None if the response lacks the requested form."""
    write: Callable[[str], str] | None = None
    """A function: the expected text → a response that contains it, for the controls; None: the text is the response."""
    readers: Mapping[str, Callable[[str, Record], Sequence[str]]] = msgspec.field(default_factory=dict)
    """Grader → a function that extracts, from the response, the text that this grader reads."""


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    reference: str
    hypothesis: str
    language: str = ""
    before: str = ""
    """The text before the graded text in its file; `after`: the text after it. Both are empty without a file."""
    after: str = ""
    record: Record | None = None


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings for running tests that engines wrote."""

    wanted: RunConfig
    confine: Confine = "auto"
    memory: int = 0
    """The bytes that one run may use; 0 = no limit."""


class Grader(Protocol):
    """A measure of how close a text is to the expected one (see also the protocols in `catalogs/graders.py`)."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        """Return the scores by name, the same names for all pairings; higher is closer. A single score from 0 to 100
        may be called `score`, and becomes a share with the grader's name. Raises CiEvalError."""


class CaretContext(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The caret at which suggestions are ranked. `after`: the text after the caret, which no logged feature uses."""

    path: str
    before: str
    """The text of the file before the word that is being typed; `prefix` is the typed part of the word."""
    prefix: str
    query: int = 0
    """The number of lookups in this session before this one."""
    after: str = ""


class FileContext(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    text: str
    """The text of the file on disk. It may only serve to leave the file's own names out of `names`."""
    keywords: frozenset[str]
    names: Path | None = None
    """The file with the names of the whole project (`logs/names.py`)."""
    surroundings: Surroundings | None = None


Ordering = Callable[[Sequence[Suggestion], CaretContext], Sequence[Suggestion]]
"""A function that returns the suggestions in a new order, best first. Its time is part of the latency."""


class Ranker(Protocol):
    """A completion type: the order in which the engine's candidates are displayed."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...

    @property
    def needs_names(self) -> bool:
        """Return whether the ranker needs the names in the project's other files."""

    def configured(self, model: Path | None) -> Ranker:
        """Return a copy with the configured model, which rankers without a model ignore. Raises ConfigError."""

    def open(self, context: FileContext) -> Ordering:
        """Return the function that orders suggestions in that file while it is open."""


Observation = tuple[float, float]
"""(numerator, denominator) of a ratio, (value, 1) of a quantile or a count, (score, 1 or 0) of an area."""


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of the report: what is observed in each session, and how observations are combined."""

    info: MetricInfo
    observe: Callable[[SessionScore], Sequence[Observation]]
    """A function: session → its observations; none if the session does not count in the metric."""
    order: tuple[int, ...] = (99,)
    """The rank in reports, the lowest first; for equal ranks, the order in the module counts."""
    summary_of_a_user: str = ""
    """The summary if a user is modelled or typing is emulated; "" = the usual one."""
    bounds_of_a_user: tuple[float | None, float | None] | None = None
    order_of_a_user: tuple[int, ...] | None = None
    """The rank in reports if a user is modelled and the metric is that user's gain: these metrics come first."""
    statistic: Literal["ratio", "quantile", "count", "auc"] = "ratio"
    """The kind of figure. ratio: sum of numerators / sum of denominators. quantile: the nearest-rank quantile. count:
    the sum. auc: the area under the ROC curve of (score, 1 if right, else 0); no figure if all or none are right."""
    quantile: float = 1.0
    """The quantile for the statistic `quantile`, above 0 and up to 1; 1 is the maximum."""
    of: str = "tokens"
    """The unit of the tasks that have this metric; "either" = any unit; "models" = any task of language models."""
    without: float | None = None
    """The figure without an observation; None = no figure."""
    found_by_both: bool = False
    """True if comparisons count only sessions observed on both sides, since a side with fewer could look better."""
    of_the_user: bool = False
    """True if the metric uses ranks in the last list, which depend on the modelled user."""
    by_round: Callable[[SessionScore, int], Iterable[Sequence[Observation]]] | None = None
    """A function: session, number of rounds → observations of each round, which show the noise. None: `observe`."""
    timed: bool | Literal["cpu"] = False
    """True if the metric depends on times, which are compared only if engines were asked in turns; `cpu`: on CPU."""

    @property
    def compared(self) -> bool:
        """Return whether comparisons give the metric a verdict; counts and areas have none."""
        return self.statistic in {"ratio", "quantile"}

    @property
    def is_maximum(self) -> bool:
        """Return whether a single observation decides the figure, so that a sample does not show its error."""
        return self.statistic == "quantile" and self.quantile == 1
