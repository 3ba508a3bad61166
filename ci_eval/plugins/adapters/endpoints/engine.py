"""An engine made of a language model behind an address.

It runs in ci-eval's own process, and reaches that address alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError, EngineMisbehaved
from ci_eval.core.contracts import Answer, Installation, Query, Surroundings
from ci_eval.core.grammar.syntax import choose_grammar
from ci_eval.core.model import EngineInfo, Suggestion, Usage
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.core.tracing import tell
from ci_eval.plugins.adapters.controls import OpenText
from ci_eval.plugins.adapters.endpoints.client import Asking, Client
from ci_eval.plugins.adapters.endpoints.context import Context, Seen, make_context, make_tokenizer
from ci_eval.plugins.adapters.endpoints.contract import Reply
from ci_eval.plugins.adapters.endpoints.probing import PATIENCE, UNTOLD, probe, probe_tokenizer
from ci_eval.plugins.adapters.endpoints.prompts import (
    Reading,
    build_prompt,
    list_stop_texts,
    make_suggestion,
    measure_usage,
    read_answer,
)
from ci_eval.plugins.adapters.endpoints.store import compute_cost
from ci_eval.plugins.adapters.endpoints.templates import OF_THE_ENDPOINT, find_template, takes_files
from ci_eval.plugins.responses.cleaning import clean
from ci_eval.plugins.responses.completion import Inserted

AHEAD = 4
"""The number of questions asked ahead, as a multiple of those under way: one slow answer holds up no others."""


class Asked(OpenText):
    """A started engine, which asks a language model."""

    def __init__(
        self, client: Client, settings: EndpointConfig, context: Context, language: str, grammars: Mapping[str, str]
    ) -> None:
        super().__init__()
        self._language = language
        self._grammars = grammars
        self._client = client
        self._settings = settings
        self._context = context
        self._path = ""
        self.ahead = AHEAD * settings.concurrency

    def open(self, path: str, text: str) -> None:
        super().open(path, text)
        self._path = path

    def complete(self, query: Query) -> Answer:
        """Return the model's one suggestion. The latency is the time until its last token was there. Raises
        EngineMisbehaved if log-probabilities are missing."""
        seen = self._seen(query)
        reply = self._client.ask(build_prompt(seen, query, self._settings), query.repeat)
        if self._settings.logprobs and reply.text and not reply.logprobs:
            raise EngineMisbehaved(UNTOLD, restart=False)
        cost = compute_cost(reply, self._settings.price)
        before = self.text[: query.offset]
        if query.record:
            whole = Inserted(begin=0, end=len(reply.text))
            return self._read(reply, measure_usage(reply, before, query, cost, whole))
        grammar = choose_grammar(self._grammars, self._path) if self._grammars else ""
        part = read_answer(reply.text, self.text, query, self._settings, Reading(grammar or self._language, grammar))
        usage = measure_usage(reply, before, query, cost, part)
        text = "" if usage.unreadable else make_suggestion(reply.text[part.begin : part.end], before, query)
        return Answer(
            suggestions=[Suggestion(text=text)] if text.strip() else [],
            latency=reply.last_token,
            usage=replace(usage, left_out=seen.window.left_out),
            raw=reply.text if usage.read or usage.unreadable else "",
        )

    def _seen(self, query: Query) -> Seen:
        return Seen() if query.record else self._context.at(self._path, self.text, query.offset)

    def expect(self, query: Query) -> None:
        """Ask ahead, without waiting for the answer."""
        self._client.expect(build_prompt(self._seen(query), query, self._settings), query.repeat)

    def _read(self, reply: Reply, usage: Usage) -> Answer:
        """Return the answer about a record, whose suggestions the task reads."""
        answer = clean(reply.text, self._settings.thoughts, list_stop_texts(self._settings))
        return Answer(
            suggestions=[Suggestion(text=answer.text)] if answer.text.strip() else [],
            latency=reply.last_token,
            usage=replace(usage, read=answer.rules),
            raw=reply.text,
        )

    def peak_memory(self) -> int | None:
        """Return None, since the model runs somewhere else."""
        return None

    def close(self) -> None:
        self._client.close()
        self._context.close()


@dataclass(frozen=True, kw_only=True)
class EndpointEngine:
    asking: Asking
    name: str
    holes: bool
    """A flag: the engine is asked at carets; else about records."""
    summary: str = "the language model of your configuration"
    languages: frozenset[str] | None = None
    version: str = ""
    source: str = "your endpoint"
    licence: str = "LicenseRef-unknown"
    verified: bool = True
    toolchains: Mapping[str, str] = field(default_factory=dict)
    needs_dependencies: bool = False
    takes_records: bool = True
    needs: tuple[str, ...] = ()
    own_process: bool = False

    def is_ready(self, _cache: Path) -> bool | None:
        """Return None, since there is nothing to install."""
        return None

    def install(self, version: str | None, cache: Path) -> Installation:
        """Ask the endpoint something. The version in reports is `version`, or the endpoint's name for the model. Raises
        InstallError."""
        client = Client(self.asking, cache, PATIENCE)
        tokenizer = make_tokenizer(self.asking, cache, PATIENCE) if self.holes else None
        try:
            model = probe(client, self.asking.settings, holes=self.holes)
            if tokenizer:
                probe_tokenizer(tokenizer)
        finally:
            client.close()
            if tokenizer:
                tokenizer.close()
        named = version or model or self.asking.settings.model or ""
        return Installation(info=EngineInfo(name=self.name, version=named))

    def start(self, _installation: Installation, surroundings: Surroundings) -> Asked:
        """Return a client with connections of its own."""
        client = Client(self.asking, surroundings.cache, surroundings.timeout, listener=tell)
        context = make_context(self.asking, surroundings)
        return Asked(client, self.asking.settings, context, surroundings.language, surroundings.grammars)


def make_endpoint_engine(settings: EndpointConfig, name: str | None, *, holes: bool) -> EndpointEngine:
    """Return the engine for an endpoint; `name`: the name in reports, or None for the model's name.

    Raises ConfigError if it cannot be asked.
    """
    if settings.template not in {None, OF_THE_ENDPOINT}:
        # The result is not needed: a wrong template is to end the command before anything is asked.
        find_template(settings.template or "", settings.file_heading)
    if holes and settings.window.other_files and not takes_files(settings):
        raise ConfigError(
            "engine.window.otherFiles is given, but nothing says where other files stand in what this model is asked: "
            "use api infill or fim, the template qwen, starcoder or codestral, or one of your own with {files} and "
            "engine.fileHeading"
        )
    if holes and settings.api == "completions" and settings.template is None:
        raise ConfigError(
            "engine.template is missing: api completions needs to know how holes are written for this model; give its "
            "family's name (docs/models.md has them), or `suffix` where the endpoint fills holes by itself"
        )
    # Only what is asked and how: the engine's own keys make no other endpoint of it.
    endpoint = EndpointConfig(**{key: getattr(settings, key) for key in EndpointConfig.__struct_fields__})
    return EndpointEngine(
        asking=Asking.new(endpoint), name=name or (settings.model or "").rpartition("/")[2], holes=holes
    )
