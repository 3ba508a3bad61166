"""The part of the configuration that says how a language model is reached, asked and paid."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from ci_eval.core.model.settings import Count, Section, Share, Text

Amount = Annotated[float, Meta(ge=0, le=1e9)]


class SamplingConfig(Section, frozen=True):
    """How the model chooses what it writes."""

    temperature: Annotated[float, Meta(ge=0, le=5)] | None = 0.0
    """0 = always the likeliest token; None = not sent, for models that take none."""
    top_p: Share | None = None
    """Only the likeliest tokens that make up this share; None = not sent."""
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    """Sent with each question, raised by 1 for each repeat of it; None = not sent."""
    max_tokens: Count | None = None
    """Tokens of the longest answer; None = as many as what is asked for takes: a word, a line, a block …"""
    stop: tuple[Text, ...] = ()
    """Texts at which the model stops, beside those of the template."""


class WindowConfig(Section, frozen=True):
    """How much of the project's code the model is shown."""

    characters: Count = 8000
    """In all: before and behind the caret, and of other files."""
    tokens: Count | None = None
    """The same in tokens of the model; then `characters` says nothing. What a template adds is not counted."""
    characters_per_token: Annotated[float, Meta(gt=0, le=100)] | None = None
    """An estimate to count tokens by; None = the server's own tokenizer counts them (`/tokenize` of llama.cpp)."""
    suffix: Share = 0.25
    """Share that is kept for what stands behind the caret; what one side does not need, the other gets."""
    other_files: Share = 0.0
    """Share of the whole that is kept for other files of the project, put before this one; 0 = none is shown."""


class BudgetConfig(Section, frozen=True):
    """What one command may spend on asking; what is in the store of answers costs nothing. None = no limit."""

    seconds: Annotated[float, Meta(gt=0)] | None = None
    """Since the first question."""
    requests: Count | None = None
    """Retries count as well."""
    tokens: Count | None = None
    """Of questions and answers together, as the endpoint counts them."""
    money: Annotated[float, Meta(gt=0)] | None = None
    """In the currency of `price`."""


class PriceConfig(Section, frozen=True):
    """What a million tokens cost."""

    input: Amount = 0.0
    """Of the question."""
    output: Amount = 0.0
    """Of the answer."""


class EndpointConfig(Section, frozen=True):
    """A language model behind an address."""

    endpoint: Text | None = None
    """The address that the api's path is added to, for example `https://api.mistral.ai/v1`."""
    model: Text | None = None
    """What the endpoint calls the model."""
    api: Text = "chat"
    """How it is asked: chat (`/chat/completions`), completions (`/completions`), fim (`/fim/completions`), infill
    (llama.cpp), ollama (`/api/generate`), or the name of an api of an installed package (`ci_eval.endpoints`)."""
    template: Text | None = None
    """For completions: how prefix and suffix become a prompt: a family's name, a text with {prefix} and {suffix}, or
    `suffix` where the endpoint has a field for it."""
    file_heading: Text | None = None
    """For a template of your own with {files}: what stands before the text of each file, with {path}."""
    key: Text | None = None
    """Name of the environment variable that holds the key."""
    sampling: SamplingConfig = SamplingConfig()
    """How the model chooses what it writes."""
    window: WindowConfig = WindowConfig()
    """How much of the project's code it is shown."""
    budget: BudgetConfig = BudgetConfig()
    """What one command may spend."""
    price: PriceConfig = PriceConfig()
    """What a million tokens cost."""
    recorded: Text | None = None
    """A file of answers, as `ci-eval answers export` writes it: they are taken, and nobody is asked."""
    stream: bool = True
    """Whether the answer is read as it is written, which tells when its first token came."""
    logprobs: bool = False
    """Whether the log-probabilities of its tokens are asked for."""
    concurrency: Annotated[int, Meta(ge=1, le=256)] = 4
    """Questions that are under way at once, over all worker processes of this machine."""
    retries: Annotated[int, Meta(ge=0, le=20)] = 5
    """How often a question is sent again where the endpoint is overloaded, or the connection breaks."""
    thoughts: tuple[tuple[Text, Text], ...] = ()
    """What stands before and behind the model's thoughts, beside the known marks such as `<think>` and `</think>`."""
    extra: dict[str, Any] = {}
    """More fields of each request, as the endpoint has them; null takes away one that ci-eval would send."""
