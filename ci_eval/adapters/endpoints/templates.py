"""How a hole becomes one text: the fill-in-the-middle tokens of each family of models.

The tokens are those that the models' cards and Continue (core/autocomplete/templating/AutocompleteTemplate.ts) give.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ci_eval.errors import ConfigError, EngineRaised

_PLACE = re.compile(r"\{(prefix|suffix)\}")


@dataclass(frozen=True, kw_only=True)
class Template:
    """A text with {prefix} and {suffix}, and the texts that end an answer."""

    text: str
    stop: tuple[str, ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        """What stands around the places: a model reads these as commands, wherever they are."""
        parts = (part.strip() for part in _PLACE.sub("\0", self.text).split("\0"))
        return tuple(part for part in parts if part)

    def filled(self, prefix: str, suffix: str) -> str:
        """The prompt. Raises EngineRaised where the code itself holds one of the tokens."""
        for token in self.tokens:
            if token in prefix or token in suffix:
                raise EngineRaised(f"the code holds {token!r}, which the model would take for the template's")
        return _PLACE.sub(lambda place: prefix if place[1] == "prefix" else suffix, self.text)


_QWEN = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>")
_STARCODER = ("<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<file_sep>", "<|endoftext|>")
_DEEPSEEK = (
    "<\uff5cfim\u2581begin\uff5c>", "<\uff5cfim\u2581hole\uff5c>", "<\uff5cfim\u2581end\uff5c>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
)  # fmt: skip

FAMILIES = {
    "qwen": Template(
        text="<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
        stop=(*_QWEN, "<|endoftext|>", "<|im_start|>", "<|im_end|>"),
    ),
    "starcoder": Template(text="<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>", stop=_STARCODER),
    "deepseek": Template(text=f"{_DEEPSEEK[0]}{{prefix}}{_DEEPSEEK[1]}{{suffix}}{_DEEPSEEK[2]}", stop=_DEEPSEEK),
    "codellama": Template(text="<PRE> {prefix} <SUF>{suffix} <MID>", stop=("<EOT>",)),
    "codestral": Template(text="[SUFFIX]{suffix}[PREFIX]{prefix}", stop=("[PREFIX]", "[SUFFIX]")),
    "codegemma": Template(
        text="<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
        stop=("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|file_separator|>", "<end_of_turn>", "<eos>"),
    ),
    "granite": Template(text="<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>", stop=_STARCODER),
}

OF_THE_ENDPOINT = "suffix"
"""Stands for the endpoint's own field, of which it must be shown that it is heeded."""


def template_of(given: str) -> Template:
    """The one of that name, or of that text. Raises ConfigError."""
    if given in FAMILIES:
        return FAMILIES[given]
    if sorted(_PLACE.findall(given)) != ["prefix", "suffix"]:
        raise ConfigError(
            f"engine.template is {given!r}; expected {', '.join(FAMILIES)}, {OF_THE_ENDPOINT}, or a text that holds "
            "{prefix} and {suffix}, each once"
        )
    return Template(text=given)
