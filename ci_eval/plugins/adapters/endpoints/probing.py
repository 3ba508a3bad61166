"""The examination of an endpoint for `ci-eval doctor`."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import CiEvalError, EngineFailure, InstallError
from ci_eval.core.base.quoting import quote
from ci_eval.core.contracts import Query
from ci_eval.core.model.settings import EndpointConfig, SamplingConfig
from ci_eval.plugins.adapters.endpoints import engine
from ci_eval.plugins.adapters.endpoints.client import Asking, Client, read_key
from ci_eval.plugins.adapters.endpoints.messages import Prompt, Reply
from ci_eval.plugins.adapters.endpoints.wire import build_address, describe_connection
from ci_eval.plugins.responses.cleaning import clean, find_fences

WORDS = Prompt(instruction="Say: ok", max_tokens=64)
SAMPLE = f"{engine.BEFORE}a + b{engine.AFTER}"
CARETS = [match.end() for match in re.finditer(r"(?<=\S) (?=\S)", SAMPLE)][:20]
"""The offsets in `SAMPLE` after its first 20 blanks within lines. The endpoint is asked at each of them."""
COUNTING = Prompt(instruction="Count from 1 to 50, with a blank between numbers.", max_tokens=4)


class Ability(msgspec.Struct, frozen=True):
    what: str
    good: bool
    detail: str


class Examination(msgspec.Struct):
    settings: EndpointConfig
    cache: Path

    def abilities(self) -> Iterator[Ability]:
        """Yield each ability. If the endpoint does not answer a chat, the parts that need a chat are skipped."""
        yield self._models()
        chat = self._ask("chat in one piece", WORDS)
        yield chat[0]
        if reply := chat[1]:
            thinks = "the model shows no thoughts"
            if reply.thought or clean(reply.text).thought:
                location = (
                    "apart from the answer"
                    if reply.thought
                    else "in the answer, from which ci-eval removes the thoughts"
                )
                thinks = f"the model thinks {location}; raise engine.sampling.maxTokens to leave room for the answer"
            yield Ability("thoughts", True, thinks)
            yield _check_counts("tokens are counted", reply)
            streamed, answer = self._ask("chat as a stream", WORDS, stream=True)
            yield streamed
            if answer:
                yield _check_counts("tokens are counted in a stream", answer)
            yield from self._fields()
            yield from self._forms()
        # The paths of `infill` and `ollama` are next to /v1, not below it.
        base = (self.settings.endpoint or "").rstrip("/").removesuffix("/v1")
        yield self._hole("completions, holes by `suffix`", api="completions", template="suffix")
        yield self._hole("fim", api="fim")
        yield self._hole("infill (llama.cpp)", api="infill", endpoint=base)
        yield self._hole("ollama", api="ollama", endpoint=base)

    @contextmanager
    def _client(self, **changes: Any) -> Iterator[Client]:
        asking = Asking(settings=replace(self.settings, **changes), mode="record")
        with closing(Client(asking, self.cache, engine.PROBE_SECONDS)) as client:
            yield client

    def _ask(self, what: str, prompt: Prompt, *, stream: bool = False, **changes: Any) -> tuple[Ability, Reply | None]:
        try:
            with self._client(stream=stream, **changes) as client:
                reply = client.ask(prompt)
        except CiEvalError as error:
            return Ability(what, False, str(error)), None
        text = quote(" ".join(clean(reply.text).text.split()), 40)
        return Ability(what, True, f"{text!r}, ended by {reply.finish}, {reply.last_token:,.0f} ms"), reply

    def _models(self) -> Ability:
        import requests  # The import takes long, and most commands ask no endpoint.

        settings, what = self.settings, "list of models"
        key = read_key(settings.key, needed=True)
        address = build_address(settings.endpoint or "", "/models", keyed=bool(key))
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            # No redirect is followed, since only the configured address may be reached (SECURITY.md).
            answer = requests.get(address, headers=headers, timeout=10, allow_redirects=False)
            names = [str(model["id"]) for model in answer.json()["data"]]
        except (requests.RequestException, ValueError, LookupError, TypeError) as error:
            is_broken = isinstance(error, requests.ConnectionError)
            reason = describe_connection(error) if is_broken else "the answer has no list of models"
            return Ability(what, False, f"not found at {address}: {reason}")
        if settings.model is None and names:
            self.settings = replace(settings, model=names[0])
        return Ability(what, bool(names), ", ".join(names[:5]) + (", …" if len(names) > 5 else ""))

    def _fields(self) -> Iterator[Ability]:
        ability, reply = self._ask("the endpoint obeys the token limit", COUNTING)
        # Counting to 50 takes more than 4 tokens, so any other reason to stop shows that the limit was ignored.
        if reply and reply.finish != "length":
            why = f"asked for {COUNTING.max_tokens} tokens, but the answer ended by {reply.finish}"
            ability = Ability(ability.what, False, f"{why} after {reply.answer_tokens or '?'} tokens")
        yield ability
        for what, sampling in (
            ("temperature 0", SamplingConfig(temperature=0.0)),
            ("top_p", SamplingConfig(top_p=0.9)),
            ("seed", SamplingConfig(seed=1)),
            ("stop", SamplingConfig(stop=("\n\n",))),
        ):
            yield self._ask(f"field {what}", WORDS, sampling=sampling)[0]
        ability, reply = self._ask("log-probabilities", WORDS, logprobs=True)
        if reply and not reply.logprobs:
            why = "the endpoint accepts the field, but sends no log-probabilities: set engine.logprobs to false"
            ability = Ability(ability.what, False, why)
        yield ability

    def _forms(self) -> Iterator[Ability]:
        forms = Counter[str]()
        with self._client(stream=False) as client:
            for number, offset in enumerate(CARETS, 1):
                expected, end, after = SAMPLE[offset:].partition("\n")
                before, after = SAMPLE[:offset], end + after
                query = Query(offset=offset, prefix="", expected=expected, span="line")
                try:
                    reply = client.ask(Prompt(prefix=before, suffix=after, max_tokens=FORM_TOKENS))
                    part = engine.read_answer(
                        reply.text, before + after, query, self.settings, grammar="python", language=""
                    )
                    if engine.measure_usage(reply, before, query, None, part).unreadable:
                        form, text = "unreadable", ""
                    else:
                        form = part.rules[-1] if part.rules else "as it is"
                        text = engine.make_suggestion(reply.text[part.begin : part.end], before, query)
                    fences = find_fences(reply.text) if form == "fence" else []
                    if fences and (reply.text[: fences[0].start] + reply.text[part.end :]).strip("`~ \n"):
                        form = "words around"
                    detail = f"{quote(reply.text, 60)!r} is read as {text!r}"
                except EngineFailure as failure:
                    form, detail = "no answer", str(failure)
                forms[form] += 1
                yield Ability(f"caret {number}: {form}", form not in UNREAD, detail)
        counts = ", ".join(f"{form} {count}" for form, count in forms.most_common())
        yield Ability(f"{len(CARETS)} carets", not any(forms[form] for form in UNREAD), counts)

    def _hole(self, what: str, **changes: Any) -> Ability:
        try:
            with self._client(**changes) as client:
                model = engine.probe(client, replace(self.settings, **changes), holes=True)
        except InstallError as error:
            return Ability(what, False, str(error))
        return Ability(what, True, f"holes are filled by {model or 'the model'}")


UNREAD = ("unreadable", "no answer")
FORM_TOKENS = 512


def _check_counts(what: str, reply: Reply) -> Ability:
    if reply.prompt_tokens is None or reply.answer_tokens is None:
        return Ability(
            what, False, "the endpoint sends no counts, so ci-eval cannot enforce a budget of tokens or money"
        )
    return Ability(what, True, f"{reply.prompt_tokens:,} in the question, {reply.answer_tokens:,} in the answer")


def examine(endpoint: str, model: str | None, key: str | None) -> Iterator[Ability]:
    """Examine an endpoint, and yield what it can do. `key`: name of the variable with the key. Raises ConfigError."""
    settings = EndpointConfig(endpoint=endpoint, model=model, key=key, retries=1)
    with tempfile.TemporaryDirectory(prefix="ci-eval-endpoint-") as folder:
        yield from Examination(settings, Path(folder)).abilities()
