"""Asks an endpoint something before it is measured: whether it is there, and whether it heeds what it is sent."""

from __future__ import annotations

from ci_eval.adapters.endpoints.client import Client
from ci_eval.adapters.endpoints.contract import Prompt
from ci_eval.adapters.endpoints.templates import OF_THE_ENDPOINT
from ci_eval.errors import EngineFailure, InstallError
from ci_eval.model.endpoints import EndpointConfig

BEFORE = "def add(a, b):\n    return "
BEHIND = "".join(f"\n\ndef check_{number}():\n    assert add({number}, 1) == {number + 1}\n" for number in range(8))
FEWEST = 40
"""Tokens that the text behind the caret has at least, in any vocabulary."""


def probe(client: Client, settings: EndpointConfig, *, holes: bool) -> str:
    """What the endpoint calls the model that answers. Raises InstallError where it does not answer.

    `holes`: whether it will be asked to fill some; then an endpoint that takes a suffix must also heed it. Several
    ignore it without a word, and would be measured at something else.
    """
    try:
        if not (holes and trusted(settings)):
            question = {"prefix": BEFORE} if settings.api == "infill" else {"instruction": "Say: ok"}
            return client.ask(Prompt(**question, max_tokens=1)).model
        alone = client.ask(Prompt(prefix=BEFORE, max_tokens=1))
        both = client.ask(Prompt(prefix=BEFORE, suffix=BEHIND, max_tokens=1))
    except EngineFailure as failure:
        raise InstallError(f"the endpoint does not answer: {failure}") from failure
    if alone.prompt_tokens is None or both.prompt_tokens is None:
        raise InstallError(
            f"the endpoint does not say how many tokens a question has, so nobody can tell whether it heeds what "
            f"stands behind the caret; {ELSE}"
        )
    if both.prompt_tokens - alone.prompt_tokens < FEWEST:
        raise InstallError(
            f"the endpoint ignores what stands behind the caret: a question has {alone.prompt_tokens} tokens without a "
            f"suffix, and {both.prompt_tokens} with one of {len(BEHIND)} characters; {ELSE}"
        )
    return both.model


ELSE = "use api: completions with the template of the model's family, or api: chat"


def trusted(settings: EndpointConfig) -> bool:
    """Whether filling holes is left to the endpoint."""
    return settings.api in {"fim", "infill", "ollama"} or settings.template == OF_THE_ENDPOINT
