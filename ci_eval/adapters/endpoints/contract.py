"""What passes between the client, the apis and the store of answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from ci_eval.model.endpoints import EndpointConfig


@dataclass(frozen=True, kw_only=True)
class OtherFile:
    """A file of the project that is shown beside the open one, or the first lines of it."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A question to a model: a hole in a text, or an instruction."""

    prefix: str = ""
    suffix: str = ""
    instruction: str = ""
    """"" = there is a hole between prefix and suffix."""
    max_tokens: int = 256
    path: str = ""
    """Of the file with the hole, below the project's root."""
    files: tuple[OtherFile, ...] = ()
    """Others, the one that matters most last."""


Logprobs = tuple[tuple[int, float | None], ...]
"""Of each token the octets (UTF-8) of its text, and the natural logarithm of how likely the model took it to be; None
where the endpoint does not say, as of the first token of an echoed text."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """What one JSON object of an answer tells: a chunk of a stream, or the whole."""

    text: str = ""
    finish: str = ""
    """Why the model stopped, in the endpoint's words; "" while it goes on."""
    thought: str = ""
    """What the model thought, where the endpoint gives that beside the answer."""
    refused: bool = False
    """Whether the model said that it will not answer."""
    is_whole: bool = False
    """Whether `text` is all of the answer so far, rather than what comes behind the text of earlier chunks."""
    model: str = ""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    logprobs: Logprobs = ()


@dataclass(frozen=True, kw_only=True)
class Api:
    """One way to ask: what is sent where, and what comes back."""

    name: str
    path: str
    """Below the endpoint's address."""
    body: Callable[[Prompt, EndpointConfig], dict[str, Any]]
    """Raises ConfigError where the api cannot ask that."""
    read: Callable[[Mapping[str, Any]], Piece]
    """Raises LookupError, TypeError or ValueError where the object is of another shape."""
    key: str
    """The field that each object of an answer has; in a stream, others are passed over."""
    counts_at_the_end: bool = False
    """Whether a stream tells the number of tokens only if `stream_options` asks for it."""
    logprobs: Mapping[str, Any] | None = None
    """The fields that ask for log-probabilities; None = there are none to be had."""
    free: bool = False
    """Whether nothing is written, so that no budget counts it."""


class Reply(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """An answer, as it is stored."""

    text: str = ""
    finish: str = "stop"
    """stop: the model was done; length: it was cut off; filter: a filter took it; refusal; tool: it called one; or
    unknown, where the endpoint sent the whole answer and no reason."""
    thought: str = ""
    """What the model thought, where the endpoint gave that beside the answer."""
    model: str = ""
    """What the endpoint says it is."""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    first_token: float | None = None
    """Milliseconds until the first token came; None where the answer came in one piece."""
    last_token: float = 0.0
    """Milliseconds until the answer was complete."""
    logprobs: Logprobs = ()
    """Of all tokens, where they were asked for."""
    refused: str = ""
    """Why the endpoint will never answer this; "" = it has."""


def count_of(value: object) -> int | None:
    """A number of tokens, where it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def sampled(settings: EndpointConfig, prompt: Prompt, *, seed: str = "seed") -> dict[str, Any]:
    """The fields that most apis call the same; `seed`: what this one calls that."""
    sampling = settings.sampling
    fields = {
        "model": settings.model,
        "max_tokens": prompt.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        seed: sampling.seed,
        "stop": list(sampling.stop) or None,
    }
    return {name: value for name, value in fields.items() if value is not None}
