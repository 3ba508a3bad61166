"""The templates by which a hole becomes one text: the fill-in-the-middle tokens of each family of models.

The tokens are those that the models' cards and Continue (core/autocomplete/templating/AutocompleteTemplate.ts) give. So
are the marks of other files of starcoder and codestral; those of qwen stand in its report (arXiv 2409.12186, on
pretraining with whole repositories).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ci_eval.core.base.errors import ConfigError, EngineRaised
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.plugins.adapters.endpoints.contract import OtherFile

_PLACE = re.compile(r"\{(prefix|suffix|files)\}")


@dataclass(frozen=True, kw_only=True)
class Template:
    """A text with {prefix}, {suffix} and a place for other {files}, and the texts that end an answer."""

    text: str
    stop: tuple[str, ...] = ()
    heading: str = ""
    """The text before each file, the open one included, if there are others; with {path}."""
    opening: str = ""
    """The text before the first of the other files."""
    end: str = "\n"
    """The text behind each other file."""

    @property
    def tokens(self) -> tuple[str, ...]:
        """Return the texts around the places: a model reads these as commands, wherever they are."""
        parts = (part.strip() for part in _PLACE.sub("\0", self.text).split("\0"))
        return tuple(part for part in parts if part)

    def takes(self, text: str) -> bool:
        """Return whether another file may hold that text."""
        return not any(token in text for token in (*self.tokens, *self.stop))

    def before(self, files: Sequence[OtherFile], path: str) -> str:
        """Return the other files, and the heading of the open one at `path`; "" if there are none."""
        if not files:
            return ""
        others = "".join(f"{self._heading(file.path)}{file.text}{self.end}" for file in files)
        return f"{self.opening}{others}{self._heading(path)}"

    def filled(self, prefix: str, suffix: str, files: Sequence[OtherFile] = (), path: str = "") -> str:
        """Return the prompt. Raises EngineRaised if the code itself holds one of the tokens."""
        for token in self.tokens:
            if token in prefix or token in suffix:
                raise EngineRaised(f"the code holds {token!r}, which the model would take for the template's")
        parts = {"prefix": prefix, "suffix": suffix, "files": self.before(files, path)}
        # One pass, so that a placeholder in the code itself is not replaced.
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
"""A name for the endpoint's own field, which the endpoint must be shown to heed."""


def find_template(given: str, heading: str | None = None) -> Template:
    """Return the template of that name, or of that text with that heading of files. Raises ConfigError."""
    if given in FAMILIES and heading is None:
        return FAMILIES[given]
    places = sorted(_PLACE.findall(given))
    if places not in (["prefix", "suffix"], ["files", "prefix", "suffix"]):
        raise ConfigError(
            f"engine.template is {given!r}; expected {', '.join(FAMILIES)}, {OF_THE_ENDPOINT}, or a text that holds "
            "{prefix} and {suffix}, each once, and once {files} where other files are shown"
        )
    if ("files" in places) != (heading is not None):
        raise ConfigError(
            "engine.template and engine.fileHeading go together: the template says by {files} where other files "
            "stand, the heading what stands before each of them, such as `<|file_sep|>{path}`; add what is missing"
        )
    return Template(text=given, heading=heading or "")


def takes_files(settings: EndpointConfig) -> bool:
    """Return whether other files have a place in the question. Raises ConfigError."""
    if settings.api in {"infill", "fim"}:
        return True
    named = settings.template not in {None, OF_THE_ENDPOINT}
    return named and "{files}" in find_template(settings.template or "", settings.file_heading).text
