"""The contracts of variants: Language, Engine, Task, Grader, Ranker, Metric.

A variant is a file in the folder of its plural (`languages/`, `engines/` …) that ends in a typed value (`LANGUAGE`,
`ENGINE` …). Schemes, reports and formats of logs have theirs in `fetch/`, `rendering/` and `learning/logs/`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import msgspec

from ci_eval.model import (
    Confine,
    EngineInfo,
    Extraction,
    Kind,
    LookupScore,
    MetricInfo,
    PlayItem,
    Properties,
    Record,
    RunConfig,
    SessionScore,
    Span,
    Status,
    StrategyConfig,
    Suggestion,
    Token,
    Usage,
)
from ci_eval.splitting.contract import Splitting

WORD = re.compile(r"\w+")

Declarations = Mapping[str, frozenset[str]]
"""Full name of each package (module, namespace) of a project → the names declared at its top, as far as known."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The node types that matter for hiding what a person has not typed yet, by their names in the grammar."""

    containers: frozenset[str] = frozenset()
    """Nodes that only hold declarations and statements, and what stands between them: module, class, class body …"""
    lists: frozenset[str] = frozenset()
    """Nodes outside functions whose children are the declarations and statements a person types one after the other:
    the file, the body of a class, of a namespace; "PARENT NODE" for a node that is one below that parent only."""
    bodies: frozenset[str] = frozenset()
    """Nodes that hold the statements of a function, with their brackets where they have some; also "PARENT NODE"."""
    closers: frozenset[str] = frozenset()
    """Leaves that an editor or a person puts there early: `)`, `]`, `}`, `;`, `end`; also "PARENT LEAF"."""
    quoted: frozenset[str] = frozenset()
    """Nodes of text in quotes whose closing quote is no leaf of its own."""
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    """Nodes that must be there, and the shortest text in their place, for the first after the caret: block → `{}`."""


@dataclass(frozen=True, kw_only=True)
class Language:
    """One programming language, as stage 1 needs it."""

    name: str
    title: str
    grammars: Mapping[str, str]
    """End of a file's name, for example ".py" → name of its grammar in the bundles; "" stands for every other file."""
    keywords: frozenset[str]
    extract: Callable[[str, str, Declarations], Extraction]
    """Text of a file, its path, what the project declares → its completable tokens in order of offset."""
    declare: Callable[[str, str], tuple[str, frozenset[str]]] | None = None
    """Text and path → the file's own package, and the names it declares there: read quickly rather than exactly."""
    shape: Shape | None = None
    """None: for PREVIOUS, everything after the caret is gone."""
    resolve: Resolver | None = None
    """Fills in properties that only a type analysis can tell; called only when a filter needs them."""
    resolver: str = ""
    """Name and version of that analysis: what it found is kept until this, the file or the project changes."""
    word: re.Pattern[str] = WORD
    """What a name looks like, as it stands at the beginning of what is inserted."""
    imports: Callable[[Path, Path | None], Imports] | None = None
    """The project's root, the folder with its dependencies → how to tell what is there; None where files do not say."""
    dependencies: str = ""
    """How what its projects need is installed: a name of `adapters/environments.py`; "" = not at all."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """How the names of its files end."""
        return tuple(self.grammars)


Imports = Callable[[str, str], Iterable[tuple[str, bool]]]
"""A file's path below the project's root, its text → of each import in it: its package, whether it is there."""


class Resolver(Protocol):
    """Decides `is_static` and `package` where the text of the file alone could not."""

    def __call__(self, root: Path, path: str, text: str, tokens: Sequence[Token]) -> list[Token]: ...


@dataclass(frozen=True, kw_only=True)
class Installation:
    """An engine made ready: what `start` needs, small enough to send to a worker process."""

    info: EngineInfo
    folder: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Where an engine runs."""

    root: Path
    language: str
    keywords: frozenset[str]
    cache: Path
    timeout: float
    """Seconds one completion may take."""
    memory: int
    """Bytes the engine may use; 0 = no limit."""
    suffixes: tuple[str, ...] = ()
    """How the names of the language's files end."""
    word: re.Pattern[str] = WORD
    initialize: float = 60.0
    ready: float = 120.0
    """Seconds that a language server may take to start (`initialize`), and then for the work it announces."""
    ignored: frozenset[str] = frozenset()
    """Names of files and folders of the project that are left out."""
    environment: Path | None = None
    """Folder with the project's own dependencies."""
    confine: Confine = "auto"
    reads: tuple[Path, ...] = ()
    """Folders beside its own that the engine may read and run, where it is confined."""
    kinds: frozenset[Kind] | None = None
    """The kinds of tokens that are asked for in this run; None = all."""


class Query(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One question at one place of the open document."""

    offset: int
    prefix: str
    expected: str
    """For the controls (`oracle`) only: an engine that reads it measures nothing."""
    continues: bool = False
    """Whether only the rest of the prefix was typed since the last question, and an editor would keep a full list."""
    record: Record | None = None
    """What is asked in place of the caret, where the task's items come from a dataset."""
    span: Span = "word"
    word: re.Pattern[str] = WORD
    """How much is asked for, and what a name looks like; `spans.py` has the rules."""
    repeat: int = 0
    """The number of the round in which the same question is asked once more."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The engine's candidates in its own order, and how long it took by its own clock (ms)."""

    suggestions: Sequence[Suggestion]
    latency: float
    usage: Usage | None = None
    """What it took, where it is a language model's."""
    raw: str = ""
    """All that a language model wrote, where that is more than its suggestions, or they are read from it."""
    typed: int | None = None
    dropped: int = 0
    """Characters of the prefix that were `typed` when it was asked (None = all); items that could not be read."""


Edit = tuple[int, int, str]
"""(offset, number of code points deleted there, text inserted there)."""


class Running(Protocol):
    """A started engine. Its methods raise EngineFailure, which says whether it must then be restarted."""

    @property
    def confined(self) -> str:
        """How well its process is confined, by what it tried from inside; "" if it has no process of its own."""

    def open(self, path: str, text: str) -> None:
        """Show a file of the project; `path` is relative to its root. Replaces the file open before."""

    def edit(self, edits: Sequence[Edit]) -> None:
        """Apply edits, one after the other, to the open file."""

    def complete(self, query: Query) -> Answer:
        """Answer at the caret; the time it takes is the latency a person waits."""

    def restart(self) -> None:
        """A fresh process; no file is open afterwards."""

    def close(self) -> None:
        """End the process and whatever it started; never raises."""


class Engine(Protocol):
    """Something that completes code."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str:
        """One line for `ci-eval list engines`."""

    @property
    def languages(self) -> frozenset[str] | None:
        """Names of the languages it knows; None = any."""

    @property
    def version(self) -> str:
        """The default."""

    @property
    def source(self) -> str:
        """Where it is installed from."""

    @property
    def licence(self) -> str:
        """As an SPDX expression."""

    @property
    def verified(self) -> bool:
        """Whether this project's tests drive it for real."""

    @property
    def toolchains(self) -> Mapping[str, str]:
        """What its default version is built with or runs on: name (`adapters/toolchains.py`) → lowest version."""

    @property
    def needs_dependencies(self) -> bool:
        """Whether it suggests next to nothing where what the project imports is not installed."""

    @property
    def takes_records(self) -> bool:
        """Whether it answers records of a dataset; all engines answer at a caret."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Programs of this machine that it is installed with or runs on."""

    @property
    def own_process(self) -> bool:
        """Whether it runs in a process of its own, which is then confined."""

    def installed(self, cache: Path) -> bool | None:
        """Whether its default version is ready below `cache`; None for what comes with ci-eval."""

    def install(self, version: str | None, cache: Path) -> Installation:
        """Make it ready below `cache`, once; None = its default version. Raises PreparationError or ConfigError."""

    def start(self, installation: Installation, surroundings: Surroundings) -> Running: ...


@runtime_checkable
class Configurable(Protocol):
    """An engine with options of its own (`engine.options`)."""

    @property
    def described(self) -> str:
        """Those of its options that are not the usual ones, for people; "" = none."""

    def configured(self, options: Mapping[str, object]) -> Engine:
        """Return the same engine with these options. Raises ConfigError."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """A piece of a file that is produced under observation: one session, or one per prefix."""

    begin: int
    end: int
    text: str
    properties: Properties
    ranges: tuple[tuple[int, int], ...] = ()
    """Begin and end, within the item, of the tokens in it."""
    record: Record | None = None
    """What it is made of, where it comes from a dataset."""


class Hands(Protocol):
    """What a task may do while it plays an item."""

    def type(self, text: str) -> None:
        """Insert text at the caret, which is behind it afterwards."""

    def ask(self, prefix: str, expected: str) -> LookupScore | None:
        """Ask for `expected`, of which `prefix` stands before the caret; None if the session has failed."""


@dataclass(frozen=True, kw_only=True)
class Band:
    """Sessions that went about equally well, in reports."""

    name: str
    """Unique in its task."""
    outcome: Literal["first", "near", "low", "absent"]
    """Its colour, the best first."""
    label: str = ""
    """For people, where that is not the name."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A kind of work that engines are measured at. It is sent to worker processes, so its functions have names."""

    name: str
    summary: str
    unit: str
    """What its sessions are, in the plural: metrics are of a unit."""
    items: Callable[[str, Sequence[Token]], Iterable[Item]] | None = None
    """The text of a file, its tokens that pass the filters → the items in order of offset. None: a dataset has them."""
    record: Callable[[Mapping[str, object]], Record] | None = None
    """A line of a dataset → the item it is; raises ValueError. Such a task plays its items. None: code has them."""
    splitting: Splitting | None = None
    """In place of `record`, where a line is several items."""
    rank: Callable[[str, str, Sequence[Suggestion]], int | None]
    """What is expected, what of it is typed, the suggestions as shown → the rank (1-based) of the one that counts."""
    status: Callable[[Sequence[LookupScore]], Status]
    """The lookups of a session in which nothing failed, none only where items are played → OK, NO_MATCH or EMPTY."""
    score: Callable[[SessionScore], float]
    """How well a session went, from 0 to 1: of two evaluations, the one with the higher score won it."""
    bands: Sequence[Band]
    """The best first."""
    band: Callable[[SessionScore], Band]
    """That of an evaluated session."""
    legend: Mapping[str, str]
    """Outcome → what it means, for people."""
    heading: str
    """Over the bands, in reports."""
    play: Callable[[PlayItem, Hands], None] | None = None
    """Produces an item: types, and asks where it wants to; what it leaves untyped is typed afterwards. None: the item
    is asked for at the prefixes that `actions.strategy.prefix` and the modelled user say."""
    every_token: bool = False
    """Whether its items are made of all tokens of the code, definitions, literals and punctuation among them."""
    action: type[PlayItem] = PlayItem
    """What an item is stored as, where it is played."""
    askable: Callable[[PlayItem], int] | None = None
    """The lookups that an item takes if no suggestion is taken, where it is played."""
    span: Span = "word"
    """How much of the text an item is, and an answer may be."""
    configured: Callable[[Task, StrategyConfig], Task] | None = None
    """The task as that strategy wants it, where it has a choice."""
    graders: Sequence[str] = ()
    """Names of the graders that look at the suggestions."""
    graded: int = 1
    """How many suggestions of each lookup are graded, from the first on."""
    judge: str = ""
    """Name of the grader that looks at them, too, where the configuration has a judge."""
    runner: str = ""
    """Name of the grader that runs them, where the configuration says so."""
    best: bool = False
    """Whether a lookup has the best grades of its suggestions, each score by itself, rather than those of the first."""
    summed: Callable[[Sequence[Mapping[str, float]]], Mapping[str, float]] | None = None
    """One grader's scores of the suggestions, in order → the lookup's grades; only these are stored. None: `best`."""
    read: Callable[[str, Record], Sequence[Suggestion]] | None = None
    """What an engine answered to a record → the suggestions in it; None: what it answered is the suggestion."""
    write: Callable[[str], str] | None = None
    """What is expected → the answer that holds it, which is what controls are told; None: it is the answer."""
    readers: Mapping[str, Callable[[str, Record], Sequence[str]]] = field(default_factory=dict)
    """Grader → the texts that it looks at instead, read from the answer in a way of its own."""


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """A text to be graded, and what it should have been."""

    reference: str
    hypothesis: str
    language: str = ""
    before: str = ""
    """What stands before the text in its file, and `after` it; both are empty where there is no file."""
    after: str = ""
    record: Record | None = None
    """What was asked, where that comes from a dataset."""


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """How tests that engines wrote are run."""

    wanted: RunConfig
    confine: Confine = "auto"
    memory: int = 0
    """Bytes that one run may use; 0 = no limit."""


class Grader(Protocol):
    """Tells how close a text is to what was expected. One that must be installed is a `graders.Installed`, too."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        """Name of the score → its value, higher is closer; the same names for every pairing that it can grade. A single
        one may be called `score`, from 0 to 100: it is stored as a share, under the grader's name. Raises CiEvalError.
        """


class CaretContext(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where suggestions are ranked. `after`: what stands behind the caret, of which no logged feature is made."""

    path: str
    before: str
    """The text of the file before the word that is being typed."""
    prefix: str
    """What is typed of that word."""
    query: int = 0
    """Queries made in this session before this one."""
    after: str = ""


@dataclass(frozen=True, kw_only=True)
class FileContext:
    """What a ranker may know of the file that is open. `surroundings`: the project; None if it is not there."""

    path: str
    text: str
    """As it is on disk: only what tells the other files from it may be made of it."""
    keywords: frozenset[str]
    names: Path | None = None
    """File with the names of the whole project (`learning/names.py`)."""
    surroundings: Surroundings | None = None


Ordering = Callable[[Sequence[Suggestion], CaretContext], Sequence[Suggestion]]
"""The same suggestions, best first. Its time counts as latency."""


class Ranker(Protocol):
    """A completion type: the order in which the engine's candidates are shown."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def needs_names(self) -> bool:
        """Whether it looks at the names of the project's other files."""

    def configured(self, model: Path | None) -> Ranker:
        """With the model of the configuration, which one that needs none ignores. Raises ConfigError."""

    def open(self, context: FileContext) -> Ordering:
        """How suggestions in that file are ordered, from its beginning to its end."""


Observation = tuple[float, float]
"""(numerator, denominator) for a ratio; (value, 1) for a quantile or a count; (score, 1 or 0) for an area."""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One figure of the report: what is observed in each session, and how observations become the figure."""

    info: MetricInfo
    observe: Callable[[SessionScore], Sequence[Observation]]
    """The observations of one session: none if it is outside the metric's denominator."""
    order: tuple[int, ...] = (99,)
    """Where reports show it: the lowest first, of equals those of the same file in that file's order."""
    order_of_a_user: tuple[int, ...] | None = None
    """Where they show it if a user is modelled and it is what that user gets out of completion: among the first."""
    statistic: Literal["ratio", "quantile", "count", "auc"] = "ratio"
    """ratio: sum of numerators / sum of denominators. quantile: the nearest-rank quantile. count: sum of the values.
    auc: of (score, 1 where it was right, else 0), the area under the ROC curve; none where all were right, or none."""
    quantile: float = 1.0
    """0 < quantile <= 1, for the statistic of that name; 1 is the maximum."""
    of: str = "tokens"
    """The unit of the tasks it is a figure of (see Task); "either": of any; "models": of any that a model does."""
    without: float | None = None
    """The figure when nothing was observed; None = there is none."""
    found_by_both: bool = False
    """Whether a comparison counts only sessions observed on both sides: else, a side that finds less looks better."""
    of_the_user: bool = False
    """Whether it looks at ranks in sessions that end where a modelled user stops: then it is a figure of the two."""
    by_round: Callable[[SessionScore, int], Iterable[Sequence[Observation]]] | None = None
    """A session, the number of rounds → its observations in each, whose variance is noise. None: as in that round."""
    timed: bool = False
    """Whether it depends on how long answers took: compared only where two engines were asked in turns."""

    @property
    def compared(self) -> bool:
        """Whether comparisons judge by it: a count says how much was asked, an area has no verdict."""
        return self.statistic in {"ratio", "quantile"}

    @property
    def is_maximum(self) -> bool:
        """Whether one observation decides: no sample tells how far off such a figure is."""
        return self.statistic == "quantile" and self.quantile == 1
