"""The sections of the configuration that the stages use, and the settings and prices of language models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ci_eval.core.model.tokens import Kind, Location

Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Confine = Literal["auto", "required", "off"]
"""Sandboxing of engines. auto: as far as this machine allows. required: completely, or nothing runs. off: none."""

Span = Literal["word", "around", "line", "statement", "block", "text"]
"""The extent of the text that is asked for (see `text_spans.py`). around: the word around the caret, which acceptance
replaces."""

StrategyName = Literal["LINEAR", "RANDOM", "REAL*", "REAL"]
Scenario = Literal["NEW", "0|1", "0|2+", "1|2", "N|3+", "M-1|M"]
"""The calls at the start and at the goal of a query case. N|M: the start has N of the M calls of the goal. NEW: the
object does not exist at the start."""
Evolution = Literal["NEW", "0", "-M", "dD", "-M+dD"]
"""The change between start and goal: none (0), calls are removed (-M), the definition changes (dD)."""


class Section(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The base of all sections."""


class PrefixConfig(Section, frozen=True):
    """The part of a token that is typed before completion is requested."""

    name: Literal["NoPrefix", "SimplePrefix", "CapitalizePrefix", "Ladder", "EveryPrefix", "Inside"] = "NoPrefix"
    """The prefix strategy. NoPrefix types nothing. SimplePrefix types the first `n` characters. CapitalizePrefix types
    the letters that start the words of the name. Ladder makes one session for each of several `lengths`. EveryPrefix
    makes one session with a lookup at 0, 1, 2 … characters, up to all but the last. Inside types nothing: the whole
    token is in the code, and the caret is inside it, after the first `n` characters."""
    n: Count | None = None
    """The number of characters: required by SimplePrefix, the maximum for EveryPrefix, 1 by default for Inside, refused
    by the other strategies."""
    lengths: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(min_length=1)] | None = None
    """The numbers of characters: required by Ladder, refused by the other strategies."""
    emulate_typing: bool = False
    """Request completion after each typed character, not only after the last one."""


class FiltersConfig(Section, frozen=True):
    """The filters that a token must all pass to take part; None lets everything through."""

    statement_types: Annotated[tuple[Kind, ...], Meta(min_length=1)] | None = None
    """The kinds of tokens that take part."""
    is_static: bool | None = None
    """Take only static members (True), or only others (False)."""
    is_argument: bool | None = None
    """Take only arguments of a call (True), or only others (False)."""
    package_regex: str | None = None
    """A regular expression, without lookaround and backreferences, that must match the whole package name of the
    declaration."""
    minimum_length: Count | None = None
    """The smallest number of characters that the text may have."""
    first_use: bool | None = None
    """Take only texts that do not occur earlier in their file (True), or only texts that do (False)."""
    location: Location | None = None
    """Take only names that the project itself declares, or only names that libraries declare."""
    strategies: Annotated[tuple[StrategyName, ...], Meta(min_length=1)] | None = None
    """Take only usage queries about objects (task method-calls) that these strategies made."""
    scenarios: Annotated[tuple[Scenario, ...], Meta(min_length=1)] | None = None
    """Take only usage queries of cases with these numbers of calls at the start and at the goal."""
    evolutions: Annotated[tuple[Evolution, ...], Meta(min_length=1)] | None = None
    """Take only usage queries of cases whose context changes in one of these ways."""


class EvolutionConfig(Section, frozen=True):
    """A simulation of unfinished code: part of what comes later in the file does not exist yet when completion is
    requested."""

    what: Literal["lines", "definitions", "imports"] = "lines"
    """The parts that do not exist yet: later lines, later functions, or imports, which people often add after their
    first use."""
    share: Share = 0.0
    """The share of these parts that does not exist yet, sampled with `interpret.seed`; 0 = the file is complete."""
    how: Literal["missing", "different"] = "missing"
    """The state of such a part: "missing" leaves the part out, "different" (lines only) puts another line of the file
    in its place."""


SilentPlace = Literal["definition", "number", "comment", "string"]


class PlacesConfig(Section, frozen=True):
    """Places that are asked about in place of tokens."""

    silent: tuple[SilentPlace, ...] = ()
    """Play the task silent: places at which something new is written. That is the name of a definition, a number, or a
    word in a comment or in a string of several words."""


class StrategyConfig(Section, frozen=True):
    """The choice of tokens to complete, and how each is typed."""

    context: Literal["ALL", "PREVIOUS", "LEFT"] = "ALL"
    """The part of the file that the engine sees: everything but the token ("ALL"), also without the rest of its
    function ("PREVIOUS"), or nothing after the token ("LEFT")."""
    prefix: PrefixConfig = PrefixConfig()
    """The part of a token that is typed before completion is requested. A file that sets no prefix gets a Ladder of 0,
    1 and 3 characters in the task completion."""
    filters: FiltersConfig = FiltersConfig()
    """The filters that choose the tokens to complete."""
    span: Literal["line", "statement", "block"] | None = None
    """The text that the task inline asks for: from a token to the end of its line, statement or block; None = line. An
    answer is cut by the same rule."""
    completion_golf: bool = False
    """Play the task golf, like `task: golf`: whole lines are typed, with as few actions as the suggestions allow."""
    evolution: EvolutionConfig = EvolutionConfig()
    """The parts of the file that do not exist yet."""
    imports: Literal["present", "removed"] = "present"
    """removed: play the task imports, like `task: imports`: names whose import is taken out of the file are asked for,
    with 3 and with all letters typed."""
    places: PlacesConfig = PlacesConfig()
    """The places that are asked about in place of tokens; none = tokens."""


class ActionsConfig(Section, frozen=True):
    """The settings of stage 1, which turns source code into actions."""

    evaluation_roots: tuple[Text, ...] = ()
    """The files and folders to evaluate, relative to the project; none = the whole project."""
    ignore_file_names: tuple[Text, ...] = ()
    """The names of files and folders that are left out, wherever they are in the project."""
    max_file_size: Count = 1_000_000
    """The largest size of a file in bytes; larger files are left out."""
    allowed_unparsable: Share = 0.2
    """The share of the source text that the grammar may fail to read before the run counts as failed."""
    strategy: StrategyConfig = StrategyConfig()
    """The choice of what is completed in a file, and how it is typed."""


Chances = Annotated[tuple[Share, ...], Meta(min_length=1)]


class UserModelConfig(Section, frozen=True):
    """A modelled user, who requests completion, takes suggestions and gives up. The name of a profile may replace the
    whole section."""

    profile: Literal["always", "first", "jetbrains", "thesis", "calibrated"] = "thesis"
    """The profile that supplies `firstPrefix`, `select`, `cancel` and `attend` if these are not set."""
    first_prefix: Chances | None = None
    """The probabilities of 0, 1, 2 … characters typed before the first lookup; their sum is 1."""
    select: Annotated[tuple[Chances, ...], Meta(min_length=1)] | None = None
    """The probabilities of taking the expected text: a row per rank, a column per lookup of the session. The last entry
    of a row, and the last row, hold for all that follow."""
    cancel: Chances | None = None
    """The probabilities of giving up after a lookup at which nothing was taken: an entry per lookup. The last entry
    holds for all that follow."""
    attend: Share | None = None
    """The share of the sessions in which the user looks at the list."""
    index: Literal["order", "prefix"] = "order"
    """The numbering of columns: by lookups of the session (`order`) or, as in the JetBrains plugin, by typed characters
    (`prefix`)."""


class RunConfig(Section, frozen=True):
    """The settings for running tests that engines write, each time in a fresh folder, confined as `interpret.confine`
    says."""

    tests: bool = False
    """Run the tests that engines write, which are other people's code."""
    mutants: Annotated[int, Meta(ge=0, le=100)] = 10
    """The largest number of mutants (changed versions of a function) that a passing test is run against."""
    timeout: Annotated[float, Meta(gt=0, le=3_600)] = 30.0
    """The seconds that one run may take, including compiling."""


Goal = Literal["last", "last_nonempty", "next"]
"""The end of a query case: the last state of its history, the last one that is not empty, or the next one."""


class QueriesConfig(Section, frozen=True):
    """The usage queries about the objects in a dataset of histories (task method-calls)."""

    strategies: Annotated[tuple[StrategyName, ...], Meta(min_length=1)] = ("LINEAR", "RANDOM", "REAL*", "REAL")
    """The strategies that make usage queries from a case: from the code as it was (REAL), or from what became of it
    (the others)."""
    goal: Goal = "last"
    """The state whose calls are expected: the last one, the last one that is not empty, or the next one (step by step).
    `last_nonempty` is for histories from git, where code moves away."""
    subsets: Annotated[int, Meta(ge=1, le=1000)] = 20
    """The largest number of usage queries that RANDOM makes of a case; if there are more, a sample is taken."""
    drop_definition: Share = 0.0
    """The share of the cases whose artificial queries (all but REAL) do not know the definition."""
    replace_definition: Share = 0.0
    """The share of the cases whose artificial queries (all but REAL) get another definition, which objects of that type
    have elsewhere in the dataset."""


class SessionsFilter(Section, frozen=True):
    """A report over the sessions that pass all its conditions. A text such as `kind=METHOD_CALL prefix=1` may replace
    the section."""

    name: Text
    """The unique name of the report. ALL is not allowed, since it always means every session."""
    filters: FiltersConfig = FiltersConfig()
    """The filters that choose the sessions of the report."""
    typed: Annotated[int, Meta(ge=0)] | None = None
    """Take only sessions with this number of typed letters; None = any number."""
    file: Text | None = None
    """Take only sessions in files whose path matches a pattern such as `src/*`; `*` matches any characters, including
    `/`."""
    text: Text | None = None
    """Take only sessions whose expected text matches a pattern such as `get*`."""


Amount = Annotated[float, Meta(ge=0, le=1e9)]


class SamplingConfig(Section, frozen=True):
    """The sampling settings of the language model."""

    temperature: Annotated[float, Meta(ge=0, le=5)] | None = 0.0
    """The temperature: 0 = always the likeliest token; None = not sent, for language models that take none."""
    top_p: Share | None = None
    """Sample only from the likeliest tokens that together have this share of the probability; None = not sent."""
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    """The seed that is sent with each request, raised by 1 for each repeat of a request; None = not sent."""
    max_tokens: Count | None = None
    """The largest number of tokens in a response; None = as many as the requested text takes: a word, a line, a block
    …"""
    stop: tuple[Text, ...] = ()
    """The texts at which the language model stops, besides those of the template."""


class WindowConfig(Section, frozen=True):
    """The amount of the project's code that the language model sees."""

    characters: Count = 8000
    """The largest number of characters in total: before and after the caret, and of other files."""
    tokens: Count | None = None
    """The same limit in tokens of the language model, in place of `characters`. Text that a template adds is not
    counted."""
    characters_per_token: Annotated[float, Meta(gt=0, le=100)] | None = None
    """The estimated number of characters per token, which `tokens` needs, such as 2.5."""
    suffix: Share = 0.25
    """The share of the open file's part that is reserved for code after the caret. Space that one side does not need
    goes to the other."""
    other_files: Share = 0.0
    """The share of the whole window that is reserved for other files of the project, placed before the open file; 0 =
    none."""


class BudgetConfig(Section, frozen=True):
    """The limits of what one command may spend on requests; None = no limit. Answers from the store cost nothing."""

    seconds: Annotated[float, Meta(gt=0)] | None = None
    """The time limit in seconds, counted from the first request."""
    requests: Count | None = None
    """The largest number of requests, including retries."""
    tokens: Count | None = None
    """The largest number of tokens in requests and responses together, as the endpoint counts them."""
    money: Annotated[float, Meta(gt=0)] | None = None
    """The largest amount of money, in the currency of `price`."""


class PriceConfig(Section, frozen=True):
    """The price of a million tokens."""

    input: Amount = 0.0
    """The price of a million tokens of requests."""
    output: Amount = 0.0
    """The price of a million tokens of responses."""
    cached: Amount | None = None
    """The price of a million tokens of requests that the endpoint took from a cache; None = as `input`."""
    thoughts: Amount | None = None
    """The price of a million tokens of thoughts; None = as `output`."""


class EndpointConfig(Section, frozen=True):
    """A language model that is reached at an address."""

    endpoint: Text | None = None
    """The address to which the path of `api` is added, for example `https://api.mistral.ai/v1`."""
    model: Text | None = None
    """The endpoint's name for the language model."""
    api: Text = "chat"
    """The interface of the endpoint: chat (`/chat/completions`), completions (`/completions`), fim
    (`/fim/completions`), infill (llama.cpp), ollama (`/api/generate`), or an api of an installed
    package (`ci_eval.endpoints`)."""
    template: Text | None = None
    """The template that makes a prompt of prefix and suffix, for the api completions. Write a family's name, a text
    with {prefix} and {suffix}, or `suffix` if the endpoint has a field for the suffix."""
    file_heading: Text | None = None
    """The text before each file, with {path}, for your own template with {files}."""
    key: Text | None = None
    """The name of the environment variable that holds the key."""
    sampling: SamplingConfig = SamplingConfig()
    """The sampling settings of the language model."""
    window: WindowConfig = WindowConfig()
    """The amount of the project's code that the language model sees."""
    budget: BudgetConfig = BudgetConfig()
    """The limits of what one command may spend."""
    price: PriceConfig = PriceConfig()
    """The price of a million tokens."""
    recorded: Text | None = None
    """A file of answers, as `ci-eval answers export` writes it. Every answer is taken from the file, and no endpoint is
    asked."""
    stream: bool = True
    """Read the response while it is written, to measure the time of its first token."""
    logprobs: bool = False
    """Request the log-probabilities of the response's tokens."""
    concurrency: Annotated[int, Meta(ge=1, le=256)] = 4
    """The number of requests that are under way at once, over all worker processes of this machine."""
    retries: Annotated[int, Meta(ge=0, le=20)] = 5
    """The number of times that a request is sent again if the endpoint is overloaded or the connection breaks."""
    thoughts: tuple[tuple[Text, Text], ...] = ()
    """The marks before and after the language model's thoughts, besides known ones such as `<think>` and `</think>`."""
    extra: dict[str, Any] = {}
    """The additional fields of each request, as the endpoint has them; null removes a field that ci-eval would send."""
