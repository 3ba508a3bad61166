"""The client of an endpoint: it looks for a stored answer, then asks the endpoint within its budget and retries."""

from __future__ import annotations

import math
import os
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import BudgetSpent, ConfigError, ContextTooLong, EngineRaised
from ci_eval.core.machine import now
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.core.tracing import Direction, Listener
from ci_eval.plugins.adapters.endpoints.apis import CATALOG
from ci_eval.plugins.adapters.endpoints.messages import Prompt, Reply
from ci_eval.plugins.adapters.endpoints.store import Answers, Ledger, Request, Slots
from ci_eval.plugins.adapters.endpoints.trouble import Trouble
from ci_eval.plugins.adapters.endpoints.wire import Wire, build_address

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""The wait before the second try, and the longest wait for anything but a limit, in seconds."""
LONGEST_LIMIT = 1800.0
"""The longest total wait of a question, in seconds, for a limit with a known end or for a model that is being loaded.
If `engine.budget.seconds` is set, the budget applies instead."""

REFUSALS = 3
"""If this many different questions in a row get the same refusal, the account or a setting is taken to be the cause."""

SHORT, DENSEST = 4000, 10.0
"""The token count of a question with at least `SHORT` characters is checked. No tokenizer has as many as `DENSEST`
characters per token on average: o200k has 4 to 5 in prose, fewer in code. A run of one repeated character may be a
single token, so it counts as one character."""
ASKED = frozenset({"messages", "prompt", "suffix", "input_prefix", "input_suffix", "input_extra"})
_REPEATED = re.compile(r"(\s|[^\w\s])\1+")

Mode = Literal["keep", "offline", "record"]
"""keep: use the store, then the network; offline: use only the store; record: use only the network."""
MODE = "CI_EVAL_ANSWERS"
"""The environment variable that --offline and --record set."""


def answers_path(cache: Path) -> Path:
    return cache / "answers" / "answers.sqlite"


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    settings: EndpointConfig
    mode: Mode
    command: str = msgspec.field(default_factory=lambda: uuid4().hex)

    @classmethod
    def new(cls, settings: EndpointConfig) -> Asking:
        """Check the settings, and read the mode. Raises ConfigError if settings, budget, prices and mode contradict
        each other."""
        mode = os.environ.get(MODE) or "keep"
        if mode not in {"keep", "offline", "record"}:
            raise ConfigError(f"the variable {MODE} is {mode!r}; expected keep, offline or record")
        prices = bool(settings.price.input), bool(settings.price.output)
        if any(prices) and not all(prices):
            raise ConfigError(
                "`price.input` and `price.output` belong together, since one price alone gives too low costs: set both"
            )
        if settings.budget.money is not None and not any(prices):
            raise ConfigError("`budget.money` needs prices of a million tokens: set `price.input` and `price.output`")
        if settings.recorded and mode == "record":
            raise ConfigError(
                f"--record asks the endpoint again, but `recorded: {settings.recorded}` asks none: remove one of them"
            )
        return cls(settings=settings, mode="offline" if settings.recorded else mode)  # type: ignore[arg-type]


class Client:
    """Threads may share a client."""

    def __init__(
        self,
        asking: Asking,
        cache: Path,
        timeout: float,
        *,
        sleep: Callable[[float], None] = time.sleep,
        listener: Listener | None = None,
    ) -> None:
        """`timeout`: seconds for one answer; `listener`: gets requests and replies. Raises ConfigError,
        PreparationError."""
        settings = asking.settings
        self._settings = settings
        self._mode = asking.mode
        self._timeout = timeout
        self._sleep = sleep
        self._listener = listener
        self._api = CATALOG.load(settings.api)
        self.address = build_address(settings.endpoint or "", self._api.path, keyed=settings.key is not None)
        # An offline client needs no key.
        self._key = read_key(settings.key, needed=asking.mode != "offline")
        folder = answers_path(cache).parent
        self._answers = Answers(answers_path(cache))
        self._ledger = Ledger(folder / "spent.sqlite", asking.command, settings.budget, settings.price)
        self._slots = Slots(folder / "places", self.address, settings.concurrency)
        # A Wire sends one request at a time.
        self._wires: list[Wire] = []
        self._fresh: set[str] = set()
        self._refused: dict[str, str] = {}
        # There are more threads than slots: while some threads store their answers, others use the slots.
        self._threads = ThreadPoolExecutor(2 * settings.concurrency)
        self._expected: dict[str, Future[Reply]] = {}

    def expect(self, prompt: Prompt, repeat: int = 0) -> None:
        """Send the question from another thread. A later `ask` returns the answer or raises the failure."""
        request = self._request(prompt, repeat)
        if request.canonical not in self._expected:
            self._expected[request.canonical] = self._threads.submit(self._answer, request)

    def ask(self, prompt: Prompt, repeat: int = 0) -> Reply:
        """Return the answer. `repeat`: the number of this repeat. Raises EngineFailure."""
        request = self._request(prompt, repeat)
        expected = self._expected.pop(request.canonical, None)
        reply = expected.result() if expected else self._answer(request)
        self._ledger.check(reply)
        return reply

    def _request(self, prompt: Prompt, repeat: int) -> Request:
        settings = self._settings
        # Each repeat gets its own seed; with one seed, all repeats might get the same answer.
        seed = settings.sampling.seed
        if seed is not None:
            settings = replace(settings, sampling=replace(settings.sampling, seed=seed + repeat))
        body: dict[str, Any] = {**self._api.body(prompt, settings), "stream": settings.stream}
        if settings.stream and self._api.counts_at_the_end:
            body["stream_options"] = {"include_usage": True}
        if settings.logprobs:
            body |= self._api.logprobs or {}
        # The user's fields come last, so that they can change or remove any other.
        return Request(address=self.address, body=_merge(body, settings.extra), repeat=repeat)

    def _answer(self, request: Request) -> Reply:
        """Return the stored response, or ask the endpoint. Raises EngineFailure."""
        # With --record, each question is asked once: an answer that this client has already received is used again.
        is_known = self._mode != "record" or request.canonical in self._fresh
        reply = self._answers.find(request) if is_known else None
        if reply is None:
            if self._settings.recorded:
                raise EngineRaised(
                    f"{self._settings.recorded} has no answer to this question, and with `recorded` ci-eval asks "
                    "no endpoint"
                )
            if self._mode == "offline":
                raise EngineRaised(
                    "the store has no answer to this question, and with --offline ci-eval asks no endpoint: run once "
                    "without --offline, or import the answers of a machine that has them (`ci-eval answers export` "
                    "there, `ci-eval answers import` here)"
                )
            try:
                reply = self._try(request.body)
            except Trouble as trouble:
                if trouble.kind is BudgetSpent or self._is_refused_again(request, trouble):
                    # Trouble with the account affects all questions, so no further question is asked.
                    self._ledger.end(trouble.reason)
                    raise BudgetSpent(trouble.reason) from None
                if not trouble.for_good:
                    failure = trouble.kind(trouble.reason)
                    # An endpoint has no process to restart.
                    failure.restart = False
                    raise failure from None
                # A permanent refusal is stored, so that the endpoint is not asked again.
                reply = Reply(refused=trouble.reason)
            self._refused = {}
            self._answers.keep(request, reply, now())
            self._fresh.add(request.canonical)
            self._ledger.book(reply)
        if reply.refused:
            raise ContextTooLong(reply.refused)
        return reply

    def _is_refused_again(self, request: Request, trouble: Trouble) -> bool:
        """Return whether REFUSALS different questions in a row were refused with the same words."""
        # Words with digits are ignored: request numbers, times and counts differ between refusals.
        words = re.sub(r"\S*\d\S*", "", trouble.reason) if trouble.is_refusal else ""
        question = "".join(_collect_texts(request.body))
        earlier = {text: said for text, said in self._refused.items() if said == words}
        # Threads may overwrite each other's refusal: then one more question is asked.
        self._refused = {**earlier, question: words} if words else {}
        return len(self._refused) >= REFUSALS

    def close(self) -> None:
        """Cancel the waiting questions, and wait for those that were sent."""
        self._threads.shutdown(cancel_futures=True)
        self._answers.close()
        self._ledger.close()

    def _try(self, body: Mapping[str, Any]) -> Reply:
        """Send a request, with retries, within the budget. Raises Trouble or BudgetSpent."""
        tries, counted, waited = 0, 0, 0.0
        while True:
            tries += 1
            try:
                with self._slots.one():
                    # A failed try counts against the budget, too.
                    self._ledger.reserve()
                    return self._send(body)
            except Trouble as trouble:
                # A wait for a limit with a known end does not count as a retry.
                passes = trouble.is_limit and self._settings.retries > 0
                counted += not passes
                wait = trouble.wait
                # The wait is random, so that several processes do not ask again at the same moment.
                jitter = random.uniform(0.5, 1.0)  # noqa: S311  no secret
                if wait is None:
                    wait = min(FIRST_WAIT * 2.0 ** (max(counted, 1) - 1), LONGEST_WAIT) * jitter
                else:
                    wait += FIRST_WAIT * jitter
                left = self._ledger.left()
                longest = left if passes and not math.isinf(left) else LONGEST_LIMIT if passes else LONGEST_WAIT
                is_over = counted > self._settings.retries or (not passes and wait > longest)
                if not trouble.again or is_over or (passes and math.isinf(left) and waited + wait > longest):
                    if tries > 1:
                        trouble.reason += f" ({tries} attempts)"
                    raise
                if wait > left:
                    raise BudgetSpent(f"engine.budget.seconds leaves no time to ask again: {trouble.reason}") from None
            # The slot was released above, so that other questions can use it during the wait.
            waited += wait
            self._sleep(wait)

    def _send(self, body: Mapping[str, Any]) -> Reply:
        self._tell("->", body)
        try:
            wire = self._wires.pop()
        except IndexError:
            wire = Wire(self._api, self.address, self._key, self._settings.key, self._timeout)
        try:
            reply = wire.send(body)
            if not self._settings.logprobs:
                reply = replace(reply, logprobs=())
            # If the server counts fewer tokens than any tokenizer would, it did not read the whole question.
            question = "".join(_collect_texts({name: value for name, value in body.items() if name in ASKED}))
            dense = len(_REPEATED.sub(r"\1", question))
            if reply.prompt_tokens and dense >= SHORT and dense > DENSEST * reply.prompt_tokens:
                raise Trouble(
                    f"the server counted {reply.prompt_tokens:,} tokens in a question of {len(question):,} characters, "
                    "so it left out part of the question: give the server a larger context, or lower engine.window",
                    kind=ContextTooLong,
                )
        except Trouble as trouble:
            self._tell("<-", {"error": trouble.reason})
            raise
        finally:
            self._wires.append(wire)
        self._tell("<-", reply)
        return reply

    def _tell(self, direction: Direction, message: object) -> None:
        if self._listener:
            self._listener(direction, msgspec.json.encode(message))


def _merge(body: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Merge objects recursively, such as Ollama's `options`. The value null removes a field."""
    fields = dict(body)
    for name, value in extra.items():
        inner = fields.get(name)
        if isinstance(inner, Mapping) and isinstance(value, Mapping):
            value = _merge(inner, value)
        fields[name] = value
    return {name: value for name, value in fields.items() if value is not None}


def _collect_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list)):
        # The role of a message is not part of the question.
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        for name, inner in pairs:
            if name != "role":
                yield from _collect_texts(inner)


def read_key(name: str | None, *, needed: bool) -> str:
    """Return the key in the environment variable `name`, or "" if `name` is None. Raises ConfigError if a needed key is
    missing, or if the value cannot be a key."""
    if name is None:
        return ""
    key = os.environ.get(name, "").strip()
    if not key and needed:
        # The name is not shown, since a user may have written the key itself by mistake.
        raise ConfigError("the environment variable that `engine.key` names is not set; set it, or use --offline")
    if not re.fullmatch(r"[!-~]*", key):
        raise ConfigError(
            "the environment variable that `engine.key` names contains blanks or odd characters, so it is not a key"
        )
    return key
