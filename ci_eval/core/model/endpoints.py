"""The part of the configuration that says how a language model is reached, asked and paid."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from ci_eval.core.model.settings import Count, Section, Share, Text

Amount = Annotated[float, Meta(ge=0, le=1e9)]


class SamplingConfig(Section, frozen=True):
    """The rules by which the language model chooses what it writes."""

    temperature: Annotated[float, Meta(ge=0, le=5)] | None = 0.0
    """The temperature: 0 = always the likeliest token; None = not sent, for language models that take none."""
    top_p: Share | None = None
    """Sample only from the likeliest tokens that together have this share of the probability; None = not sent."""
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    """The seed that is sent with each request, raised by 1 for each repeat of a request; None = not sent."""
    max_tokens: Count | None = None
    """The largest number of tokens in a response; None = as many as the requested text takes: a word, a line, a block
    …"""
    stop: tuple[Text, ...] = ()
    """The texts at which the language model stops, beside those of the template."""


class WindowConfig(Section, frozen=True):
    """The amount of the project's code that the language model sees."""

    characters: Count = 8000
    """The largest number of characters in total: before and behind the caret, and of other files."""
    tokens: Count | None = None
    """The same limit in tokens of the language model, in place of `characters`. Text that a template adds is not
    counted."""
    characters_per_token: Annotated[float, Meta(gt=0, le=100)] | None = None
    """The estimated number of characters per token; None = the server's own tokenizer counts tokens (`/tokenize` of
    llama.cpp)."""
    suffix: Share = 0.25
    """The share of the open file's part that is reserved for code behind the caret. Space that one side does not need
    goes to the other."""
    other_files: Share = 0.0
    """The share of the whole window that is reserved for other files of the project, placed before the open file; 0 =
    none."""


class BudgetConfig(Section, frozen=True):
    """The limits of what one command may spend on requests; None = no limit. Answers from the store cost nothing."""

    seconds: Annotated[float, Meta(gt=0)] | None = None
    """The time limit in seconds, counted from the first request."""
    requests: Count | None = None
    """The largest number of requests, including retries."""
    tokens: Count | None = None
    """The largest number of tokens in requests and responses together, as the endpoint counts them."""
    money: Annotated[float, Meta(gt=0)] | None = None
    """The largest amount of money, in the currency of `price`."""


class PriceConfig(Section, frozen=True):
    """The price of a million tokens."""

    input: Amount = 0.0
    """The price of a million tokens of requests."""
    output: Amount = 0.0
    """The price of a million tokens of responses."""
    cached: Amount | None = None
    """The price of a million tokens of requests that the endpoint took from a cache; None = as `input`."""
    thoughts: Amount | None = None
    """The price of a million tokens of thoughts; None = as `output`."""


class EndpointConfig(Section, frozen=True):
    """A language model behind an address."""

    endpoint: Text | None = None
    """The address to which the path of `api` is added, for example `https://api.mistral.ai/v1`."""
    model: Text | None = None
    """The endpoint's name for the language model."""
    api: Text = "chat"
    """The interface of the endpoint: chat (`/chat/completions`), completions (`/completions`), fim
    (`/fim/completions`), infill (llama.cpp), ollama (`/api/generate`), or an api of an installed
    package (`ci_eval.endpoints`)."""
    template: Text | None = None
    """The template by which prefix and suffix become a prompt, for the api completions. Write a family's name, a text
    with {prefix} and {suffix}, or `suffix` if the endpoint has a field for the suffix."""
    file_heading: Text | None = None
    """The text before each file, with {path}, for a template of your own with {files}."""
    key: Text | None = None
    """The name of the environment variable that holds the key."""
    sampling: SamplingConfig = SamplingConfig()
    """The rules by which the language model chooses what it writes."""
    window: WindowConfig = WindowConfig()
    """The amount of the project's code that the language model sees."""
    budget: BudgetConfig = BudgetConfig()
    """The limits of what one command may spend."""
    price: PriceConfig = PriceConfig()
    """The price of a million tokens."""
    recorded: Text | None = None
    """A file of answers, as `ci-eval answers export` writes it. Every answer is taken from the file, and no endpoint is
    asked."""
    stream: bool = True
    """Read the response while it is written, which tells when its first token came."""
    logprobs: bool = False
    """Request the log-probabilities of the response's tokens."""
    concurrency: Annotated[int, Meta(ge=1, le=256)] = 4
    """The number of requests that are under way at once, over all worker processes of this machine."""
    retries: Annotated[int, Meta(ge=0, le=20)] = 5
    """The number of times that a request is sent again if the endpoint is overloaded or the connection breaks."""
    thoughts: tuple[tuple[Text, Text], ...] = ()
    """The marks before and behind the language model's thoughts, beside known ones such as `<think>` and `</think>`."""
    extra: dict[str, Any] = {}
    """The additional fields of each request, as the endpoint has them; null removes a field that ci-eval would send."""
