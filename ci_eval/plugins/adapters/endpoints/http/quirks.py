"""The words that providers use: reasons to stop, refusals, delays, tokens, as data.

The lists come from the providers' references and from the sources of open servers (vLLM 0.33, llama.cpp, TGI, SGLang,
Ollama), and from reports about proxies between them.
"""

from __future__ import annotations

import re

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
"""The reason in our words → the words of endpoints, in small letters; any other word is a broken answer."""

STILL_GOING = frozenset({"", "null", "none", "in_progress", "not_finished", "finish_reason_unspecified"})
"""The words of a chunk that is not the last one: DashScope writes the text `null`, llama.cpp `none`."""

_OURS = {word: ours for ours, words in FINISHES.items() for word in words.split()}

AGAIN = frozenset({408, 409, 420, 424, 425, 429, 498, 499})
"""The codes below 500 after which the same request may be answered."""
NEVER = frozenset({501, 505})
"""The codes from 500 on after which it will not be."""

SPENT_CODES = frozenset({
    "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance",
    "insufficient_credits", "payment_required", "arrearage",
})  # fmt: skip
"""The codes and types of errors that no waiting mends."""
SPENT = re.compile(
    r"insufficient[ _](?:quota|balance|credit|funds)|credit balance is too low|out of credits|"
    r"exceeded your (?:current )?quota|billing hard limit|account balance|payment required",
    re.IGNORECASE,
)
"""The words of the same, believed only if nothing is said of a wait, or of a limit that ends with the minute."""
PASSING = re.compile(
    r"rate.?limit|per[ -](?:second|minute|hour)|(?:a|the|this) (?:second|minute)|\b[RT]PM\b|throttl|try again|retry|"
    r"too many requests|overloaded|capacity",
    re.IGNORECASE,
)
"""Words of a limit that ends by itself."""
THROTTLED = re.compile(
    r"rate.?limit|(?:tokens|requests) per[ -](?:second|minute|hour|day)|\b[RT]PM\b|throttl|too many requests|"
    r"(?:please|must|before) wait|wait before|slow down",
    re.IGNORECASE,
)
"""Words of the same which no refusal of a long question has; that may say "try again with a shorter prompt"."""

BUSY = re.compile(
    r"overloaded|(?:server|model|service) is (?:busy|overloaded)|at capacity|currently unavailable", re.IGNORECASE
)
"""Words of a server that answers later, whatever its code."""
LOADING = re.compile(
    r"(?:loading|warming up|starting(?! with)|initiali[sz]ing).{0,40}model|model.{0,80}(?:loading|loaded yet|not ready|"
    r"warming up|starting(?! with)|initiali[sz])|not ready|(?:server|service|container) is (?:starting|loading)|"
    r"cold start",
    re.IGNORECASE | re.DOTALL,
)
"""Words of a 503 while a server loads its model, as llama.cpp, Hugging Face's and KServe's put it."""

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
"""Words of a refusal because of the question's length, whoever says it: a subject, a size, and that it is too much."""
OF_THE_ANSWER = re.compile(
    r"\bmax(?:imum)?_?(?:completion_|new_|output_)?tokens\b(?! allowed)|(?:completion|output) tokens", re.IGNORECASE
)
"""Words of a refusal that is about the limit of the answer's tokens."""
ABOVE_ITS_LIMIT = re.compile(
    rf"(?:max(?:imum)?_?(?:completion_|new_|output_)?tokens|(?:completion|output) tokens)\b.{{0,120}}"
    rf"(?:{_BOUND}|too large|above|between|(?:should|must) be)",
    re.IGNORECASE | re.DOTALL,
)
"""Words of a refusal because that limit is higher than the model's."""
OF_THE_QUESTION = re.compile(
    rf"\b(?:prompt|inputs?|messages|context|conversation|question)\b|{_SUBJECT} is too long", re.IGNORECASE
)

REQUESTED = re.compile(
    r"limit:? *(?P<limit>[\d,]+).{0,40}requested:? *(?P<requested>[\d,]+)", re.IGNORECASE | re.DOTALL
)
"""A limit of tokens a minute, and the tokens that one request alone would take, in the words of OpenAI and Groq."""

REFUSED = re.compile(
    r"unsupported|not support|n't support|unrecogni[sz]ed|unknown|unexpected|extra (?:inputs|fields)|not permitted|"
    r"not allowed|forbidden|deprecated|invalid|incompatible|not (?:a )?valid|not available|only the default",
    re.IGNORECASE,
)
"""Words of a refusal of a parameter."""
PARAMETERS = {
    "stream_options": "engine.extra: {stream_options: null}",
    "max_completion_tokens": "engine.extra: {max_completion_tokens: null}",
    "max_tokens": "engine.extra: {max_tokens: null, max_completion_tokens: 1024}",
    "temperature": "engine.sampling.temperature: null",
    "top_p": "engine.sampling.topP: null",
    "top_logprobs": "engine.logprobs: false",
    "logprobs": "engine.logprobs: false",
    "random_seed": "engine.sampling.seed: null",
    "seed": "engine.sampling.seed: null",
    "stop": "engine.sampling.stop: []",
    "suffix": "engine.template: the family of the model, or engine.api: chat",
    "stream": "engine.stream: false",
}
"""The field of a request → the setting that removes it; of names within others the longest first."""

TEXT_PARTS = frozenset({"", "text", "output_text", "input_text"})
"""Types of the parts of a content that are the answer; all others are thoughts or no text."""

_UNITS = (
    r"milliseconds?|ms|миллисекунд\w*|мс|毫秒|hours?|h|час\w*|ч|小时|minutes?|min|m|минут\w*|мин|分钟|seconds?|secs?|sec|s|секунд\w*|"
    r"сек|\u0441|秒"
)
"""Units of time in English, Russian and Chinese."""
DELAY_TEXTS = (
    re.compile(
        r"(?:try again|retry|retrying|wait|reset\w*|available|повтори\w*|попробуй\w*|подожди\w*)"
        r"(?: (?:again|after|in|for|at least|another|попытку|снова|ещё раз|через))* "
        rf"(?P<time>(?:\d+(?:\.\d+)? ?(?:{_UNITS})(?![^\W\d]) ?)+)",
        re.IGNORECASE,
    ),
    re.compile(rf"(?P<time>\d+(?:\.\d+)? ?(?:{_UNITS}))\s*(?:后|之后)"),
    re.compile(
        r"retry[ _-]?(?:delay|after)(?:[ _-]?(?:seconds|s))?[\"']?\s*[:=]?\s*[\"']?"
        r"(?P<time>\d+(?:\.\d+)?\s*(?:ms|s)?)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"retry[ _-]?(?:delay|after)[ _-]?(?:ms|millis\w*)[\"']?\s*[:=]\s*[\"']?(?P<milliseconds>\d+)", re.IGNORECASE
    ),
    re.compile(r"estimated_time[\"']?\s*[:=]\s*(?P<time>\d+(?:\.\d+)?)", re.IGNORECASE),
)
"""The forms in which an error says in words when to come back."""
# `ms` stands before `m`, since the first alternative that matches wins.
_PART = re.compile(
    r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>ms|milli|мс|миллисек|毫秒|[hms]|[чм\u0441]|час|мин|сек|小时|分钟|秒)?[^\W\d]*\s*",
    re.IGNORECASE,
)
_SECONDS = {
    **dict.fromkeys(("milli", "ms", "мс", "миллисек", "毫秒"), 0.001),
    **dict.fromkeys(("h", "ч", "час", "小时"), 3600.0),
    **dict.fromkeys(("m", "м", "мин", "分钟"), 60.0),
    **dict.fromkeys(("s", "\u0441", "сек", "秒"), 1.0),
}


def translate_finish(word: object) -> str:
    """Return our word for a reason to stop, an empty text while the model goes on, or "broken (WORD)"."""
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
