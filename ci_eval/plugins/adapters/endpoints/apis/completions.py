"""The completions of OpenAI: one text is continued; a hole is written into it by the template of the model's family.

https://platform.openai.com/docs/api-reference/completions
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ci_eval.core.model.settings import EndpointConfig
from ci_eval.plugins.adapters.endpoints.contract import Api, Prompt, common_fields
from ci_eval.plugins.adapters.endpoints.http.assembly import piece
from ci_eval.plugins.adapters.endpoints.templates import OF_THE_ENDPOINT, find_template


def body(prompt: Prompt, settings: EndpointConfig) -> dict[str, Any]:
    """Return the body of the request. Raises ConfigError if there is no template, and ci-eval would have to guess
    one."""
    fields = common_fields(settings, prompt)
    if prompt.instruction:
        return {**fields, "prompt": prompt.instruction}
    if settings.template == OF_THE_ENDPOINT:
        return {**fields, "prompt": prompt.prefix, "suffix": prompt.suffix}
    template = find_template(settings.template or "", settings.file_heading)
    # Some servers echo the template's tokens as text, behind the end of the answer.
    stops = [*settings.sampling.stop, *template.stop]
    filled = template.filled(prompt.prefix, prompt.suffix, prompt.files, prompt.path)
    return {**fields, "prompt": filled, **({"stop": stops} if stops else {})}


API = Api(
    name="completions",
    path="/completions",
    body=body,
    read=partial(piece, chat=False),
    key="choices",
    counts_at_the_end=True,
    logprobs={"logprobs": 1},
)
