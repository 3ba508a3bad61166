"""The way of Ollama to generate: a suffix works if the model's template has a place for it.

https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ci_eval.core.model.settings import EndpointConfig
from ci_eval.plugins.adapters.endpoints.contract import Api, Piece, Prompt, common_fields, read_count
from ci_eval.plugins.adapters.endpoints.http.assembly import read_logprobs

_OPTIONS = {"max_tokens": "num_predict", "temperature": "temperature", "top_p": "top_p", "seed": "seed", "stop": "stop"}
# The densest twentieth of files has 2.8 characters a token (docs/models.md), so 2 is on the safe side.
DENSE = 2
"""The smallest average number of characters in a token of a question."""
SMALLEST = 4096


def choose_context_size(prompt: Prompt, settings: EndpointConfig) -> int:
    """Return the size of the context that a question and its answer fit into, a power of 2."""
    # Ollama cuts a longer question without a word. A full window decides, so that the size is the same at most carets:
    # Ollama loads the model again for another one.
    window = settings.window
    length = len(prompt.instruction or prompt.prefix + prompt.suffix)
    full = 0 if prompt.instruction else window.tokens or window.characters // DENSE
    return max(SMALLEST, 1 << (max(length // DENSE, full) + prompt.max_tokens - 1).bit_length())


def body(prompt: Prompt, settings: EndpointConfig) -> dict[str, Any]:
    fields = common_fields(settings, prompt)
    options = {_OPTIONS[name]: value for name, value in fields.items() if name in _OPTIONS}
    options["num_ctx"] = choose_context_size(prompt, settings)
    request: dict[str, Any] = {"model": settings.model, "options": options}
    if prompt.instruction:
        return {**request, "prompt": prompt.instruction}
    if not prompt.suffix:
        # Without `raw`, the text would be wrapped as a chat.
        return {**request, "prompt": prompt.prefix, "raw": True}
    return {**request, "prompt": prompt.prefix, "suffix": prompt.suffix}


def read(response: Mapping[str, Any]) -> Piece:
    """Return the piece in an object of the answer. The last object has the reason for the end, and the counts."""
    done = response["done"]
    return Piece(
        text=response.get("response") or "",
        thought=response.get("thinking") or "",
        finish=response.get("done_reason") or "stop" if done else "",
        model=response.get("model") or "",
        prompt_tokens=read_count(response.get("prompt_eval_count")),
        answer_tokens=read_count(response.get("eval_count")),
        logprobs=read_logprobs(response.get("logprobs")),
    )


API = Api(name="ollama", path="/api/generate", body=body, read=read, key="done", logprobs={"logprobs": True})
