"""The fill-in-the-middle of Mistral: prefix and suffix as fields, the answer in the shape of a chat.

https://docs.mistral.ai/api/#tag/fim
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ci_eval.core.model.settings import EndpointConfig
from ci_eval.plugins.adapters.endpoints.contract import Api, Prompt, common_fields
from ci_eval.plugins.adapters.endpoints.http.assembly import piece
from ci_eval.plugins.adapters.endpoints.templates import FAMILIES


def body(prompt: Prompt, settings: EndpointConfig) -> dict[str, Any]:
    """Return the body of the request. An instruction is a text that is continued."""
    fields = common_fields(settings, prompt, seed="random_seed")
    if prompt.instruction:
        return {**fields, "prompt": prompt.instruction}
    # Mistral's own marks of files, which are no tokens, stand in the text.
    before = FAMILIES["codestral"].before(prompt.files, prompt.path)
    return {**fields, "prompt": before + prompt.prefix, "suffix": prompt.suffix}


API = Api(name="fim", path="/fim/completions", body=body, read=partial(piece, chat=True), key="choices")
