"""The objects that pass between the client, the apis and the store of answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from ci_eval.core.model.settings import EndpointConfig


@dataclass(frozen=True, kw_only=True)
class OtherFile:
    """A file of the project that is shown beside the open one, or the first lines of it."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A question to a language model: a hole in a text, or an instruction."""

    prefix: str = ""
    suffix: str = ""
    instruction: str = ""
    """The instruction; "" = there is a hole between prefix and suffix."""
    max_tokens: int = 256
    path: str = ""
    """The path of the file with the hole, below the project's root."""
    files: tuple[OtherFile, ...] = ()
    """The other files, the one that matters most last."""


Logprobs = tuple[tuple[int, float | None], ...]
"""The tokens of an answer: for each, the octets (UTF-8) of its text, and the natural logarithm of how likely the model
took the token to be. It is None if the endpoint does not say, as for the first token of an echoed text."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """The content of one JSON object of an answer: a chunk of a stream, or the whole."""

    text: str = ""
    finish: str = ""
    """The reason why the model stopped, in the endpoint's words; "" while it goes on."""
    thought: str = ""
    """The model's thoughts, if the endpoint gives them beside the answer."""
    refused: bool = False
    """A flag: the model said that it will not answer."""
    is_whole: bool = False
    """A flag: `text` is all of the answer so far, rather than the part that follows the text of earlier chunks."""
    has_choice: bool = True
    """A flag: the object holds an answer, or a part of one; False for counts alone, and for a list without answers."""
    model: str = ""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    answer_tokens: int | None = None
    thought_tokens: int | None = None
    logprobs: Logprobs = ()


@dataclass(frozen=True, kw_only=True)
class Api:
    """A way to ask an endpoint: the path and the body of requests, and the reading of answers."""

    name: str
    path: str
    """The path below the endpoint's address."""
    body: Callable[[Prompt, EndpointConfig], dict[str, Any]]
    """A function that returns the body of a request. Raises ConfigError if the api cannot ask that."""
    read: Callable[[Mapping[str, Any]], Piece]
    """A function that reads an object of an answer. Raises LookupError, TypeError or ValueError if the object has
    another shape."""
    key: str
    """The field that each object of an answer has; in a stream, others are passed over."""
    counts_at_the_end: bool = False
    """A flag: a stream tells the number of tokens only if `stream_options` asks for it."""
    logprobs: Mapping[str, Any] | None = None
    """The fields that ask for log-probabilities; None = the api has none."""
    free: bool = False
    """A flag: the model writes nothing, so that no budget counts the request."""


class Reply(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """An answer, as it is stored."""

    text: str = ""
    finish: str = "stop"
    """The reason for the end: stop: the model was done; length: the answer was cut off; filter: a filter took it;
    refusal; tool: the model called one; or unknown, if the endpoint sent the whole answer and no reason."""
    thought: str = ""
    """The model's thoughts, if the endpoint gave them beside the answer."""
    model: str = ""
    """The model's name, as the endpoint gives it."""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    """The tokens of the prompt that the endpoint took from a cache."""
    answer_tokens: int | None = None
    """The tokens of the answer, thoughts included."""
    thought_tokens: int | None = None
    first_token: float | None = None
    """Milliseconds until the first token came; None if the answer came in one piece."""
    last_token: float = 0.0
    """Milliseconds until the answer was complete."""
    logprobs: Logprobs = ()
    """The log-probabilities of all tokens, if they were asked for."""
    refused: str = ""
    """The reason why the endpoint will never answer this; "" = it has."""


def read_count(value: object) -> int | None:
    """Return the value if it is a number of tokens, else None."""
    # In Python, JSON's true is an int as well.
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def common_fields(settings: EndpointConfig, prompt: Prompt, *, seed: str = "seed") -> dict[str, Any]:
    """Return the fields whose names most apis share. `seed`: the name that this api has for the seed."""
    sampling = settings.sampling
    fields = {
        "model": settings.model,
        "max_tokens": prompt.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        seed: sampling.seed,
        "stop": list(sampling.stop) or None,
    }
    # Models refuse parameters that they do not know, so null in the configuration leaves a field out.
    return {name: value for name, value in fields.items() if value is not None}
