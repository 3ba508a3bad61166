"""The apis in OpenAI's format: chat, text completion, and Mistral's fill-in-the-middle.

https://platform.openai.com/docs/api-reference/chat
https://platform.openai.com/docs/api-reference/completions
https://docs.mistral.ai/api/#tag/fim
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ci_eval.core.model.settings import EndpointConfig
from ci_eval.plugins.adapters.endpoints import messages

HOLE = (
    "You complete code in an editor. Between <code> and </code> stands a file, with <HOLE/> where the caret is. Write "
    "what belongs there, exactly as it goes on at the caret, without repeating what stands around it. Answer with that "
    "alone, in one fenced block of Markdown.\n<code>\n{prefix}<HOLE/>{suffix}\n</code>"
)
"""If this text changes, answers that were stored before are no longer found."""


def write_chat(prompt: messages.Prompt, settings: EndpointConfig) -> dict[str, Any]:
    # `str.format` would also read braces in the code as placeholders.
    before, _, remainder = HOLE.partition("{prefix}")
    between, _, after = remainder.partition("{suffix}")
    message = prompt.instruction or f"{before}{prompt.prefix}{between}{prompt.suffix}{after}"
    return {**messages.common_fields(settings, prompt), "messages": [{"role": "user", "content": message}]}


def write_completion(prompt: messages.Prompt, settings: EndpointConfig) -> dict[str, Any]:
    """Return the body of a request. Raises ConfigError if there is a hole to fill but no template."""
    fields = messages.common_fields(settings, prompt)
    if prompt.instruction:
        return {**fields, "prompt": prompt.instruction}
    if settings.template == messages.OF_THE_ENDPOINT:
        return {**fields, "prompt": prompt.prefix, "suffix": prompt.suffix}
    template = messages.find_template(settings.template or "", settings.file_heading)
    # Some servers send the template's tokens as text after the end of the answer.
    stops = [*settings.sampling.stop, *template.stop]
    filled = template.filled(prompt.prefix, prompt.suffix, prompt.files, prompt.path)
    return {**fields, "prompt": filled, **({"stop": stops} if stops else {})}


def write_fim(prompt: messages.Prompt, settings: EndpointConfig) -> dict[str, Any]:
    """Return the body of a request. An instruction is sent as a text to continue."""
    fields = messages.common_fields(settings, prompt, seed="random_seed")
    if prompt.instruction:
        return {**fields, "prompt": prompt.instruction}
    # Codestral's file headings are plain text, not special tokens, so they are part of the prompt.
    before = messages.FAMILIES["codestral"].before(prompt.files, prompt.path)
    return {**fields, "prompt": before + prompt.prefix, "suffix": prompt.suffix}


TEXT_PARTS = frozenset({"", "text", "output_text", "input_text"})
"""The types of message parts that contain answer text. Parts of other types contain thoughts, or no text."""
THOUGHTS = ("reasoning_content", "reasoning", "thinking")


def piece(answer: Mapping[str, Any], *, chat: bool) -> messages.Piece:
    """Read an answer or a chunk. `chat`: whether a choice has a message rather than a text."""
    # In a stream, `usage` may be null until the last chunk.
    usage = answer.get("usage") or {}
    choices = answer["choices"] or []
    is_alone = len(choices) == 1 and "message" in choices[0]
    # A stream of several choices mixes their chunks: only choice 0 is read.
    choice = choices[0] if is_alone else next((choice for choice in choices if not choice.get("index")), {})
    delta, message, whole_text = (choice.get(name) for name in ("delta", "message", "text"))
    is_whole = False
    if not chat or (message is None and delta is None):
        # Some servers answer a request of one api in the format of the other api.
        message = {"content": whole_text} if whole_text is not None or message is None else message
    elif delta or message is None:
        # A chunk has a `delta`; some servers send a `message` as well.
        message = delta or {}
    else:
        is_whole = True
    content = message.get("content")
    text, thought = _parts([content] if isinstance(content, Mapping) else content)
    reasoning = next((str(message[name]) for name in THOUGHTS if isinstance(message.get(name), str)), "")
    finish = choice.get("finish_reason") or choice.get("native_finish_reason") or ""
    return messages.Piece(
        text=text,
        thought=thought + reasoning,
        finish=str(finish),
        refused=bool(message.get("refusal"))
        or (isinstance(content, list) and any(isinstance(part, Mapping) and part.get("refusal") for part in content)),
        is_whole=is_whole,
        has_choice=bool(choice),
        model=str(answer.get("model") or ""),
        **_count_tokens(usage),
        logprobs=messages.read_logprobs(choice.get("logprobs")),
    )


def _count_tokens(usage: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the token counts by field name. Some endpoints count cached tokens apart from the question, or thoughts
    apart from the answer; this function adds them."""
    asked, answered = usage.get("prompt_tokens_details") or {}, usage.get("completion_tokens_details") or {}
    prompt, answer, total, read, created = (
        messages.read_count(usage.get(name))
        for name in ("prompt_tokens", "completion_tokens", "total_tokens", "cache_read_input_tokens",
                     "cache_creation_input_tokens")
    )  # fmt: skip
    cached = (
        read
        if read is not None
        else messages.read_count(asked.get("cached_tokens", usage.get("prompt_cache_hit_tokens")))
    )
    thought = messages.read_count(answered.get("reasoning_tokens", usage.get("reasoning_tokens")))
    kept = max((read or 0) + (created or 0), cached or 0)
    if prompt is not None and kept > prompt:
        prompt += kept
    if answer is not None and (thought or 0) > answer:
        answer += thought or 0
    if total is not None and prompt is not None:
        answer = max(answer or 0, total - prompt)
    return {"prompt_tokens": prompt, "cached_tokens": cached, "answer_tokens": answer, "thought_tokens": thought}


def _parts(content: object) -> tuple[str, str]:
    if content is None or isinstance(content, str):
        return content or "", ""
    if not isinstance(content, list):
        raise TypeError("the content is neither a text nor a list of parts")
    texts, thoughts = "", ""
    for part in content:
        if isinstance(part, str):
            texts += part
        elif str(part.get("type") or "") in TEXT_PARTS:
            texts += str(part.get("text") or "")
        else:
            thoughts += "".join(_walk_texts(part.get("thinking") or part.get("text") or part.get("content")))
    return texts, thoughts


def _walk_texts(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, list):
        for inner in part:
            yield from _walk_texts(inner)
    elif isinstance(part, Mapping):
        yield from _walk_texts(part.get("text") or part.get("thinking"))


APIS: Mapping[str, messages.Api] = {
    "chat": messages.Api(
        name="chat",
        path="/chat/completions",
        body=write_chat,
        read=partial(piece, chat=True),
        key="choices",
        counts_at_the_end=True,
        logprobs={"logprobs": True, "top_logprobs": 1},
    ),
    "completions": messages.Api(
        name="completions",
        path="/completions",
        body=write_completion,
        read=partial(piece, chat=False),
        key="choices",
        counts_at_the_end=True,
        logprobs={"logprobs": 1},
    ),
    "fim": messages.Api(
        name="fim", path="/fim/completions", body=write_fim, read=partial(piece, chat=True), key="choices"
    ),
}
