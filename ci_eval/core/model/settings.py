"""The parts of the configuration that stages work with."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ci_eval.core.model.tokens import Kind, Location

Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Confine = Literal["auto", "required", "off"]
"""The sandboxing of engines: "auto" as well as this machine can; "required" or not at all; "off" not confined."""


Span = Literal["word", "line", "statement", "block", "text"]
"""The amount of text that is asked for; `spans.py` has the rules."""


StrategyName = Literal["LINEAR", "RANDOM", "REAL*", "REAL"]
Scenario = Literal["NEW", "0|1", "0|2+", "1|2", "N|3+", "M-1|M"]
"""The calls at the start and at the end. N|M: N of the M calls of the end are there at the start; NEW: not even the
object is."""
Evolution = Literal["NEW", "0", "-M", "dD", "-M+dD"]
"""The change of the context until the end: none (0), calls go (-M), the definition is another one (dD)."""


class Section(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The base of all sections."""


class PrefixConfig(Section, frozen=True):
    """How much of a token is typed before completion is asked for."""

    name: Literal["NoPrefix", "SimplePrefix", "CapitalizePrefix", "Ladder", "EveryPrefix"] = "NoPrefix"
    """NoPrefix: nothing. SimplePrefix: the first `n` characters. CapitalizePrefix: the letters that start the words of
    the name. Ladder: one session for each of several `lengths`. EveryPrefix: one session with a lookup at 0, 1, 2 …
    characters, up to all but the last."""
    n: Count | None = None
    """Number of characters; SimplePrefix needs it, EveryPrefix types at most so many, the others must not have it."""
    lengths: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(min_length=1)] | None = None
    """Numbers of characters; Ladder needs them, the others must not have them."""
    emulate_typing: bool = False
    """Whether completion is asked for after each typed character, not only after the last one."""


class FiltersConfig(Section, frozen=True):
    """Which tokens take part: those that pass every filter; None lets everything through."""

    statement_types: Annotated[tuple[Kind, ...], Meta(min_length=1)] | None = None
    """The kinds of tokens."""
    is_static: bool | None = None
    """Only static members (True), or only others (False)."""
    is_argument: bool | None = None
    """Only arguments of a call (True), or only others (False)."""
    package_regex: str | None = None
    """A regular expression, without lookaround and backreferences, that the whole package name of the declaration must
    match."""
    minimum_length: Count | None = None
    """The fewest characters the text may have."""
    first_use: bool | None = None
    """Only texts that are new to their file at this place (True), or only those that occur before it (False)."""
    location: Location | None = None
    """Only what the project declares itself, or only what libraries do."""
    strategies: Annotated[tuple[StrategyName, ...], Meta(min_length=1)] | None = None
    """Of queries about objects (task method-calls), only those of these strategies."""
    scenarios: Annotated[tuple[Scenario, ...], Meta(min_length=1)] | None = None
    """Of these, only those of cases with that number of calls at the start and at the goal."""
    evolutions: Annotated[tuple[Evolution, ...], Meta(min_length=1)] | None = None
    """Of these, only those of cases in which the context changes in that way."""


class EvolutionConfig(Section, frozen=True):
    """Shows code as it was: part of what comes later in the file is not there yet when completion is asked for."""

    what: Literal["lines", "definitions", "imports"] = "lines"
    """What is not there yet: later lines, later functions, or imports, which people often add after their first use."""
    share: Share = 0.0
    """Share of these that are not there yet, drawn with `interpret.seed`; 0 = the file is complete."""
    how: Literal["missing", "different"] = "missing"
    """"missing": not there; "different" (lines only): another line of the file is in its place."""


class StrategyConfig(Section, frozen=True):
    """Which tokens are completed, and how they are typed."""

    context: Literal["ALL", "PREVIOUS", "LEFT"] = "ALL"
    """What the engine sees of the file: everything but the token ("ALL"), not the rest of its function either
    ("PREVIOUS"), or nothing behind the token ("LEFT")."""
    prefix: PrefixConfig = PrefixConfig()
    """What is typed before completion is asked for; a file that does not say so gets a ladder in the task completion
    (`config.with_ladder`)."""
    filters: FiltersConfig = FiltersConfig()
    """Which tokens are completed."""
    span: Literal["line", "statement", "block"] | None = None
    """What the task inline asks for, from a token to the end of its line (which is meant by None), statement or block;
    an answer is cut by the same rule."""
    completion_golf: bool = False
    """The same as `task: golf`: whole lines are typed, with as few actions as the suggestions allow."""
    evolution: EvolutionConfig = EvolutionConfig()
    """What of the file is not there yet."""


class ActionsConfig(Section, frozen=True):
    """Stage 1: source to actions."""

    evaluation_roots: tuple[Text, ...] = ()
    """Files and folders, relative to the project; none = the whole project."""
    ignore_file_names: tuple[Text, ...] = ()
    """Names of files and folders that are left out, wherever they stand."""
    max_file_size: Count = 1_000_000
    """Bytes; larger files are left out."""
    allowed_unparsable: Share = 0.2
    """Share of the source text that the grammar may fail to read before the run counts as failed."""
    strategy: StrategyConfig = StrategyConfig()
    """What is completed in a file."""


Chances = Annotated[tuple[Share, ...], Meta(min_length=1)]


class UserModelConfig(Section, frozen=True):
    """A modelled user: who asks, takes suggestions and gives up. The file may also say just the profile's name."""

    profile: Literal["always", "first", "jetbrains", "thesis", "calibrated"] = "thesis"
    """The tables that are used where none are given below."""
    first_prefix: Chances | None = None
    """Probabilities of 0, 1, 2 … characters typed before completion is first asked for; their sum is 1."""
    select: Annotated[tuple[Chances, ...], Meta(min_length=1)] | None = None
    """Probability of taking the expected text: a row per rank, a column per lookup of the session; the last entry of a
    row, and the last row, hold for all that follow."""
    cancel: Chances | None = None
    """Probability of giving up after a lookup at which nothing was taken: an entry per lookup; the last one holds for
    all that follow."""
    attend: Share | None = None
    """Share of the sessions in which the user looks at the list."""
    index: Literal["order", "prefix"] = "order"
    """What columns count: the lookups of the session or, as in the JetBrains plugin, the characters typed."""


class RunConfig(Section, frozen=True):
    """Whether tests that engines write are run, each time in a fresh folder, confined as `interpret.confine` says."""

    tests: bool = False
    """Whether they are run at all: it is other people's code."""
    mutants: Annotated[int, Meta(ge=0, le=100)] = 10
    """The most changed versions of a function that a test which passes is run against."""
    timeout: Annotated[float, Meta(gt=0, le=3_600)] = 30.0
    """Seconds that one run may take, compiling included."""


Goal = Literal["last", "last_nonempty", "next"]
"""The end of a query case: the last state of its history, the last one that is not empty, or the next one."""


class QueriesConfig(Section, frozen=True):
    """What is asked about the objects in a dataset of histories (task method-calls)."""

    strategies: Annotated[tuple[StrategyName, ...], Meta(min_length=1)] = (
        "LINEAR",
        "RANDOM",
        "REAL*",
        "REAL",
    )
    """How queries are made of a case: of the code as it was (REAL), or of what became of it."""
    goal: Goal = "last"
    """What the calls of a state are held against: those of the last state, of the last one that is not empty (for
    histories from git, where code moves away), or of the next one (step by step)."""
    subsets: Annotated[int, Meta(ge=1, le=1000)] = 20
    """The most queries that RANDOM makes of a case, drawn where there are more."""
    drop_definition: Share = 0.0
    """Share of the cases in whose artificial queries (all but REAL) the definition is not known."""
    replace_definition: Share = 0.0
    """Share of the cases in whose artificial queries it is another one, which objects of that type have elsewhere."""


class SessionsFilter(Section, frozen=True):
    """A report over the sessions that pass all its conditions. A text stands for such a report, too:
    `kind=METHOD_CALL prefix=1`."""

    name: Text
    """Name of the report; unique, and not ALL, which always stands for every session."""
    filters: FiltersConfig = FiltersConfig()
    """Which sessions it covers."""
    typed: Annotated[int, Meta(ge=0)] | None = None
    """Only sessions in which so many letters were typed; None = any number."""
    file: Text | None = None
    """Only sessions in files whose path matches, such as `src/*`: `*` stands for any characters, also for `/`."""
    text: Text | None = None
    """Only sessions whose expected text matches, such as `get*`."""
