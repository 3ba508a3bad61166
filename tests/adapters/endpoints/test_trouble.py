"""What the errors of many providers mean: wait, give up, or a question that is too long."""

from __future__ import annotations

import json
import time
from datetime import datetime, timezone
from typing import Any

import pytest

from ci_eval.core.base.errors import ContextTooLong
from ci_eval.plugins.adapters.endpoints.trouble import Trouble, classify_error, classify_status, find_retry_delay


def told(code: int, message: Any, **headers: str) -> Trouble:
    body = message if isinstance(message, dict) else {"error": {"message": message}}
    return classify_status(
        code, {name.replace("_", "-"): value for name, value in headers.items()}, json.dumps(body).encode(), None
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (400, "This model's maximum context length is 4097 tokens. However, your messages resulted in 9000 tokens."),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (422, "Input validation error: `inputs` must have less than 4096 tokens. Given: 9000"),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens"),
        (400, "The input token count (9000) exceeds the maximum number of tokens allowed (8000)."),
        (400, {"message": "Input is too long for requested model."}),
        (400, {"message": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}),
        (400, {"code": "InvalidParameter", "message": "Range of input length should be [1, 30720]"}),
        (400, {"error": {"code": "1261", "message": "Prompt exceeds max length"}}),
        (400, {"error": "the request exceeds the available context size. try increasing the context size"}),
        (400, "Please reduce the length of the messages or completion."),
        (400, {"object": "error", "message": "The decoder prompt (length 90) is longer than the maximum model length"}),
        (400, "too many tokens: size limit exceeded by 3000 tokens. Try using shorter or fewer inputs."),
        (400, "prompt token count of 130000 exceeds the limit of 128000"),
        (400, "Requested token count exceeds the model's maximum context length of 8192 tokens."),
        (400, "Trying to keep the first 9000 tokens; the model is loaded with context length of 4096"),
        (400, {"error_msg": "Prompt 超长"}),
        (400, "The prompt is too long: 9000 tokens. Try again with a shorter prompt."),
        (400, "This model's maximum prompt length is 131072 but the request contains 200000 tokens."),
        (400, "Expected maxLength: 200000, actual: 300000"),
        (400, "prompt_tokens (9000) > n_ctx (8192)"),
        (413, ""),
    ],
)  # fmt: skip
def test_a_question_that_is_too_long_is_told_in_many_words(code: int, message: Any) -> None:
    trouble = told(code, message)
    assert trouble.kind is ContextTooLong, trouble.reason
    assert not trouble.again
    assert trouble.for_good == (code != 413)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (429, {"message": "Throttled: too many tokens within the minute, wait and try again."}),
        (429, "Rate limit reached for tokens per min (TPM): Limit 10000, Used 9000, Requested 2000. context length"),
        (429, "Too many tokens, please wait before trying again."),
        (429, {"error": {"code": "rate_limit_exceeded", "message": "3 requests a minute; see https://x.org/billing"}}),
        (429, {"error": {"message": "You exceeded your current quota, check your plan. Please retry in 34.07s."}}),
        (400, {"__type": "ThrottlingException", "message": "Too many tokens, please wait before trying again."}),
        (413, {"error": {"message": "Request too large: rate limit of tokens per minute (TPM), context length"}}),
        (503, "prompt queue is full, maximum context slots in use"),
        (529, "overloaded_error"),
        (520, "<html>"),
        (524, "<html>late</html>"),
        (500, "boom"),
        (403, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."),
        (498, "flex tier capacity exceeded, try again later"),
        (424, "request failed during generation"),
        (499, ""),
        (400, "Model is overloaded, please retry"),
        (404, "model is loading"),
    ],
)  # fmt: skip
def test_what_passes_is_asked_again_and_never_kept(code: int, message: Any) -> None:
    trouble = told(code, message)
    assert trouble.again, trouble.reason
    assert not trouble.for_good


@pytest.mark.parametrize(
    ("code", "message", "said"),
    [
        (402, "Insufficient Balance", "no money"),
        (429, "Request too large on tokens per min (TPM): Limit 6000, Requested 9000", "above the limit"),
        (400, "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'.", "max_tokens: null"),
        (400, "Unsupported value: 'temperature' does not support 0.0 with this model.", "{temperature: null}"),
        (422, {"detail": "Extra inputs are not permitted: stream_options"}, "stream_options: null"),
        (400, "Unrecognized request argument supplied: seed", "{seed: null}"),
        (400, "logprobs is not supported with reasoning models", "{logprobs: null}"),
        (400, "This model does not support messages starting with an assistant role", "starting with"),
        (501, "not implemented", "501"),
        (404, "The model `m` does not exist", "check engine.model"),
    ],
)  # fmt: skip
def test_what_does_not_pass_is_given_up_with_what_to_do(code: int, message: Any, said: str) -> None:
    trouble = told(code, message)
    assert not trouble.again
    assert not trouble.for_good
    assert said in trouble.reason


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 100000. This model supports at most 4096 completion tokens.",
        "max_tokens must be at most 8192",
        "Invalid 'max_tokens': integer above maximum value. Expected a value <= 4096, but got 9000 instead.",
        "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens",
    ],
)
def test_a_limit_of_the_answer_is_no_long_question(message: str) -> None:
    trouble = told(400, message)
    assert trouble.kind is not ContextTooLong
    assert "lower engine.sampling.maxTokens" in trouble.reason


def test_a_model_that_is_being_loaded_is_waited_for() -> None:
    for message in ("Loading model", "Model org/tiny is currently loading", "model is warming up"):
        assert told(503, message).is_limit
    assert told(503, {"error": "Model m is currently loading", "estimated_time": 3.5}).wait == 3.5
    assert not told(503, "no healthy upstream").is_limit


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"Retry-After": "7"}, "", 7.0),
        ({"retry-after-ms": "250", "Retry-After": "1"}, "", 0.25),
        ({"x-ratelimit-reset-tokens": "1m26.4s", "x-ratelimit-remaining-tokens": "0"}, "", 86.4),
        (
            {
                "x-ratelimit-reset-tokens": "6m0s",
                "x-ratelimit-remaining-tokens": "500",
                "x-ratelimit-reset-requests": "120ms",
                "x-ratelimit-remaining-requests": "0",
            },
            "",
            0.12,
        ),
        ({}, "Please try again in 20s.", 20.0),
        ({}, "Please try again in 1m26.4s. Visit", 86.4),
        ({}, "try again in 250ms", 0.25),
        ({}, "Please wait 12 seconds before the next request", 12.0),
        ({}, "Please retry after 1 minute 5 seconds", 65.0),
        ({}, {"details": [{"retryDelay": "34s"}]}, 34.0),
        ({"x-ms-retry-after-ms": "700"}, "", 0.7),
        ({"retry-after-ms": "0", "retry-after": "5"}, "", 5.0),
        ({"RateLimit": '"default";r=0;t=3'}, "", 3.0),
        ({"RateLimit": "limit=10, remaining=0, reset=4"}, "", 4.0),
        ({"x-retry-after": "3"}, "", 3.0),
        ({}, {"retry_after_seconds": 7}, 7.0),
        ({}, {"retry_after_ms": 700}, 0.7),
        ({}, "Rate limit reached. Please try again in 1h2m3s.", 3723.0),
        ({}, "wait for the 2nd reviewer", None),
        ({}, "slow down", None),
    ],
)
def test_how_long_to_wait_is_told_in_many_ways(headers: dict[str, str], message: Any, seconds: float | None) -> None:
    assert find_retry_delay(headers, message) == (pytest.approx(seconds) if seconds is not None else None)


def test_moments_are_waited_for() -> None:
    soon = time.time() + 30
    date = datetime.fromtimestamp(soon, timezone.utc).isoformat().replace("+00:00", "Z")
    for name, value in (("anthropic-ratelimit-tokens-reset", date), ("x-ratelimit-reset", str(int(soon * 1000)))):
        assert find_retry_delay({name: value}) == pytest.approx(30, abs=5)


@pytest.mark.parametrize(
    ("content", "again", "kept"),
    [
        ({"object": "error", "message": "prompt is too long", "code": 400}, False, True),
        ({"object": "error", "message": "busy", "code": 503}, True, False),
        ({"code": "rate_limit_exceeded", "message": "too many tokens this minute"}, True, False),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, True, False),
        ({"code": 502, "message": "Provider returned error"}, True, False),
        ("boom", True, False),
    ],
)
def test_an_error_with_code_200_is_told_by_its_own(content: object, again: bool, kept: bool) -> None:
    trouble = classify_error(content)
    assert (trouble.again, trouble.for_good) == (again, kept)
