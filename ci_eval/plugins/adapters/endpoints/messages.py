"""Prompts, templates that mark the hole to fill, and replies."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import msgspec
from msgspec import Struct

from ci_eval.core.base.errors import ConfigError, EngineRaised
from ci_eval.core.model.settings import EndpointConfig


class OtherFile(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    text: str


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    prefix: str = ""
    suffix: str = ""
    instruction: str = ""
    """A task in words. If empty, the model fills the hole between `prefix` and `suffix`."""
    max_tokens: int = 256
    path: str = ""
    files: tuple[OtherFile, ...] = ()
    """Other files of the project, the most important one last."""


Logprobs = tuple[tuple[int, float | None], ...]
"""A pair per token: its number of UTF-8 bytes, and its natural log-probability, or None if the endpoint sends no
log-probability, as for the first token of an echoed text."""


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk of a stream, or a whole answer."""

    text: str = ""
    finish: str = ""
    """The endpoint's word for why the answer ended, or "" while the model goes on."""
    thought: str = ""
    refused: bool = False
    is_whole: bool = False
    """True if `text` is the whole answer so far, not only the part after earlier chunks."""
    has_choice: bool = True
    """False if a chunk has only token counts, or if the list of answers is empty."""
    model: str = ""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    answer_tokens: int | None = None
    thought_tokens: int | None = None
    logprobs: Logprobs = ()


class Api(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    path: str
    body: Callable[[Prompt, EndpointConfig], dict[str, Any]]
    """Returns the body of a request. Raises ConfigError if the api has no way to send this prompt."""
    read: Callable[[Mapping[str, Any]], Piece]
    """Reads an object of a response. Raises LookupError, TypeError or ValueError if the object has another shape."""
    key: str
    """The field that each object of an answer has. Objects without this field are skipped."""
    counts_at_the_end: bool = False
    """True if a stream has token counts only if `stream_options` asks for them."""
    logprobs: Mapping[str, Any] | None = None
    """The request fields that ask for log-probabilities, or None if the api has no such fields."""


class Reply(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    text: str = ""
    finish: str = "stop"
    """stop: the model was done; length: the answer was cut off; filter: a filter removed it; refusal; tool: the model
    called a tool; unknown: a whole answer came without a reason."""
    thought: str = ""
    model: str = ""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    answer_tokens: int | None = None
    """The number of tokens of the answer, including thoughts."""
    thought_tokens: int | None = None
    first_token: float | None = None
    """The time to the first token, in milliseconds, or None if the answer came in one piece."""
    last_token: float = 0.0
    """The time to the last token, in milliseconds."""
    logprobs: Logprobs = ()
    refused: str = ""
    """The reason why the endpoint will never answer this question, or "" if there is an answer."""


def read_count(value: object) -> int | None:
    # In Python, JSON's true is also an int.
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def common_fields(settings: EndpointConfig, prompt: Prompt, *, seed: str = "seed") -> dict[str, Any]:
    sampling = settings.sampling
    fields = {
        "model": settings.model,
        "max_tokens": prompt.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        seed: sampling.seed,
        "stop": list(sampling.stop) or None,
    }
    # Some models refuse parameters that they do not know, so a setting of null drops the field.
    return {name: value for name, value in fields.items() if value is not None}


LOWEST = -9999.0
"""OpenAI's log-probability for very unlikely tokens."""


def read_logprobs(content: Any) -> Logprobs:
    """Read a list of tokens with `logprob`, alone or in `content` (chats; llama.cpp in all apis), or the lists `tokens`
    and `token_logprobs` (OpenAI's completions). Return () for any other shape."""
    try:
        if isinstance(content, Mapping) and "token_logprobs" in content:
            pairs = list(zip(content["tokens"], content["token_logprobs"], strict=True))
        else:
            tokens = content.get("content") if isinstance(content, Mapping) else content
            # If a token is only a part of a character, only `bytes` has its length.
            pairs = [
                (octets if isinstance(octets := token.get("bytes"), list) else token["token"], token["logprob"])
                for token in tokens or ()
            ]
        sizes = (len(text if isinstance(text, list) else text.encode("utf-8", "replace")) for text, _ in pairs)
        return tuple(zip(sizes, (_logprob(value) for _, value in pairs), strict=True))
    # Unreadable log-probabilities are dropped, since the answer is worth more.
    except (LookupError, TypeError, ValueError, AttributeError):
        return ()


def _logprob(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return min(max(float(value), LOWEST), 0.0)


def mean_logprob(reply: Reply, begin: int, end: int) -> float | None:
    """Return the mean for the tokens that begin in this range (code points) of the answer, or None if none do."""
    first, last = (len(reply.text[:offset].encode()) for offset in (begin, end))
    starts = accumulate((octets for octets, _ in reply.logprobs), initial=0)
    # Tokens without text, such as an end token, count only if other tokens follow within the range. `starts` has one
    # more item than `reply.logprobs`: the end of the last token.
    pairs = zip(starts, reply.logprobs, strict=False)
    within = [value for start, (_, value) in pairs if value is not None and first <= start < last]
    return sum(within) / len(within) if within else None


# ----------------------------------------------------------------------------------------------------------- templates
#
# The tokens, and the file headings of starcoder and codestral, come from the models' cards and from Continue
# (core/autocomplete/templating/AutocompleteTemplate.ts). The file headings of qwen come from arXiv 2409.12186.

_PLACE = re.compile(r"\{(prefix|suffix|files)\}")


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """A text with {prefix}, {suffix} and perhaps {files}, and the texts that end an answer."""

    text: str
    stop: tuple[str, ...] = ()
    heading: str = ""
    opening: str = ""
    end: str = "\n"

    @property
    def tokens(self) -> tuple[str, ...]:
        """Return the texts around the placeholders. A model reads them as commands, wherever they are."""
        parts = (part.strip() for part in _PLACE.sub("\0", self.text).split("\0"))
        return tuple(part for part in parts if part)

    def takes(self, text: str) -> bool:
        return not any(token in text for token in (*self.tokens, *self.stop))

    def before(self, files: Sequence[OtherFile], path: str) -> str:
        """Return the other files and the heading of the open file at `path`, or "" without other files."""
        if not files:
            return ""
        others = "".join(f"{self._heading(file.path)}{file.text}{self.end}" for file in files)
        return f"{self.opening}{others}{self._heading(path)}"

    def filled(self, prefix: str, suffix: str, files: Sequence[OtherFile] = (), path: str = "") -> str:
        """Return the filled template. Raises EngineRaised if the code contains a token of the template."""
        for token in self.tokens:
            if token in prefix or token in suffix:
                raise EngineRaised(f"the code contains {token!r}, which the model would read as part of the template")
        parts = {"prefix": prefix, "suffix": suffix, "files": self.before(files, path)}
        # All placeholders are replaced in one pass, so that a placeholder in the code stays.
        return _PLACE.sub(lambda match: parts[match[1]], self.text)

    def _heading(self, path: str) -> str:
        return self.heading.replace("{path}", path)


_QWEN = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>")
_STARCODER = ("<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<file_sep>", "<|endoftext|>")
_DEEPSEEK = (
    "<\uff5cfim\u2581begin\uff5c>", "<\uff5cfim\u2581hole\uff5c>", "<\uff5cfim\u2581end\uff5c>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
)  # fmt: skip

FAMILIES = {
    "qwen": Template(
        text="{files}<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
        stop=(*_QWEN, "<|endoftext|>", "<|im_start|>", "<|im_end|>"),
        heading="<|file_sep|>{path}\n",
        opening="<|repo_name|>project\n",
    ),
    "starcoder": Template(
        text="{files}<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
        stop=_STARCODER,
        heading="<file_sep>",
        end="",
    ),
    "deepseek": Template(text=f"{_DEEPSEEK[0]}{{prefix}}{_DEEPSEEK[1]}{{suffix}}{_DEEPSEEK[2]}", stop=_DEEPSEEK),
    # The blanks belong to Code Llama's format.
    "codellama": Template(text="<PRE> {prefix} <SUF>{suffix} <MID>", stop=("<EOT>",)),
    "codestral": Template(
        text="[SUFFIX]{suffix}[PREFIX]{files}{prefix}",
        stop=("[PREFIX]", "[SUFFIX]"),
        heading="+++++ {path}\n",
        end="\n\n",
    ),
    "codegemma": Template(
        text="<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
        stop=("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|file_separator|>", "<end_of_turn>", "<eos>"),
    ),
    "granite": Template(text="<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>", stop=_STARCODER),
}

OF_THE_ENDPOINT = "suffix"
"""The template's name for endpoints that have a field `suffix`. A probe checks that an endpoint uses the field."""


def find_template(given: str, heading: str | None = None) -> Template:
    """Return the template with the name or text `given`. `heading`: the heading of other files. Raises ConfigError."""
    if given in FAMILIES and heading is None:
        return FAMILIES[given]
    places = sorted(_PLACE.findall(given))
    if places not in (["prefix", "suffix"], ["files", "prefix", "suffix"]):
        raise ConfigError(
            f"`engine.template` is {given!r}; expected {', '.join(FAMILIES)}, {OF_THE_ENDPOINT}, or a text with "
            "{prefix} and {suffix}, each once, and {files} once if other files are shown"
        )
    if ("files" in places) != (heading is not None):
        raise ConfigError(
            "`engine.template` and `engine.fileHeading` go together: {files} in the template marks the place of other "
            "files, and the heading, such as `<|file_sep|>{path}`, comes before each file; add what is missing"
        )
    return Template(text=given, heading=heading or "")


def own_template(settings: EndpointConfig) -> Template | None:
    """Return the template, or None if the endpoint fills holes by itself. Raises ConfigError."""
    if settings.template in {None, OF_THE_ENDPOINT}:
        return None
    return find_template(settings.template or "", settings.file_heading)
