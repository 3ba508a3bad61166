"""The apis of llama.cpp and Ollama. To fill a hole, llama.cpp uses the tokens that the model file names. Ollama uses a
suffix only if the model's template has a placeholder for it.

https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.plugins.adapters.endpoints.messages import Api, Piece, Prompt, common_fields, read_count, read_logprobs


def write_infill(prompt: Prompt, settings: EndpointConfig) -> dict[str, Any]:
    """Return the body of a request. Raises ConfigError if the prompt is an instruction, which has no hole."""
    if prompt.instruction:
        raise ConfigError("api infill only fills holes; use api: chat or completions for tasks with instructions")
    fields = common_fields(settings, prompt)
    # `/infill` uses llama.cpp's field names, not OpenAI's.
    fields["n_predict"] = fields.pop("max_tokens")
    extra = [{"filename": file.path, "text": file.text} for file in prompt.files]
    hole = {"input_prefix": prompt.prefix, "input_suffix": prompt.suffix}
    return {**fields, **hole, **({"input_extra": extra} if extra else {})}


def read_infill(response: Mapping[str, Any]) -> Piece:
    # `stop_type` is `none` while the model goes on; only the last chunk counts the tokens.
    done = response["stop"]
    return Piece(
        text=response["content"],
        finish=response.get("stop_type") or "stop" if done else "",
        model=response.get("model") or "",
        prompt_tokens=read_count(response.get("tokens_evaluated")) if done else None,
        answer_tokens=read_count(response.get("tokens_predicted")) if done else None,
        logprobs=read_logprobs(response.get("completion_probabilities")),
    )


_OPTIONS = {"max_tokens": "num_predict", "temperature": "temperature", "top_p": "top_p", "seed": "seed", "stop": "stop"}
DENSE = 2
"""The fewest characters per token that are expected. The densest 5 % of files have 2.8 (docs/models.md)."""
SMALLEST = 4096


def write_ollama(prompt: Prompt, settings: EndpointConfig) -> dict[str, Any]:
    fields = common_fields(settings, prompt)
    options = {_OPTIONS[name]: value for name, value in fields.items() if name in _OPTIONS}
    # Ollama silently cuts a question that is longer than its context. Ollama reloads the model if the context's size
    # changes, so the size is a power of 2, and fits at least a full window.
    length = len(prompt.instruction or prompt.prefix + prompt.suffix)
    full = 0 if prompt.instruction else settings.window.tokens or settings.window.characters // DENSE
    options["num_ctx"] = max(SMALLEST, 1 << (max(length // DENSE, full) + prompt.max_tokens - 1).bit_length())
    request: dict[str, Any] = {"model": settings.model, "options": options}
    if prompt.instruction:
        return {**request, "prompt": prompt.instruction}
    if not prompt.suffix:
        # Without `raw`, Ollama would wrap the text as a chat.
        return {**request, "prompt": prompt.prefix, "raw": True}
    return {**request, "prompt": prompt.prefix, "suffix": prompt.suffix}


def read_ollama(response: Mapping[str, Any]) -> Piece:
    """Read an object of a response. Only the last object has the finish reason and the token counts."""
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


_APIS = (
    Api(name="infill", path="/infill", body=write_infill, read=read_infill, key="stop", logprobs={"n_probs": 1}),
    Api(
        name="ollama",
        path="/api/generate",
        body=write_ollama,
        read=read_ollama,
        key="done",
        logprobs={"logprobs": True},
    ),
)
APIS: Mapping[str, Api] = {api.name: api for api in _APIS}
