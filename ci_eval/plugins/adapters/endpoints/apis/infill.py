"""The way of llama.cpp to fill holes, by the token numbers that the model's file names.

https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.plugins.adapters.endpoints.contract import Api, Piece, Prompt, common_fields, read_count
from ci_eval.plugins.adapters.endpoints.http.assembly import read_logprobs


def body(prompt: Prompt, settings: EndpointConfig) -> dict[str, Any]:
    """Return the body of the request. Raises ConfigError if the prompt is an instruction, which is no hole."""
    if prompt.instruction:
        raise ConfigError("api infill only fills holes; use api: chat or completions for a task of instructions")
    fields = common_fields(settings, prompt)
    # This path takes llama.cpp's own names, not those of OpenAI.
    fields["n_predict"] = fields.pop("max_tokens")
    extra = [{"filename": file.path, "text": file.text} for file in prompt.files]
    hole = {"input_prefix": prompt.prefix, "input_suffix": prompt.suffix}
    return {**fields, **hole, **({"input_extra": extra} if extra else {})}


def read(response: Mapping[str, Any]) -> Piece:
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


API = Api(name="infill", path="/infill", body=body, read=read, key="stop", logprobs={"n_probs": 1})
