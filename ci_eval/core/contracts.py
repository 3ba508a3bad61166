"""The interfaces of languages, engines, tasks, graders, rankers and metrics, which plugins implement."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import msgspec

from ci_eval.core.import_syntax import Imports, ImportSyntax
from ci_eval.core.model.records import Histories, Record
from ci_eval.core.model.report import EngineInfo, MetricInfo
from ci_eval.core.model.sessions import LookupScore, PlayItem, RemovedImport, SessionScore, Status, Suggestion, Usage
from ci_eval.core.model.settings import Confine, QueriesConfig, RunConfig, Span, StrategyConfig
from ci_eval.core.model.tokens import Extraction, Kind, Properties, Token

Lines = Iterable[tuple[int, dict[str, object] | str]]
"""The lines of a dataset as pairs: number of the line, and its fields or the reason why it cannot be read."""


class RecordItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item that is made from a line of a dataset."""

    record: Record
    expected: str
    """The right result, as a text to display."""
    properties: Properties


class SourceHole(msgspec.Struct, frozen=True, kw_only=True):
    """A source file with one hole."""

    before: str
    expected: str
    after: str
    ending: str
    """The suffix of the file's name, which selects the grammar."""
    properties: Properties


class Split(msgspec.Struct, frozen=True, kw_only=True):
    items: Sequence[RecordItem] = ()
    hole: SourceHole | None = None
    """The line's only item, if the line holds a source file and engines are asked at a caret in that file."""
    fates: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Outcome → number of candidate items with this outcome."""
    drawn: bool = False
    """True if the items depend on the seed."""
    histories: Histories = msgspec.field(default_factory=Histories)
    """Statistics of the line's history; empty if the line has no history."""
    texts: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The texts that contain the items' carets, by digest."""
    trouble: str = ""
    """A description of the part of the line that cannot be used, although the line has items."""


Splitter = Callable[[Mapping[str, object]], Split]
"""A function that makes items from the fields of a line. It raises ValueError if the line is invalid."""


class Splitting(msgspec.Struct, frozen=True, kw_only=True):
    """The functions that make items from lines, and lookups from items. They are pickled, so none may be a lambda."""

    splitter: Callable[[Lines, QueriesConfig, int], Splitter]
    """A function: the whole dataset (which is read only if sampling needs it), settings, seed → a splitter of lines."""
    cluster: tuple[str, ...]
    """The fields whose values together identify a line's cluster. The configuration may name another field."""
    lookup: Callable[[Record, int], Record]
    """A function: an item's record, the index of a lookup (from 0) → the record that the lookup asks about."""
    grade: Callable[[Sequence[Suggestion], Record], Mapping[str, float]]
    """A function: the suggestions of a lookup, the record → grades."""
    named: Callable[[Sequence[Suggestion]], Sequence[Suggestion]] | None = None
    """A function that converts a completion engine's suggestions at a caret to the form in which other engines answer
    the record. None if the task's records have no carets."""
    ranked: Callable[[Sequence[Suggestion], Record], Mapping[str, float]] | None = None
    """Like `grade`, but for the lists of completion engines, whose length says nothing about the answer."""


WORD = re.compile(r"\w+")

Declarations = Mapping[str, frozenset[str]]
"""Full name of a package, module or namespace → the known names that it declares at its top level."""


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """The node types that are needed to hide code that is not typed yet. "PARENT NODE" means a NODE below a PARENT."""

    lists: frozenset[str] = frozenset()
    """Nodes outside functions whose children are typed in order, such as a file or the body of a class."""
    bodies: frozenset[str] = frozenset()
    """Nodes that contain the statements of a function, including any brackets around the statements."""
    closers: frozenset[str] = frozenset()
    """Leaves that are typed, or added by an editor, before the code in front of them: `)`, `]`, `}`, `;`, `end`."""
    quoted: frozenset[str] = frozenset()
    """Nodes of quoted text whose closing quote is not a separate leaf."""
    stand_ins: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Type of a required node → the shortest text that may replace the first such node after the caret."""


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """A programming language, as seen by stage 1."""

    name: str
    title: str
    grammars: Mapping[str, str]
    """File suffix, such as ".py" → grammar. The suffix "" stands for all other files."""
    keywords: frozenset[str]
    extract: Callable[[str, str, Declarations], Extraction]
    """A function: a file's text, its path, the project's declarations → the file's completable tokens by offset."""
    declare: Callable[[str, str], tuple[str, frozenset[str]]] | None = None
    """A function: a file's text, its path → the file's package and declared names. It is fast but may be inexact."""
    shape: Shape | None = None
    """The shape of the syntax trees. If None, the context PREVIOUS hides everything after the caret."""
    resolve: Resolver | None = None
    """A function that adds the properties that only type analysis finds. It is called only if a filter needs them."""
    resolver: str = ""
    """The name and version of the type analysis. Its results are cached until the version, file or project changes."""
    word: re.Pattern[str] = WORD
    """A pattern that matches a name at the beginning of the inserted text."""
    imports: Callable[[Path, Path | None], Imports] | None = None
    """A function: the project's root, the folder with its dependencies → a reader of imports. None if unsupported."""
    import_syntax: ImportSyntax | None = None
    """The functions that read and remove imports. If None, the language does not support the task `imports`."""
    see_names: Callable[[str, str], NamesInScope] | None = None
    """A function: a file's text, its path → the names visible in the file; None if they cannot be determined."""
    dependencies: str = ""
    """The name of the installer of dependencies in `adapters/environments.py`. Some installers only give advice."""
    comment: str = "//"
    """The characters that begin a comment up to the end of the line."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        return tuple(self.grammars)


class NamesInScope(Protocol):
    """The names that are visible in one file. Offsets are in code points."""

    def origin(self, offset: int, name: str) -> str:
        """Return where a name is defined: "local", "file" or "builtin"; "" if the name is not visible or not known."""

    def is_barred(self, offset: int, name: str, *, is_member: bool) -> bool | None:
        """Return whether a name is wrong without an object in front of the name; None if unknown. `is_member`: whether
        the engine reports the name as a member."""

    def is_standard(self, package: str) -> bool:
        """Return whether a package belongs to the language's standard library."""


class Resolver(Protocol):
    """A function that finds `is_static` and `package` of tokens if the file's text does not show them."""

    def __call__(self, root: Path, path: str, text: str, tokens: Sequence[Token]) -> list[Token]: ...


class Installation(msgspec.Struct, frozen=True, kw_only=True):
    info: EngineInfo
    folder: Path | None = None


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """The environment in which an engine runs: project, language and limits."""

    root: Path
    language: str
    keywords: frozenset[str]
    cache: Path
    timeout: float  # the time limit of one completion, in seconds
    memory: int
    """The memory limit of the engine, in bytes; 0 = no limit."""
    suffixes: tuple[str, ...] = ()
    """The file suffixes of the language."""
    word: re.Pattern[str] = WORD
    initialize: float = 60.0
    ready: float = 120.0
    """The time limits, in seconds, of a language server's start (`initialize`) and of announced work (`ready`)."""
    ignored: frozenset[str] = frozenset()
    """The names of files and folders of the project that are ignored."""
    environment: Path | None = None
    """The folder in which the project's dependencies are installed."""
    sources: tuple[Path, ...] | None = None
    """The folders that contain a Python project's own packages. If None, pyproject.toml and setup files name them."""
    confine: Confine = "auto"
    reads: tuple[Path, ...] = ()
    """Further folders that a confined engine may read and execute, besides its own folder."""
    kinds: frozenset[Kind] | None = None
    """The kinds of tokens that this run asks for; None = all kinds."""
    grammars: Mapping[str, str] = msgspec.field(default_factory=dict)


# There is a query for each lookup, and none is in a reference cycle, so gc=False saves time.
class Query(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    offset: int
    prefix: str
    expected: str
    """The expected text. Only control engines such as `oracle` may read it before they answer."""
    continues: bool = False
    """True if the user only typed on since the last query. An editor then asks only if the last list is incomplete."""
    removed: RemovedImport | None = None
    """The removed import of the expected name. If set, the engine returns the edits of suggestions with that name."""
    record: Record | None = None
    """The record to answer, in tasks whose items come from a dataset; None if the engine is asked at a caret."""
    span: Span = "word"
    word: re.Pattern[str] = WORD
    """The pattern of a name. `span` is the extent of the requested text (see `text_spans.py`)."""
    repeat: int = 0
    """The index of the round (from 0), if the same query is asked several times."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The answer of an engine: suggestions in the engine's order, latency and CPU time in milliseconds."""

    suggestions: Sequence[Suggestion]
    latency: float
    cpu: float | None = None
    usage: Usage | None = None
    raw: str = ""
    """The whole response of a language model, if suggestions are read from the response or do not show all of it."""
    typed: int | None = None
    """The number of characters of the prefix that were typed when the engine was asked; None = the whole prefix."""
    dropped: int = 0
    """The number of items in the engine's list that could not be read."""
    find_edits: Callable[[Sequence[Suggestion]], Sequence[Suggestion]] | None = None
    """A function that returns suggestions of this answer with their edits elsewhere in the file. None if the engine
    sends these edits without a further request."""


Edit = tuple[int, int, str]
"""An edit: (offset, number of code points that are deleted there, text that is inserted there)."""


class Running(Protocol):
    """A running engine. Its methods raise EngineFailure, whose `restart` says if the engine must be restarted."""

    @property
    def confined(self) -> str:
        """Return a report on the sandbox, measured inside the engine's process; "" without such a process."""

    def open(self, path: str, text: str) -> None:
        """Open a file of the project and close the previous one. `path` is relative to the root."""

    def edit(self, edits: Sequence[Edit]) -> None:
        """Apply edits in order to the open file."""

    def complete(self, query: Query) -> Answer:
        """Return the answer to the query. The duration of this call is the latency that users notice."""

    def restart(self) -> None:
        """Start a new process, in which no file is open."""

    def close(self) -> None:
        """Stop the engine's process and all processes that it started. Never raises."""


class Engine(Protocol):
    """A program or language model that completes code."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str:
        """Return the description in `ci-eval list engines`, a single line."""

    @property
    def languages(self) -> frozenset[str] | None:
        """Return the names of the supported languages; None = all languages."""

    @property
    def version(self) -> str: ...  # the version that is installed by default

    @property
    def source(self) -> str: ...  # the place from which the engine is installed

    @property
    def licence(self) -> str: ...  # an SPDX expression

    @property
    def verified(self) -> bool:
        """Return whether ci-eval's own tests run the real engine."""

    @property
    def toolchains(self) -> Mapping[str, str]:
        """Return the tools that the default version needs: name in `plugins/adapters/engine.py` → lowest version."""

    @property
    def needs_dependencies(self) -> bool:
        """Return whether the engine suggests almost nothing if the project's dependencies are not installed."""

    @property
    def takes_records(self) -> bool:
        """Return whether the engine completes records of a dataset. Every engine completes code at a caret."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the programs that this machine must have so that the engine can be installed and run."""

    @property
    def own_process(self) -> bool:
        """Return whether the engine runs in a separate process, which can be sandboxed."""

    def is_ready(self, cache: Path) -> bool | None:
        """Return whether the default version is installed below `cache`; None if the engine is part of ci-eval."""

    def install(self, version: str | None, cache: Path) -> Installation:
        """Install a version (None = the default) unless it is installed. Raises PreparationError or ConfigError."""

    def start(self, installation: Installation, surroundings: Surroundings) -> Running: ...


@runtime_checkable
class Configurable(Protocol):
    @property
    def described(self) -> str:
        """Return the options that differ from the defaults, as a text to display; "" if there are none."""

    def configured(self, options: Mapping[str, object]) -> Engine:
        """Return a copy of the engine with these options. Raises ConfigError."""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a file that an engine is asked to produce. Each item has one session, or one session per prefix."""

    begin: int
    end: int
    text: str
    properties: Properties
    ranges: tuple[tuple[int, int], ...] = ()
    """The begin and end offset of each token of the item, relative to the begin of the item."""
    record: Record | None = None


class Hands(Protocol):
    """An editor in which a task types an item and asks for completion."""

    def type(self, text: str) -> None:
        """Insert text at the caret and move the caret after it."""

    def ask(self, prefix: str, expected: str) -> LookupScore | None:
        """Ask for `expected`, of which `prefix` is typed, and return the lookup; None if the session failed."""


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """A group of sessions with similar results, such as those with rank 1."""

    name: str
    outcome: Literal["first", "near", "low", "absent"]
    label: str = ""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """The questions to engines, and the scores of answers. Workers get tasks by pickle, so no function is a lambda."""

    name: str
    summary: str
    unit: str
    """The plural name of the text that a session types, such as "tokens". Each metric belongs to a unit."""
    items: Callable[[str, Sequence[Token]], Iterable[Item]] | None = None
    """A function: a file's text, the filtered tokens → items by offset. None if items come from a dataset."""
    record: Callable[[Mapping[str, object]], Record] | None = None
    """A function: a line of a dataset → its record; raises ValueError. None if items come from code or `splitting`."""
    splitting: Splitting | None = None
    takes_holes: bool = False
    """True if items may also come from a dataset of source files that each have a hole."""
    rank: Callable[[str, str, Sequence[Suggestion]], int | None]
    """A function: expected text, typed prefix, displayed suggestions → the rank (from 1) of the right suggestion."""
    status: Callable[[Sequence[LookupScore]], Status]
    """A function: the lookups (perhaps none) of a session in which the engine did not fail → OK, NO_MATCH or EMPTY."""
    score: Callable[[SessionScore], float]
    """A function: session → score from 0 to 1. In a comparison, the side with the higher score wins the session."""
    bands: Sequence[Band]
    band: Callable[[SessionScore], Band]
    """A function: an evaluated session → its band."""
    legend: Mapping[str, str]
    """Outcome → its meaning, as a text to display."""
    heading: str
    """The heading of the bands in reports."""
    play: Callable[[PlayItem, Hands], None] | None = None
    """A function that types an item and decides where to ask. If None, the engine is asked after each prefix."""
    of_imports: bool = False
    """True if items are uses of names whose import is removed from the file."""
    of_silence: bool = False
    """True if items are places where users write something new. The rank is then that of a disturbing suggestion."""
    every_token: bool = False
    """True if items are made from all tokens of the code, including definitions, literals and punctuation."""
    action: type[PlayItem] = PlayItem
    """The class of the action that stores an item which the task plays."""
    askable: Callable[[PlayItem], int] | None = None
    """A function: an item which the task plays → the number of lookups if no suggestion is accepted."""
    span: Span = "word"
    """The extent of an item's text and of the result (see `text_spans.py`)."""
    configured: Callable[[Task, StrategyConfig], Task] | None = None
    graders: Sequence[str] = ()
    graded: int = 1
    """The number of leading suggestions of each lookup that are graded."""
    judge: str = ""
    """The name of the grader that asks the judge. It is used if the configuration has a judge."""
    runner: str = ""
    """The name of the grader that runs tests. It is used if the configuration allows it."""
    best: bool = False
    """True if a lookup gets the best grades among its suggestions, False if it gets those of the first suggestion."""
    summed: Callable[[Sequence[Mapping[str, float]]], Mapping[str, float]] | None = None
    """A function: one grader's scores of each suggestion in order → the lookup's grades. If None, `best` decides."""
    read: Callable[[str, Record], Sequence[Suggestion] | None] | None = None
    """A function: a response, its record → the suggestions; None if the response does not have the requested form."""
    write: Callable[[str], str] | None = None
    """A function: the expected text → the response of a control engine. If None, the response is the expected text."""
    readers: Mapping[str, Callable[[str, Record], Sequence[str]]] = msgspec.field(default_factory=dict)
    """Grader → a function that extracts from the response the text that this grader grades."""


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    reference: str
    hypothesis: str
    language: str = ""
    before: str = ""
    """The text of the file before the graded text; `after` is the text after it. Both are empty without a file."""
    after: str = ""
    record: Record | None = None


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings for running tests that engines have written."""

    wanted: RunConfig
    confine: Confine = "auto"
    memory: int = 0
    """The memory limit of one run, in bytes; 0 = no limit."""


class Grader(Protocol):
    """A measure of how close a text is to the expected text. `catalogs/graders.py` has further, optional protocols."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        """Return the scores by name, the same names for all pairings; higher is closer. A single score from 0 to 100
        may be called `score`, and is stored as a share under the grader's name. Raises CiEvalError."""


class CaretContext(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The caret at which suggestions are ranked. No logged feature uses `after`, the text after the caret."""

    path: str
    before: str
    """The text of the file before the word that is being typed. `prefix` is the typed part of this word."""
    prefix: str
    query: int = 0
    """The index of this lookup in its session, from 0."""
    after: str = ""


class FileContext(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    text: str
    """The text of the file on disk. Rankers may use it only to exclude the file's own names from `names`."""
    keywords: frozenset[str]
    names: Path | None = None
    """The file that lists the names of the whole project (see `logs/names.py`)."""
    surroundings: Surroundings | None = None


Ordering = Callable[[Sequence[Suggestion], CaretContext], Sequence[Suggestion]]
"""A function that returns the suggestions in a new order, the best first. Its time is part of the latency."""


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
        """Return a copy with this model. Rankers that need no model ignore it. Raises ConfigError."""

    def open(self, context: FileContext) -> Ordering:
        """Return a function that orders suggestions in this file."""


Observation = tuple[float, float]
"""(numerator, denominator) for the statistic `ratio`, (value, 1) for `quantile` and `count`, (score, 1 if right else 0)
for `auc` (see `Metric.statistic`)."""


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of reports: what is observed in each session, and how the observations are combined to a figure."""

    info: MetricInfo
    observe: Callable[[SessionScore], Sequence[Observation]]
    """A function: session → its observations. They are empty if the session does not count in the metric."""
    facts: Callable[[SessionScore], Hashable] | None = None
    """A function: session → the facts that decide the observations. Of sessions with equal facts, only one is observed.
    If None, each session is observed, as are reused sessions and those of a modelled user."""
    order: tuple[int, ...] = (99,)
    """The sort key in reports. Metrics with equal keys keep the order of their module."""
    summary_of_a_user: str = ""
    """The summary if a user is modelled or typing is emulated; "" = the usual summary."""
    bounds_of_a_user: tuple[float | None, float | None] | None = None
    order_of_a_user: tuple[int, ...] | None = None
    """The sort key in reports with a modelled user, if the metric measures what the user gains; None = `order`."""
    statistic: Literal["ratio", "quantile", "count", "auc"] = "ratio"
    """How the figure is computed. ratio: sum of numerators / sum of denominators. quantile: the nearest-rank quantile.
    count: the sum. auc: the area under the ROC curve; there is no figure if all or none are right."""
    quantile: float = 1.0
    """The quantile for the statistic `quantile`: above 0, at most 1. The quantile 1 is the maximum."""
    of: str = "tokens"
    """The unit of the tasks that have this metric; "either" = any task; "models" = any task with a language model."""
    without: float | None = None
    """The figure if there are no observations; None = no figure."""
    found_by_both: bool = False
    """True if comparisons use only sessions observed on both sides: fewer sessions could make a side look better."""
    of_the_user: bool = False
    """True if the metric uses ranks in a session's last list. A modelled user decides which list is the last."""
    by_round: Callable[[SessionScore, int], Iterable[Sequence[Observation]]] | None = None
    """A function: session, number of rounds → each round's observations. If None, `observe` is called each round."""
    timed: bool | Literal["cpu"] = False
    """True if the metric depends on wall-clock time, "cpu" if on CPU time. Times are compared only if the engines were
    asked in turns."""

    @property
    def compared(self) -> bool:
        """Return whether comparisons give a verdict on the metric."""
        return self.statistic in {"ratio", "quantile"}

    @property
    def is_maximum(self) -> bool:
        """Return whether the figure is a maximum. One session decides a maximum, so a sample cannot show its error."""
        return self.statistic == "quantile" and self.quantile == 1
