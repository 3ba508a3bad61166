"""Ollama's own way to generate: a suffix works where the model's template has a place for it.

https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ci_eval.adapters.endpoints.contract import Api, Piece, Prompt, count_of, sampled
from ci_eval.adapters.endpoints.logprobs import logprobs_of
from ci_eval.model.endpoints import EndpointConfig

_OPTIONS = {"max_tokens": "num_predict", "temperature": "temperature", "top_p": "top_p", "seed": "seed", "stop": "stop"}


def body(prompt: Prompt, settings: EndpointConfig) -> dict[str, Any]:
    """`raw` where there is no suffix: otherwise the text would be wrapped as a chat."""
    fields = sampled(settings, prompt)
    options = {_OPTIONS[name]: value for name, value in fields.items() if name in _OPTIONS}
    asked: dict[str, Any] = {"model": settings.model, "options": options}
    if prompt.instruction:
        return {**asked, "prompt": prompt.instruction}
    if not prompt.suffix:
        return {**asked, "prompt": prompt.prefix, "raw": True}
    return {**asked, "prompt": prompt.prefix, "suffix": prompt.suffix}


def read(found: Mapping[str, Any]) -> Piece:
    """The last object says why it stopped, and counts."""
    done = found["done"]
    return Piece(
        text=found.get("response") or "",
        thought=found.get("thinking") or "",
        finish=found.get("done_reason") or "stop" if done else "",
        model=found.get("model") or "",
        prompt_tokens=count_of(found.get("prompt_eval_count")),
        answer_tokens=count_of(found.get("eval_count")),
        logprobs=logprobs_of(found.get("logprobs")),
    )


API = Api(name="ollama", path="/api/generate", body=body, read=read, key="done", logprobs={"logprobs": True})
