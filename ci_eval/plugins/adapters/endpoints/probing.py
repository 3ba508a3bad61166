"""A probe of an endpoint before it is measured: whether it is there, and whether it heeds the fields of a request."""

from __future__ import annotations

from ci_eval.core.base.errors import EngineFailure, InstallError
from ci_eval.core.model.endpoints import EndpointConfig
from ci_eval.plugins.adapters.endpoints.client import Client
from ci_eval.plugins.adapters.endpoints.context import has_tokenizer
from ci_eval.plugins.adapters.endpoints.contract import OtherFile, Prompt
from ci_eval.plugins.adapters.endpoints.templates import OF_THE_ENDPOINT
from ci_eval.plugins.adapters.endpoints.tokenizing import Tokenizer
from ci_eval.plugins.adapters.endpoints.windows import compute_budget

BEFORE = "def add(a, b):\n    return "
BEHIND = "".join(f"\n\ndef check_{number}():\n    assert add({number}, 1) == {number + 1}\n" for number in range(8))
FEWEST = 40
"""The smallest number of tokens that the text behind the caret has, in any vocabulary."""
MOST_OF = 0.95
"""The share of the expected tokens at which nothing is missing: repeated text may take a few less."""


def probe(client: Client, settings: EndpointConfig, *, holes: bool) -> str:
    """Return the endpoint's name for the model that answers. Raises InstallError if it does not answer.

    `holes`: whether it will be asked to fill some; then an endpoint that takes a suffix must also heed it.
    """
    try:
        infill = settings.api == "infill"
        # Several endpoints ignore a suffix without a word, and would be measured at something else.
        trusting = holes and has_native_infill(settings)
        # One token of an answer is enough, since only the tokens of the question are looked at.
        hole, words = Prompt(prefix=BEFORE, max_tokens=1), Prompt(instruction="Say: ok", max_tokens=1)
        alone = client.ask(hole if infill or trusting else words)
        if settings.logprobs and alone.text and not alone.logprobs:
            raise InstallError(UNTOLD)
        if not trusting:
            return alone.model
        both = client.ask(Prompt(prefix=BEFORE, suffix=BEHIND, max_tokens=1))
    except EngineFailure as failure:
        raise InstallError(f"no usable answer from {settings.endpoint}: {failure}") from failure
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
    if infill:
        _probe_room(client, settings, alone.prompt_tokens)
    return both.model


def _probe_room(client: Client, settings: EndpointConfig, alone: int) -> None:
    """Check that a whole window gets through.

    `alone`: the tokens of BEFORE as a prefix. Raises InstallError.
    """
    # Of a prefix more is shown than of a suffix.
    tokens = (client.ask(Prompt(prefix=BEFORE + BEHIND, max_tokens=1)).prompt_tokens or 0) - alone
    window, whole = settings.window, compute_budget(settings.window)
    unit = len(BEHIND) / tokens if has_tokenizer(settings) and tokens > 0 else 1.0
    own = 1 - window.other_files
    shares = (own * (1 - window.suffix), own * window.suffix, window.other_files)
    before, behind, others = (_long(int(whole * share * unit)) for share in shares)
    files = (OtherFile(path="check.py", text=others),) if others else ()
    try:
        # llama.cpp's server leaves out text that does not fit its batch, without a word.
        full = client.ask(Prompt(prefix=before, suffix=behind, files=files, max_tokens=1))
    except EngineFailure as failure:
        raise InstallError(f"a full engine.window is too much: {failure}") from failure
    sent = int(tokens / len(BEHIND) * len(before + behind + others))
    if (full.prompt_tokens or 0) < MOST_OF * sent:
        raise InstallError(
            f"the endpoint leaves out part of a full engine.window: of about {sent:,} tokens it sees "
            f"{full.prompt_tokens:,}. llama.cpp's server shows of the prefix 3/4 of a batch, of the suffix 1/4, and of "
            "other files what its context has left beside a batch: lower engine.window, or start it with a larger "
            "--batch-size and --ctx-size"
        )


def probe_tokenizer(tokenizer: Tokenizer) -> None:
    """Raise InstallError if the endpoint does not count tokens."""
    try:
        few, many = tokenizer.count(BEFORE), tokenizer.count(BEFORE + BEHIND)
    except EngineFailure as failure:
        raise InstallError(f"the endpoint counts no tokens: {failure}; {ESTIMATE}") from failure
    if not 0 < few < many:
        raise InstallError(f"the endpoint counts {few} tokens in a text, and {many} in a longer one; {ESTIMATE}")


ESTIMATE = "give an estimate instead: engine.window.charactersPerToken, for example 2.5"


def _long(characters: int) -> str:
    return (BEHIND * (characters // len(BEHIND) + 1))[:characters]


ELSE = "use api: completions with the template of the model's family, or api: chat"


UNTOLD = "the endpoint sends no log-probabilities with its answers: set engine.logprobs to false"


def has_native_infill(settings: EndpointConfig) -> bool:
    """Return whether filling holes is left to the endpoint."""
    return settings.api in {"fim", "infill", "ollama"} or settings.template == OF_THE_ENDPOINT
