"""The context that a model is shown at a caret: a window of the open file, and other files of the project."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ci_eval.core.contracts import Surroundings
from ci_eval.core.model.endpoints import EndpointConfig
from ci_eval.plugins.adapters.endpoints.client import Asking
from ci_eval.plugins.adapters.endpoints.contract import OtherFile
from ci_eval.plugins.adapters.endpoints.otherfiles import OtherFiles
from ci_eval.plugins.adapters.endpoints.templates import OF_THE_ENDPOINT, Template, find_template
from ci_eval.plugins.adapters.endpoints.tokenizing import Tokenizer
from ci_eval.plugins.adapters.endpoints.windows import Measure, Window, compute_budget, window

NOTHING = Window(prefix="", suffix="", left_out=0)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """The view of the files that is shown at one caret."""

    window: Window = NOTHING
    path: str = ""
    files: tuple[OtherFile, ...] = ()


@dataclass(kw_only=True)
class Context:
    """The rules for a view: its size, its measure, and the source of other files."""

    settings: EndpointConfig
    tokenizer: Tokenizer | None = None
    others: OtherFiles | None = None
    _template: Template | None = field(init=False)

    def __post_init__(self) -> None:
        is_named = self.settings.template not in {None, OF_THE_ENDPOINT}
        self._template = find_template(self.settings.template or "", self.settings.file_heading) if is_named else None

    def at(self, path: str, text: str, offset: int) -> Seen:
        """Return the view at that offset of the open file; the same each time. Raises EngineFailure."""
        settings, measure = self.settings.window, self._measure
        view = window(text, offset, settings, measure)
        size = int(compute_budget(settings) * settings.other_files)
        if not (self.others and size):
            return Seen(window=view, path=path)
        files = self.others.chosen(path, text[:offset], size, measure, self._takes)
        return Seen(window=view, path=path, files=tuple(files))

    def close(self) -> None:
        """Close the store of the tokenizer."""
        if self.tokenizer:
            self.tokenizer.close()

    @property
    def _measure(self) -> Measure:
        return self.tokenizer.count if self.tokenizer else len

    def _takes(self, text: str) -> bool:
        # Without a template of ours, no text can be taken for one of its tokens.
        return self._template is None or self._template.takes(text)


def has_tokenizer(settings: EndpointConfig) -> bool:
    """Return whether the endpoint's tokenizer is asked."""
    return settings.window.tokens is not None and settings.window.characters_per_token is None


def make_tokenizer(asking: Asking, cache: Path, timeout: float) -> Tokenizer | None:
    """Return the endpoint's tokenizer, or None if it is not asked. Raises ConfigError or PreparationError."""
    return Tokenizer(asking, cache, timeout) if has_tokenizer(asking.settings) else None


def make_context(asking: Asking, surroundings: Surroundings) -> Context:
    """Return the context of an engine that works in these surroundings. Raises ConfigError or PreparationError."""
    settings = asking.settings
    shows = settings.window.other_files > 0
    return Context(
        settings=settings,
        tokenizer=make_tokenizer(asking, surroundings.cache, surroundings.timeout),
        others=OtherFiles(surroundings.root, surroundings.suffixes, surroundings.ignored) if shows else None,
    )
