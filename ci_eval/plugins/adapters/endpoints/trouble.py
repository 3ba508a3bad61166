"""The failures of a request, and whether to ask again.

The HTTP code of the response decides first; the endpoint's message decides only between the meanings of that code. The
patterns of messages come from the providers' references, the sources of open servers (vLLM 0.33, llama.cpp, TGI,
SGLang, Ollama), and reports about proxies.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from ci_eval.core.base import errors
from ci_eval.core.base.quoting import quote

STOP, LENGTH, FILTER, REFUSAL, TOOL, BROKEN = "stop", "length", "filter", "refusal", "tool", "broken"

FINISHES = {
    STOP: "stop eos eos_token eos_token_id word stop_sequence stop_word stop_words stop_str stop_string stop_token end "
    "end_turn end_of_turn endoftext complete completed finish finished done normal success succeeded eosfound "
    "stopstringfound alternative_status_final",
    LENGTH: "length limit model_length max_tokens max_length max_output max_output_tokens token_limit maxtokens "
    "max_new_tokens model_context_window_exceeded context_length contextlengthreached maxpredictedtokensreached "
    "incomplete truncated alternative_status_truncated_final",
    FILTER: "content_filter content_filtered filter filtered safety recitation blocklist blacklist prohibited_content "
    "spii image_safety guardrail_intervened error_toxic sensitive language content_blocked moderation "
    "alternative_status_content_filter",
    REFUSAL: "refusal refused",
    TOOL: "tool_calls tool_call tool_use function_call tool toolcalls",
}
"""Our finish reason → the endpoints' words for it, in lower case. Any other word means a broken answer."""

STILL_GOING = frozenset({"", "null", "none", "in_progress", "not_finished", "finish_reason_unspecified"})
"""The finish reasons of chunks before the last one: DashScope sends the text `null`, llama.cpp `none`."""

_OURS = {word: ours for ours, words in FINISHES.items() for word in words.split()}

AGAIN = frozenset({408, 409, 420, 424, 425, 429, 498, 499})
"""HTTP codes below 500 after which another try may succeed."""
NEVER = frozenset({501, 505})
"""HTTP codes of at least 500 after which no other try will succeed."""

CODES = {
    429: "rate_limit_exceeded rate_limit_error throttling too_many_requests",
    503: "overloaded_error overloaded service_unavailable unavailable",
    400: "invalid_request_error badrequesterror bad_request context_length_exceeded",
}
"""HTTP code → the lower-case names of errors that, in the middle of an answer, are treated like this code."""
PASSING = re.compile(
    r"rate.?limit|per[ -](?:second|minute|hour)|(?:a|the|this) (?:second|minute)|\b[RT]PM\b|throttl|try again|retry|"
    r"too many requests|overloaded|capacity|is busy|currently unavailable",
    re.IGNORECASE,
)
"""Matches messages about a limit or a load that ends by itself."""
THROTTLED = re.compile(
    r"rate.?limit|(?:tokens|requests) per[ -](?:second|minute|hour|day)|\b[RT]PM\b|throttl|too many requests|"
    r"(?:please|must|before) wait|wait before|slow down",
    re.IGNORECASE,
)
"""Matches messages about a rate limit, but not refusals such as "try again with a shorter prompt"."""

LOADING = re.compile(
    r"(?:loading|warming up|starting(?! with)|initiali[sz]ing).{0,40}model|model.{0,80}(?:loading|loaded yet|not ready|"
    r"warming up|starting(?! with)|initiali[sz])|not ready|(?:server|service|container) is (?:starting|loading)|"
    r"cold start",
    re.IGNORECASE | re.DOTALL,
)
"""Matches what llama.cpp, Hugging Face and KServe answer with code 503 while they load a model."""

_SUBJECT = (
    r"(?:prompt|input|inputs|message|messages|request|conversation|context|question|query|text|history|content|"
    r"sequence|tokens? in the)"
)
_SIZE = r"(?:token|context|window|length|long|character|size|max_model_len|max_seq_len)"
_TOO = r"(?:exceed\w*|(?:longer|larger|greater|more|less|fewer) than|too (?:long|large|many)|over the|beyond)"
_BOUND = rf"(?:{_TOO}|at most|no more than|range of|out of range|limit|maximum|must (?:be|have)|<=)"
TOO_LONG = re.compile(
    "|".join(
        (
            r"exceed_context_size|string_above_max_length|max_model_len|max_seq_len|maximum (?:context|prompt|input)",
            r"tokens\b.{0,40}> ?n_ctx|max_?length:? [\d,]+,? actual:? [\d,]+",
            r"context[ _](?:length|window|size)|context[ _-]?limit[ _-]?exceed",
            rf"\b{_SUBJECT}\b.{{0,80}}\b(?:too|is|was) (?:long|large|big)\b",
            r"too many (?:input |prompt |context )?tokens",
            rf"{_SUBJECT}\b.{{0,120}}\b{_TOO}.{{0,120}}{_SIZE}",
            rf"{_SUBJECT}\b.{{0,120}}{_SIZE}.{{0,120}}\b{_BOUND}",
            r"\b(?:less|fewer) than [\d,]+ tokens|range of input length|tokens? (?:limit|count)\b.{0,60}exceed",
            rf"(?:reduce|shorten|truncate)\b.{{0,60}}\b{_SUBJECT}",
            rf"does(?:n't| not) fit.{{0,60}}{_SIZE}",
            r"超长|超出.{0,10}长度|长度.{0,20}超|слишком длин|превыша\w*.{0,60}токен|длин\w*.{0,60}превыша",
        )
    ),
    re.IGNORECASE | re.DOTALL,
)
OF_THE_ANSWER = re.compile(
    r"\bmax(?:imum)?_?(?:completion_|new_|output_)?tokens\b(?! allowed)|(?:completion|output) tokens", re.IGNORECASE
)
ABOVE_ITS_LIMIT = re.compile(
    rf"(?:max(?:imum)?_?(?:completion_|new_|output_)?tokens|(?:completion|output) tokens)\b.{{0,120}}"
    rf"(?:{_BOUND}|too large|above|between|(?:should|must) be)",
    re.IGNORECASE | re.DOTALL,
)
"""Matches refusals because `max_tokens` is above the model's limit."""
OF_THE_QUESTION = re.compile(
    rf"\b(?:prompt|inputs?|messages|context|conversation|question)\b|{_SUBJECT} is too long", re.IGNORECASE
)

REQUESTED = re.compile(
    r"limit:? *(?P<limit>[\d,]+).{0,40}requested:? *(?P<requested>[\d,]+)", re.IGNORECASE | re.DOTALL
)
"""Matches the limit of tokens per minute and the tokens of this request in messages of OpenAI and Groq."""

REFUSED = re.compile(
    r"unsupported|not support|n't support|unrecogni[sz]ed|unknown|unexpected|extra (?:inputs|fields)|not permitted|"
    r"not allowed|forbidden|deprecated|invalid|incompatible|not (?:a )?valid|not available|only the default",
    re.IGNORECASE,
)
"""Matches refusals of a parameter."""
PARAMETERS = (
    *("stream_options", "max_completion_tokens", "max_tokens", "temperature", "top_p", "top_logprobs", "logprobs"),
    *("random_seed", "seed", "stop", "suffix", "stream"),
)
"""The fields of requests. A name that contains another name comes before that name."""

_UNITS = r"milliseconds?|ms|hours?|h|minutes?|min|m|seconds?|secs?|sec|s"
DELAY_TEXTS = (
    re.compile(
        r"(?:try again|retry|retrying|wait|reset\w*|available)(?: (?:again|after|in|for|at least|another))* "
        rf"(?P<time>(?:\d+(?:\.\d+)? ?(?:{_UNITS})(?![^\W\d]) ?)+)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:retry[ _-]?(?:delay|after)|estimated_time)(?:[ _-]?(?P<unit>ms|millis|s)[a-z]*)?[\"']?\s*[:=]?\s*[\"']?"
        r"(?P<time>\d+(?:\.\d+)?\s*(?:ms|s)?)\b",
        re.IGNORECASE,
    ),
)
# `ms` comes before `m`, since the first alternative that matches wins.
_PART = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>ms|milli|[hms])?[^\W\d]*\s*", re.IGNORECASE)
_SECONDS = {"milli": 0.001, "ms": 0.001, "h": 3600.0, "m": 60.0, "s": 1.0}


def translate_finish(word: object) -> str:
    """Return our word for an endpoint's finish reason, "" while the model goes on, or `broken (WORD)` if unknown."""
    text = "" if word is None else str(word).strip()
    # Some endpoints write the name of a constant, such as `FinishReason.MAX_TOKENS`.
    low = text.lower().rpartition(".")[2].replace("-", "_").replace(" ", "_")
    if low in STILL_GOING:
        return ""
    return _OURS.get(low) or f"{BROKEN} ({quote(text, 60)})"


def parse_duration(text: str) -> float | None:
    """Return the seconds in `20s`, `1m26.4s`, `250ms`, `1 minute 5 seconds` or `12`; None for any other text."""
    total, position, text = 0.0, 0, text.strip()
    while match := _PART.match(text, position):
        total += float(match["number"]) * _SECONDS[(match["unit"] or "s").lower()]
        position = match.end()
    return total if position and position == len(text) else None


LONGEST_MESSAGE = 300
"""A message from the endpoint is cut to this number of characters."""
FIRST_TIMESTAMP = 1e9
"""A reset above this number of seconds is a time since 1970, not a delay."""


@dataclass
class Trouble(Exception):
    reason: str
    again: bool = False
    wait: float | None = None
    """The time that the endpoint asks to wait, in seconds, or None if it names no time."""
    kind: type[errors.EngineFailure] = errors.EngineRaised
    for_good: bool = False
    """True if the endpoint will always refuse this question, so that the refusal is stored."""
    is_limit: bool = False
    """True for a limit of requests or tokens, or a model that is being loaded."""
    is_refusal: bool = False
    """True if the reason may be the account or the settings rather than the question."""


def timed_out(seconds: float) -> Trouble:
    return Trouble(f"no answer within {seconds:g} s (interpret.timeout)", kind=errors.EngineTimeout)


def garbage(reason: str) -> Trouble:
    return Trouble(reason, again=True, kind=errors.EngineMisbehaved)


def classify_status(code: int, headers: Mapping[str, str], body: bytes, key: str | None) -> Trouble:
    try:
        content: Any = json.loads(body)
    except (ValueError, RecursionError):
        # An HTML page comes from a proxy and would not help in an error message.
        content = body.decode(errors="replace") if body.lstrip()[:1] != b"<" else ""
    return _classify(code, headers, content, key)


def classify_error(content: object) -> Trouble:
    code = None
    if isinstance(content, Mapping):
        values = [str(content.get(name)) for name in ("status", "status_code", "code", "http_code")]
        numbers = [int(value) for value in values if re.fullmatch("[3-5][0-9][0-9]", value)]
        names = _collect_error_names(content)
        numbers += [number for number, known in CODES.items() if names & {*known.split()}]
        code = next(iter(numbers), None)
    if code is not None:
        return _classify(code, {}, content, None)
    words = _format_message({"error": content})
    if _is_too_long(words) and not (LOADING.search(words) or PASSING.search(words)):
        return _too_long(words, for_good=True)
    return Trouble(f"the endpoint ended its answer with an error{words}", again=True, wait=_find_delay(content))


def _classify(code: int, headers: Mapping[str, str], content: Any, key: str | None) -> Trouble:
    words = _format_message(content)
    reason = f"the endpoint answered {code}{words}"
    if 300 <= code < 400:
        return Trouble(f"the endpoint answered {code}, a redirect: set engine.endpoint to its target")
    wait = find_retry_delay(headers, content)
    # Bedrock and some proxies answer 400 if there were too many tokens in this minute.
    if code == 429 or (code in {400, 402, 403, 413, 422} and THROTTLED.search(words)):
        alone = REQUESTED.search(words)
        asked, limit = (int(alone[name].replace(",", "")) if alone else 0 for name in ("requested", "limit"))
        if asked > limit:
            reason += ": this question alone is above the limit; lower engine.window"
            return Trouble(reason, kind=errors.ContextTooLong)
        return Trouble(reason, again=True, wait=wait, is_limit=wait is not None, is_refusal=True)
    # Anthropic and Gemini report problems with the account by code 400, others by code 403.
    is_refusal = code in {400, 403} and not any(_OURS.get(name) == FILTER for name in _collect_error_names(content))
    if code in {401, 403}:
        missing = f"the key in {key} was not accepted" if key else "engine.key must name the variable with your key"
        return Trouble(
            f"{reason}: {missing}",
            kind=errors.BudgetSpent if code == 401 else errors.EngineRaised,
            is_refusal=is_refusal,
        )
    if code == 402:
        return Trouble(f"{reason}: the account has no money left", kind=errors.BudgetSpent)
    if code >= 500:
        if code == 503 and LOADING.search(words):
            return Trouble(reason, again=True, wait=min(1.0 if wait is None else wait, 15.0), is_limit=True)
        # Some servers answer 500 to a question that is too long; another try may get a clearer answer.
        kind = errors.ContextTooLong if _is_too_long(words) else errors.EngineRaised
        return Trouble(reason, again=code not in NEVER, wait=wait, kind=kind, is_limit=wait is not None)
    if code == 413 or (code in {400, 422} and _is_too_long(words)):
        # If the message does not mention the length, the limit may be a proxy's, so the refusal is not stored.
        return _too_long(words, for_good=_is_too_long(words))
    again = code in AGAIN or bool(PASSING.search(words) or LOADING.search(words))
    return Trouble(reason + _advice(code, words), again=again, wait=wait, is_refusal=is_refusal)


def _too_long(words: str, *, for_good: bool) -> Trouble:
    reason = f"the question is too long for the model{words}; lower engine.window"
    return Trouble(reason, kind=errors.ContextTooLong, for_good=for_good)


def _is_too_long(words: str) -> bool:
    about_answer = OF_THE_ANSWER.search(words) and not OF_THE_QUESTION.search(words)
    return bool(TOO_LONG.search(words)) and not about_answer


def _advice(code: int, words: str) -> str:
    if code == 404:
        return ": check engine.model, engine.api, and the path of engine.endpoint"
    if ABOVE_ITS_LIMIT.search(words) and not re.search(r"\buse\W+\w+\W+instead", words, re.IGNORECASE):
        return ": the model's answers cannot be that long; lower engine.sampling.maxTokens"
    if not REFUSED.search(words):
        return ""
    low = words.lower()
    if "max_tokens" in low and "max_completion_tokens" in low:  # `Use 'max_completion_tokens' instead`
        return ": set engine.extra: {max_tokens: null, max_completion_tokens: 1024}"
    name = next((name for name in PARAMETERS if name in low), None)
    return f": the model refuses {name}; remove the field by engine.extra: {{{name}: null}}" if name else ""


def _collect_error_names(content: object) -> set[str]:
    if not isinstance(content, Mapping):
        return set()
    inner = content.get("error")
    names = {str(content[name]).lower() for name in ("code", "type", "status", "reason") if content.get(name)}
    return names | (_collect_error_names(inner) if isinstance(inner, Mapping) else set())


def _format_message(content: Any) -> str:
    if isinstance(content, list) and content:
        content = content[0]
    if isinstance(content, dict):
        keys = ("error", "message", "detail", "msg", "error_msg", "errors", "base_resp")
        code = content.get("code") if not isinstance(content.get("error"), dict) else None
        content = next((content[name] for name in keys if content.get(name)), "")
        if isinstance(content, str) and isinstance(code, str):
            content = f"{code}, {content}"
    if isinstance(content, dict):
        names = ("code", "type", "message", "status_code", "status_msg", "param")
        words = [str(content[name]) for name in names if content.get(name)]
        content = ", ".join(words)
    text = " ".join(str(content).split())
    return f" ({quote(text, LONGEST_MESSAGE)})" if text else ""


def find_retry_delay(headers: Mapping[str, str], content: object = None) -> float | None:
    """Return the delay in seconds that the headers or the message ask for, or None."""
    low = {name.lower(): value.strip() for name, value in headers.items()}
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        if milliseconds := _float(low.get(name, "")):
            return milliseconds / 1000
    for name in ("retry-after", "x-retry-after"):
        if (after := _moment(low.get(name, ""))) is not None:
            return after
    if (seconds := _find_delay(content)) is not None:
        return seconds
    # An IETF draft has a single header `RateLimit`: `"default";r=0;t=5`, in earlier versions `remaining=0, reset=5`.
    combined = re.search(r"\b(?:t|reset)=(?P<seconds>\d+)", low.get("ratelimit", ""))
    resets = [float(combined["seconds"])] if combined else []
    for name, value in low.items():
        if "ratelimit" in name and "reset" in name and (moment := _moment(value)) is not None:
            remaining = low.get(name.replace("reset", "remaining"))
            # A limit was hit only if nothing is left of it.
            if remaining is None or _float(remaining) == 0:
                resets.append(moment)
    # Requests and tokens have separate limits, and the question waits for both.
    return max(resets, default=None)


def _find_delay(content: object) -> float | None:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False) if content else ""
    for pattern in DELAY_TEXTS:
        if match := pattern.search(text):
            unit = "ms" if (match.groupdict().get("unit") or "")[:1].lower() == "m" else ""
            if (seconds := parse_duration(match["time"] + unit)) is not None:
                return seconds
    return None


def _moment(text: str) -> float | None:
    if (number := _float(text)) is not None:
        while number > 1000 * FIRST_TIMESTAMP:  # the unit is milliseconds or smaller
            number /= 1000
        return max(number - time.time() if number > FIRST_TIMESTAMP else number, 0.0)
    if (seconds := parse_duration(text)) is not None:
        return seconds
    # Before Python 3.11, datetime.fromisoformat does not read `Z`.
    for read in (parsedate_to_datetime, lambda date: datetime.fromisoformat(date.replace("Z", "+00:00"))):
        try:
            return max(read(text).timestamp() - time.time(), 0.0)
        except (ValueError, TypeError):  # noqa: PERF203 - the other form may fit
            continue
    return None


def _float(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    # float() also reads `nan` and `inf`, which are not waiting times.
    return number if 0 <= number < 1e18 else None
