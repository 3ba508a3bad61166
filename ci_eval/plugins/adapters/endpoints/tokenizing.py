"""A counter of tokens, by the tokenizer of the model's own server, as llama.cpp's has one.

https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ci_eval.core.model.endpoints import EndpointConfig
from ci_eval.plugins.adapters.endpoints.answers import build_request
from ci_eval.plugins.adapters.endpoints.client import Asking, Client
from ci_eval.plugins.adapters.endpoints.contract import Api, Piece, Prompt


def body(prompt: Prompt, settings: EndpointConfig) -> dict[str, Any]:
    """Return the body of the request, with the prompt's prefix as the text. The additions of a family's template are no
    part of it."""
    # A token for the beginning of a text would be counted with each piece.
    return {"content": prompt.prefix, "add_special": False, "model": settings.model}


def read(response: Mapping[str, Any]) -> Piece:
    """Return the number of tokens. Raises TypeError if the tokens are no list."""
    tokens = response["tokens"]
    if not isinstance(tokens, list):
        raise TypeError("tokens are a list")
    # A count has no text. The end is named, because an answer without text and without an end is taken for a failure.
    return Piece(prompt_tokens=len(tokens), finish="stop")


API = Api(name="tokenize", path="/tokenize", body=body, read=read, key="tokens", free=True)


class Tokenizer:
    """A counter of tokens. Counts are kept in the store of answers, under the digest of the text."""

    def __init__(self, asking: Asking, cache: Path, timeout: float) -> None:
        """Open the client. Raises ConfigError or PreparationError."""
        settings = asking.settings
        # Beside /v1, not below it.
        base = (settings.endpoint or "").rstrip("/").removesuffix("/v1")
        self._settings = replace(settings, endpoint=base)
        here = Asking(settings=self._settings, mode=asking.mode, command=asking.command)
        self._client = Client(here, cache, timeout, api=API)
        self._counted: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Return the number of tokens of the text. Raises EngineFailure."""
        if not text:
            return 0
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if digest not in self._counted:
            # The digest stands for the text, so that the store does not hold each text that was counted.
            request = build_request(self._client.address, {"model": self._settings.model, "sha256": digest}, 0)
            reply = self._client.answer(request, body(Prompt(prefix=text), self._settings))
            self._counted[digest] = reply.prompt_tokens or 0
        return self._counted[digest]

    def close(self) -> None:
        self._client.close()
