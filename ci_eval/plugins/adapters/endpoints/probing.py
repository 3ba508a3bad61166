"""The probes of an endpoint: whether it is there, and heeds the fields of a request; and what `doctor` lists of it."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ci_eval.core.base.errors import CiEvalError, EngineFailure, InstallError
from ci_eval.core.base.quoting import quote
from ci_eval.core.contracts import Query
from ci_eval.core.model.settings import EndpointConfig, SamplingConfig
from ci_eval.plugins.adapters.endpoints.client import Asking, Client, read_key
from ci_eval.plugins.adapters.endpoints.context import Tokenizer, compute_budget, has_tokenizer
from ci_eval.plugins.adapters.endpoints.contract import OtherFile, Prompt, Reply
from ci_eval.plugins.adapters.endpoints.http.wire import build_address, describe_connection
from ci_eval.plugins.adapters.endpoints.prompts import Reading, make_suggestion, measure_usage, read_answer
from ci_eval.plugins.adapters.endpoints.templates import OF_THE_ENDPOINT
from ci_eval.plugins.responses.cleaning import clean
from ci_eval.plugins.responses.fences import find_fences

BEFORE = "def add(a, b):\n    return "
BEHIND = "".join(f"\n\ndef check_{number}():\n    assert add({number}, 1) == {number + 1}\n" for number in range(8))
FEWEST = 40
"""The smallest number of tokens that the text behind the caret has, in any vocabulary."""
MOST_OF = 0.95
"""The share of the expected tokens at which nothing is missing: repeated text may take a few less."""


def probe(client: Client, settings: EndpointConfig, *, holes: bool) -> str:
    """Return the endpoint's name for the model that answers. Raises InstallError if it does not answer.

    `holes`: whether it will be asked to fill some; then an endpoint that takes a suffix must also heed it.
    """
    try:
        infill = settings.api == "infill"
        # Several endpoints ignore a suffix without a word, and would be measured at something else.
        native = settings.api in {"fim", "infill", "ollama"} or settings.template == OF_THE_ENDPOINT
        trusting = holes and native
        # One token of an answer is enough, since only the tokens of the question are looked at.
        hole, words = Prompt(prefix=BEFORE, max_tokens=1), Prompt(instruction="Say: ok", max_tokens=1)
        alone = client.ask(hole if infill or trusting else words)
        if settings.logprobs and alone.text and not alone.logprobs:
            raise InstallError(UNTOLD)
        if not trusting:
            return alone.model
        both = client.ask(Prompt(prefix=BEFORE, suffix=BEHIND, max_tokens=1))
    except EngineFailure as failure:
        raise InstallError(f"no usable answer from {settings.endpoint}: {failure}") from failure
    if alone.prompt_tokens is None or both.prompt_tokens is None:
        raise InstallError(
            f"the endpoint does not say how many tokens a question has, so nobody can tell whether it heeds what "
            f"stands behind the caret; {ELSE}"
        )
    if both.prompt_tokens - alone.prompt_tokens < FEWEST:
        raise InstallError(
            f"the endpoint ignores what stands behind the caret: a question has {alone.prompt_tokens} tokens without a "
            f"suffix, and {both.prompt_tokens} with one of {len(BEHIND)} characters; {ELSE}"
        )
    if infill:
        _probe_room(client, settings, alone.prompt_tokens)
    return both.model


def _probe_room(client: Client, settings: EndpointConfig, alone: int) -> None:
    """Check that a whole window gets through.

    `alone`: the tokens of BEFORE as a prefix. Raises InstallError.
    """
    # Of a prefix more is shown than of a suffix.
    tokens = (client.ask(Prompt(prefix=BEFORE + BEHIND, max_tokens=1)).prompt_tokens or 0) - alone
    window, whole = settings.window, compute_budget(settings.window)
    unit = len(BEHIND) / tokens if has_tokenizer(settings) and tokens > 0 else 1.0
    own = 1 - window.other_files
    shares = (own * (1 - window.suffix), own * window.suffix, window.other_files)
    before, behind, others = (_long(int(whole * share * unit)) for share in shares)
    files = (OtherFile(path="check.py", text=others),) if others else ()
    try:
        # llama.cpp's server leaves out text that does not fit its batch, without a word.
        full = client.ask(Prompt(prefix=before, suffix=behind, files=files, max_tokens=1))
    except EngineFailure as failure:
        raise InstallError(f"a full engine.window is too much: {failure}") from failure
    sent = int(tokens / len(BEHIND) * len(before + behind + others))
    if (full.prompt_tokens or 0) < MOST_OF * sent:
        raise InstallError(
            f"the endpoint leaves out part of a full engine.window: of about {sent:,} tokens it sees "
            f"{full.prompt_tokens:,}. llama.cpp's server shows of the prefix 3/4 of a batch, of the suffix 1/4, and of "
            "other files what its context has left beside a batch: lower engine.window, or start it with a larger "
            "--batch-size and --ctx-size"
        )


def probe_tokenizer(tokenizer: Tokenizer) -> None:
    """Raise InstallError if the endpoint does not count tokens."""
    try:
        few, many = tokenizer.count(BEFORE), tokenizer.count(BEFORE + BEHIND)
    except EngineFailure as failure:
        raise InstallError(f"the endpoint counts no tokens: {failure}; {ESTIMATE}") from failure
    if not 0 < few < many:
        raise InstallError(f"the endpoint counts {few} tokens in a text, and {many} in a longer one; {ESTIMATE}")


ESTIMATE = "give an estimate instead: engine.window.charactersPerToken, for example 2.5"


def _long(characters: int) -> str:
    return (BEHIND * (characters // len(BEHIND) + 1))[:characters]


ELSE = "use api: completions with the template of the model's family, or api: chat"
UNTOLD = "the endpoint sends no log-probabilities with its answers: set engine.logprobs to false"
PATIENCE = 60.0
"""Seconds that one answer may take: some endpoints load the model for the first."""
WORDS = Prompt(instruction="Say: ok", max_tokens=64)
SAMPLE = f"{BEFORE}a + b{BEHIND}"
CARETS = [match.end() for match in re.finditer(r"(?<=\S) (?=\S)", SAMPLE)][:20]
"""The offsets in SAMPLE at which the forms of answers are counted: after the first blanks within lines."""
COUNTING = Prompt(instruction="Count from 1 to 50, with a blank between numbers.", max_tokens=4)


@dataclass(frozen=True)
class Ability:
    what: str
    good: bool
    detail: str


class Examination:
    """An examination of one endpoint; nothing of it is stored."""

    def __init__(self, settings: EndpointConfig, cache: Path) -> None:
        """Remember the endpoint. `cache`: a folder that is thrown away."""
        self._settings = settings
        self._cache = cache

    def abilities(self) -> Iterator[Ability]:
        """Yield the abilities of the endpoint. If it answers no chat, only that, the list of models and the apis are
        examined."""
        yield self._models()
        chat = self._ask("chat in one piece", WORDS, stream=False)
        yield chat[0]
        if reply := chat[1]:
            yield _thoughts(reply)
            yield _counts("tokens are counted", reply)
            streamed, answer = self._ask("chat as a stream", WORDS, stream=True)
            yield streamed
            if answer:
                yield _counts("tokens are counted in a stream", answer)
            yield self._limit()
            yield from self._fields()
            yield from self._forms()
        # llama.cpp and Ollama have these paths beside /v1, not below it.
        base = (self._settings.endpoint or "").rstrip("/").removesuffix("/v1")
        yield self._hole("completions, holes by `suffix`", api="completions", template="suffix")
        yield self._hole("fim", api="fim")
        yield self._hole("infill (llama.cpp)", api="infill", endpoint=base)
        yield self._hole("ollama", api="ollama", endpoint=base)
        what, asking = "counts tokens of a text (/tokenize)", Asking(settings=self._settings, mode="record")
        try:
            with closing(Tokenizer(asking, self._cache, PATIENCE)) as tokenizer:
                probe_tokenizer(tokenizer)
        except CiEvalError as error:
            yield Ability(what, False, str(error))
        else:
            yield Ability(what, True, "engine.window.tokens can be exact")

    def _ask(self, what: str, prompt: Prompt, **changes: Any) -> tuple[Ability, Reply | None]:
        settings = replace(self._settings, **changes)
        try:
            with closing(Client(Asking(settings=settings, mode="record"), self._cache, PATIENCE)) as client:
                reply = client.ask(prompt)
        except CiEvalError as error:
            return Ability(what, False, str(error)), None
        text = quote(" ".join(clean(reply.text).text.split()), 40)
        return Ability(what, True, f"{text!r}, ended by {reply.finish}, {reply.last_token:,.0f} ms"), reply

    def _models(self) -> Ability:
        import requests  # Takes long, and most commands ask no endpoint.

        settings, what = self._settings, "list of models"
        key = read_key(settings.key, needed=True)
        address = build_address(settings.endpoint or "", "/models", keyed=bool(key))
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            # No redirect is followed, since only the configured address may be reached (SECURITY.md).
            answer = requests.get(address, headers=headers, timeout=10, allow_redirects=False)
            names = [str(model["id"]) for model in answer.json()["data"]]
        except (requests.RequestException, ValueError, LookupError, TypeError) as error:
            is_broken = isinstance(error, requests.ConnectionError)
            reason = describe_connection(error) if is_broken else "no such list in the answer"
            return Ability(what, False, f"none at {address}: {reason}")
        if settings.model is None and names:
            self._settings = replace(settings, model=names[0])
        return Ability(what, bool(names), ", ".join(names[:5]) + (", …" if len(names) > 5 else ""))

    def _limit(self) -> Ability:
        # Counting to 50 takes more than these 4 tokens, so an end for any other reason shows that the limit was
        # ignored.
        ability, reply = self._ask("the limit of tokens is heeded", COUNTING, stream=False)
        if reply is None or reply.finish == "length":
            return ability
        why = f"asked for {COUNTING.max_tokens} tokens, it ended by {reply.finish} after {reply.answer_tokens or '?'}"
        return Ability(ability.what, False, why)

    def _fields(self) -> Iterator[Ability]:
        for what, sampling in (
            ("temperature 0", SamplingConfig(temperature=0.0)),
            ("top_p", SamplingConfig(top_p=0.9)),
            ("seed", SamplingConfig(seed=1)),
            ("stop", SamplingConfig(stop=("\n\n",))),
        ):
            yield self._ask(f"field {what}", WORDS, stream=False, sampling=sampling)[0]
        ability, reply = self._ask("log-probabilities", WORDS, stream=False, logprobs=True)
        if reply and not reply.logprobs:
            why = "the endpoint takes the field, and tells none: engine.logprobs: false"
            ability = Ability(ability.what, False, why)
        yield ability

    def _forms(self) -> Iterator[Ability]:
        """Yield what was read of the answer at each caret, and at last the number of answers in each form."""
        settings, forms = replace(self._settings, stream=False), Counter[str]()
        with closing(Client(Asking(settings=settings, mode="record"), self._cache, PATIENCE)) as client:
            for number, offset in enumerate(CARETS, 1):
                before, after = SAMPLE[:offset], SAMPLE[offset:]
                query = Query(offset=offset, prefix="", expected=after.partition("\n")[0], span="line")
                try:
                    reply = client.ask(Prompt(prefix=before, suffix=after, max_tokens=FORM_TOKENS))
                    form, text = _read_form(reply, query, settings)
                    detail = f"{quote(reply.text, 60)!r} is read as {text!r}"
                except EngineFailure as failure:
                    form, detail = "no answer", str(failure)
                forms[form] += 1
                yield Ability(f"caret {number}: {form}", form not in UNREAD, detail)
        counts = ", ".join(f"{form} {count}" for form, count in forms.most_common())
        yield Ability(f"{len(CARETS)} carets", not any(forms[form] for form in UNREAD), counts)

    def _hole(self, what: str, **changes: Any) -> Ability:
        settings = replace(self._settings, **changes)
        try:
            with closing(Client(Asking(settings=settings, mode="record"), self._cache, PATIENCE)) as client:
                model = probe(client, settings, holes=True)
        except InstallError as error:
            return Ability(what, False, str(error))
        return Ability(what, True, f"holes are filled by {model or 'the model'}")


UNREAD = ("unreadable", "no answer")
FORM_TOKENS = 512
"""The most tokens of an answer at a caret: enough for short thoughts and words around the code."""


def _read_form(reply: Reply, query: Query, settings: EndpointConfig) -> tuple[str, str]:
    """Return the form of an answer at a caret of SAMPLE, and what would be inserted."""
    before = SAMPLE[: query.offset]
    part = read_answer(reply.text, SAMPLE, query, settings, Reading("python", "python"))
    if measure_usage(reply, before, query, None, part).unreadable:
        return "unreadable", ""
    form = part.rules[-1] if part.rules else "as it is"
    if form == "fence" and (reply.text[: find_fences(reply.text)[0].start] + reply.text[part.end :]).strip("`~ \n"):
        form = "words around"
    return form, make_suggestion(reply.text[part.begin : part.end], before, query)


def _thoughts(reply: Reply) -> Ability:
    if not (reply.thought or clean(reply.text).thought):
        return Ability("thoughts", True, "the model shows none")
    location = "beside the answer" if reply.thought else "in the answer, where they are taken out"
    return Ability("thoughts", True, f"the model thinks: {location}; give it room by engine.sampling.maxTokens")


def _counts(what: str, reply: Reply) -> Ability:
    if reply.prompt_tokens is None or reply.answer_tokens is None:
        return Ability(what, False, "not at all: no budget of tokens or money can be kept")
    return Ability(what, True, f"{reply.prompt_tokens:,} in the question, {reply.answer_tokens:,} in the answer")


def examine(endpoint: str, model: str | None, key: str | None) -> Iterator[Ability]:
    """Yield the abilities of the endpoint; `key`: name of the variable with the key. Raises ConfigError."""
    settings = EndpointConfig(endpoint=endpoint, model=model, key=key, retries=1)
    with tempfile.TemporaryDirectory(prefix="ci-eval-endpoint-") as folder:
        yield from Examination(settings, Path(folder)).abilities()
