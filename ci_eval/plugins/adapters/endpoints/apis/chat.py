"""The chat completions of OpenAI, which most endpoints speak: a hole is described in words.

https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ci_eval.core.model.settings import EndpointConfig
from ci_eval.plugins.adapters.endpoints.contract import Api, Prompt, common_fields
from ci_eval.plugins.adapters.endpoints.http.assembly import piece

HOLE = (
    "You complete code in an editor. Between <code> and </code> stands a file, with <HOLE/> where the caret is. Write "
    "what belongs there, exactly as it goes on at the caret, without repeating what stands around it. Answer with that "
    "alone, in one fenced block of Markdown.\n<code>\n{prefix}<HOLE/>{suffix}\n</code>"
)
"""The words that ask for a hole; a change of them makes all questions new ones."""


def body(prompt: Prompt, settings: EndpointConfig) -> dict[str, Any]:
    """Return the body of the request, with one message of the user's."""
    # Not by format: the code may hold braces, and the other placeholder.
    before, _, remainder = HOLE.partition("{prefix}")
    between, _, behind = remainder.partition("{suffix}")
    message = prompt.instruction or f"{before}{prompt.prefix}{between}{prompt.suffix}{behind}"
    return {**common_fields(settings, prompt), "messages": [{"role": "user", "content": message}]}


API = Api(
    name="chat",
    path="/chat/completions",
    body=body,
    read=partial(piece, chat=True),
    key="choices",
    counts_at_the_end=True,
    logprobs={"logprobs": True, "top_logprobs": 1},
)
