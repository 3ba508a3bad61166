"""A language model at an address as an engine. The engine runs in ci-eval's process and reaches only that address."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError, EngineFailure, EngineMisbehaved, InstallError
from ci_eval.core.contracts import Answer, Installation, Query, Running, Surroundings
from ci_eval.core.grammar.syntax import choose_grammar
from ci_eval.core.model import EngineInfo, Record, Span, Suggestion, Usage
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.core.text_spans import cut, extent, is_whole
from ci_eval.core.tracing import tell
from ci_eval.plugins.adapters.controls import ControlEngine, OpenText
from ci_eval.plugins.adapters.endpoints import messages
from ci_eval.plugins.adapters.endpoints.client import Asking, Client
from ci_eval.plugins.adapters.endpoints.context import OtherFiles, compute_budget, window
from ci_eval.plugins.adapters.endpoints.store import compute_cost
from ci_eval.plugins.responses.answers import Hole, Inserted, extract_insertion
from ci_eval.plugins.responses.cleaning import clean

TOKENS: dict[Span, int] = {"word": 16, "around": 16, "line": 64, "statement": 128, "block": 512, "text": 1024}

_PLACE = re.compile(r"\{(\w+)\}")


def build_prompt(
    query: Query, settings: EndpointConfig, others: OtherFiles | None, path: str, text: str
) -> tuple[messages.Prompt, int | None]:
    """Return the prompt, and the number of characters of the open file that did not fit, or None for a record. The same
    text always gives the same prompt."""
    limit = settings.sampling.max_tokens or TOKENS[query.span]
    if query.record:
        return messages.Prompt(instruction=fill_instruction(query.record), max_tokens=limit), None
    prefix, suffix, left_out = window(text, query.offset, settings.window)
    files: list[messages.OtherFile] = []
    if others and (size := int(compute_budget(settings.window) * settings.window.other_files)):
        template = messages.own_template(settings)
        files = others.choose(path, text[: query.offset], size, template.takes if template else lambda _: True)
    return messages.Prompt(prefix=prefix, suffix=suffix, max_tokens=limit, path=path, files=tuple(files)), left_out


def fill_instruction(record: Record) -> str:
    if not record.instruction:
        return "\n\n".join(f"{name}:\n{text}" for name, text in record.context.items())
    # All placeholders are replaced in one pass, so that braces in the context stay.
    return _PLACE.sub(lambda match: record.context.get(match[1], match[0]), record.instruction)


def make_suggestion(text: str, before: str, query: Query) -> str:
    """Return the text that replaces the prefix, cut to the query's span, or "" if nothing is inserted."""
    # The file's text has only LF as line ends (`grammar.document.decode`).
    answer = text.replace("\r\n", "\n").replace("\r", "\n")
    # A model may repeat the blank before the caret.
    if not query.prefix and before.endswith((" ", "\t")):
        answer = answer.lstrip(" \t")
    inserted = cut(answer, before, query.span, query.word)
    return query.prefix + inserted if inserted else ""


def measure_usage(reply: messages.Reply, before: str, query: Query, cost: float | None, part: Inserted) -> Usage:
    answer = reply.text[part.begin : part.end]
    suggestion = make_suggestion(answer, before, query)
    end = part.begin + extent(answer, before, query.span, query.word)
    # An answer in a closed fence is complete even if the model was cut off in the text after the fence.
    is_closed = "fence" in part.rules and part.end < len(reply.text)
    return Usage(
        first_token=reply.first_token,
        prompt_tokens=reply.prompt_tokens,
        answer_tokens=reply.answer_tokens,
        cost=cost,
        logprob=messages.mean_logprob(reply, part.begin, end),
        finish=reply.finish,
        read=part.rules,
        # A suggestion that is only the beginning of the expected text does not parse, but is not unreadable.
        unreadable=not part.is_readable and not (suggestion and query.expected.startswith(suggestion)),
        cut_off=reply.finish in {"length", "filter"}
        and not (is_closed or is_whole(answer, before, query.span, query.word)),
    )


def read_answer(
    text: str, document: str, query: Query, settings: EndpointConfig, *, grammar: str, language: str
) -> Inserted:
    """Return the inserted part of an answer. If the open file has no `grammar` (""), its `language` is used."""
    before, begin = document[: query.offset], query.offset - len(query.prefix)
    hole = Hole(
        before=document[:begin],
        after=document[query.offset :],
        original=query.expected,
        # Inside a word, no grammar is used: the text after the caret already has what a model adds.
        grammar="" if query.span == "around" else grammar,
    )
    part = extract_insertion(
        text,
        hole,
        lambda part: make_suggestion(part, before, query),
        language=grammar or language,
        thoughts=settings.thoughts,
        ends=list_stop_texts(settings),
        chat=settings.api == "chat",
    )
    # Repeated blanks are excluded from the mean of the log-probabilities.
    is_repeated = not query.prefix and before.endswith((" ", "\t"))
    inner = text[part.begin : part.end]
    return msgspec.structs.replace(part, begin=part.end - len(inner.lstrip(" \t"))) if is_repeated else part


def list_stop_texts(settings: EndpointConfig) -> tuple[str, ...]:
    """Return the template's stop texts, which some servers send at the end of an answer."""
    template = messages.own_template(settings)
    return tuple(stop for stop in template.stop if stop.strip()) if template else ()


AHEAD = 4
"""The number of questions that are asked ahead per concurrent request, so that a slow answer delays no other."""


class Asked(OpenText):
    def __init__(
        self, client: Client, settings: EndpointConfig, others: OtherFiles | None, surroundings: Surroundings
    ) -> None:
        super().__init__()
        self._language = surroundings.language
        self._grammars = surroundings.grammars
        self._client = client
        self._settings = settings
        self._others = others
        self.ahead = AHEAD * settings.concurrency

    def complete(self, query: Query) -> Answer:
        """Ask the model. The latency ends with the last token. Raises EngineMisbehaved if log-probabilities are
        missing."""
        prompt, left_out = self._prompt(query)
        reply = self._client.ask(prompt, query.repeat)
        if self._settings.logprobs and reply.text and not reply.logprobs:
            raise EngineMisbehaved(NO_LOGPROBS, restart=False)
        cost = compute_cost(reply, self._settings.price)
        before = self.text[: query.offset]
        if query.record:
            # The task that asks about records splits the answer into suggestions.
            cleaned = clean(reply.text, self._settings.thoughts, list_stop_texts(self._settings))
            part, text = Inserted(begin=0, end=len(reply.text), rules=cleaned.rules), cleaned.text
            usage = measure_usage(reply, before, query, cost, part)
        else:
            grammar = choose_grammar(self._grammars, self.path) if self._grammars else ""
            part = read_answer(reply.text, self.text, query, self._settings, grammar=grammar, language=self._language)
            usage = replace(measure_usage(reply, before, query, cost, part), left_out=left_out)
            text = "" if usage.unreadable else make_suggestion(reply.text[part.begin : part.end], before, query)
        return Answer(
            suggestions=[Suggestion(text=text)] if text.strip() else [],
            latency=reply.last_token,
            usage=usage,
            raw=reply.text if query.record or usage.read or usage.unreadable else "",
        )

    def _prompt(self, query: Query) -> tuple[messages.Prompt, int | None]:
        return build_prompt(query, self._settings, self._others, self.path, self.text)

    def expect(self, query: Query) -> None:
        self._client.expect(self._prompt(query)[0], query.repeat)

    def peak_memory(self) -> int | None:
        return None

    def close(self) -> None:
        self._client.close()


@dataclass(frozen=True, kw_only=True)
class EndpointEngine(ControlEngine):
    asking: Asking
    holes: bool
    """True if the engine is asked at carets, not about records."""
    summary: str = "the language model of your configuration"
    control: Callable[..., Running] = Asked
    version: str = ""
    source: str = "your endpoint"
    licence: str = "LicenseRef-unknown"
    takes_records: bool = True

    def install(self, version: str | None, cache: Path) -> Installation:
        """Probe the endpoint. If `version` is None, the endpoint's name for the model is used. Raises InstallError."""
        with closing(Client(self.asking, cache, PROBE_SECONDS)) as client:
            model = probe(client, self.asking.settings, holes=self.holes)
        named = version or model or self.asking.settings.model or ""
        return Installation(info=EngineInfo(name=self.name, version=named))

    def start(self, _installation: Installation, surroundings: Surroundings) -> Running:
        client = Client(self.asking, surroundings.cache, surroundings.timeout, listener=tell)
        settings, others = self.asking.settings, None
        if self.holes and settings.window.other_files:
            others = OtherFiles(surroundings.root, surroundings.suffixes, surroundings.ignored)
        return self.control(client, settings, others, surroundings)


def make_endpoint_engine(settings: EndpointConfig, name: str | None, *, holes: bool) -> EndpointEngine:
    """Return the engine. `name`: the name in reports, or None for the model's name. Raises ConfigError if the endpoint
    cannot be asked."""
    template = messages.own_template(settings)
    takes_files = settings.api in {"infill", "fim"} or (template is not None and "{files}" in template.text)
    if holes and settings.window.other_files and not takes_files:
        raise ConfigError(
            "`engine.window.otherFiles` is set, but the prompt has no place for other files: use api infill or fim, "
            "the template qwen, starcoder or codestral, or your own template with {files} and `engine.fileHeading`"
        )
    if holes and settings.api == "completions" and settings.template is None:
        raise ConfigError(
            "`engine.template` is missing: it says how a prompt of api completions marks the hole to fill. Name the "
            "model's family (see docs/models.md), or write `suffix` if the endpoint has a field of that name"
        )
    # Keys that only engines use are dropped, so that their changes do not change the endpoint.
    endpoint = EndpointConfig(**{key: getattr(settings, key) for key in EndpointConfig.__struct_fields__})
    return EndpointEngine(
        asking=Asking.new(endpoint), name=name or (settings.model or "").rpartition("/")[2], holes=holes
    )


ALTERNATIVES = "use `api: completions` with the template of the model's family, or `api: chat`"
NO_LOGPROBS = "the endpoint sends no log-probabilities with its answers: set engine.logprobs to false"
PROBE_SECONDS = 60.0
"""The time limit for one answer to a probe, in seconds. Some endpoints load the model first."""
BEFORE = "def add(a, b):\n    return "
AFTER = "".join(f"\n\ndef check_{number}():\n    assert add({number}, 1) == {number + 1}\n" for number in range(8))
FEWEST_TOKENS = 40
"""`AFTER` has at least this many tokens in any vocabulary."""
WHOLE_SHARE = 0.95
"""A question counts as complete if the endpoint sees at least this share of the tokens expected for repeated text."""


def probe(client: Client, settings: EndpointConfig, *, holes: bool) -> str:
    """Return the endpoint's name for the model that answers. `holes`: whether to check that an endpoint that takes a
    suffix also uses the suffix. Raises InstallError."""
    try:
        infill = settings.api == "infill"
        # Several endpoints silently ignore a suffix.
        native = settings.api in {"fim", "infill", "ollama"} or settings.template == messages.OF_THE_ENDPOINT
        trusting = holes and native
        # One token of an answer is enough, since only the token counts of the questions are compared.
        hole, words = messages.Prompt(prefix=BEFORE, max_tokens=1), messages.Prompt(instruction="Say: ok", max_tokens=1)
        alone = client.ask(hole if infill or trusting else words)
        if settings.logprobs and alone.text and not alone.logprobs:
            raise InstallError(NO_LOGPROBS)
        if not trusting:
            return alone.model
        both = client.ask(messages.Prompt(prefix=BEFORE, suffix=AFTER, max_tokens=1))
    except EngineFailure as failure:
        # A page of a proxy, or the form of another API.
        advice = "; check engine.api and the path of engine.endpoint" if isinstance(failure, EngineMisbehaved) else ""
        raise InstallError(f"no usable answer from {settings.endpoint}: {failure}{advice}") from failure
    if alone.prompt_tokens is None or both.prompt_tokens is None:
        raise InstallError(
            f"the endpoint does not count the tokens of a question, so ci-eval cannot check that it uses the text "
            f"after the caret; {ALTERNATIVES}"
        )
    if both.prompt_tokens - alone.prompt_tokens < FEWEST_TOKENS:
        raise InstallError(
            f"the endpoint ignores the text after the caret: a question has {alone.prompt_tokens} tokens without a "
            f"suffix, and {both.prompt_tokens} with a suffix of {len(AFTER)} characters; {ALTERNATIVES}"
        )
    if infill:
        _probe_room(client, settings, alone.prompt_tokens)
    return both.model


def _probe_room(client: Client, settings: EndpointConfig, alone: int) -> None:
    """Raise InstallError if the model does not see a full window. `alone`: the tokens of a hole after `BEFORE`."""
    # The tokens of `AFTER` are counted in a prefix, since llama.cpp shows the model more of a prefix than of a suffix.
    tokens = (client.ask(messages.Prompt(prefix=BEFORE + AFTER, max_tokens=1)).prompt_tokens or 0) - alone
    window, whole = settings.window, compute_budget(settings.window)
    own = 1 - window.other_files
    shares = (own * (1 - window.suffix), own * window.suffix, window.other_files)
    before, after, others = ("".join(islice(cycle(AFTER), int(whole * share))) for share in shares)
    files = (messages.OtherFile(path="check.py", text=others),) if others else ()
    try:
        # llama.cpp's server silently leaves out text that does not fit its batch.
        full = client.ask(messages.Prompt(prefix=before, suffix=after, files=files, max_tokens=1))
    except EngineFailure as failure:
        raise InstallError(f"the endpoint refuses a question that fills `engine.window`: {failure}") from failure
    sent = int(tokens / len(AFTER) * len(before + after + others))
    if (full.prompt_tokens or 0) < WHOLE_SHARE * sent:
        raise InstallError(
            f"the endpoint leaves out part of a full `engine.window`: it sees {full.prompt_tokens:,} of about {sent:,} "
            "tokens. llama.cpp's server passes on at most 3/4 of a batch of the prefix, and 1/4 of a "
            "batch of the suffix; other files get the rest of the context. Lower `engine.window`, or start the "
            "server with a larger --batch-size and --ctx-size"
        )
