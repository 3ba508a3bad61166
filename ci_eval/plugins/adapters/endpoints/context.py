"""The context that a model is shown at a caret: a window of the open file, and other files of the project.

Other files come in the order of the open file's imports, then by the share of common identifiers (Jaccard index), by
nearness of folders, and by path. Only the text before the caret decides, so that the expected code has no influence."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.files import NOT_SOURCE, below, read_own
from ci_eval.core.contracts import Surroundings
from ci_eval.core.grammar.document import NotText, decode
from ci_eval.core.grammar.imports import Modules, read_module_names, shared
from ci_eval.core.model.settings import EndpointConfig, WindowConfig
from ci_eval.plugins.adapters.endpoints.client import Asking, Client
from ci_eval.plugins.adapters.endpoints.messages import (
    Api,
    OtherFile,
    Piece,
    Prompt,
    own_template,
)
from ci_eval.plugins.adapters.endpoints.store import Request

Measure = Callable[[str], int]
USUAL_CHARACTERS = 4
"""A first guess of the characters per unit of the window. It changes only the number of measurements."""


class Window(msgspec.Struct, frozen=True, kw_only=True):
    prefix: str = ""
    suffix: str = ""
    left_out: int = 0
    """Characters of the file that did not fit. An unwanted suffix does not count."""
    path: str = ""
    files: tuple[OtherFile, ...] = ()


def compute_budget(wanted: WindowConfig) -> int:
    """Return the window's size in tokens if these are counted, else in characters."""
    if wanted.tokens is None:
        return wanted.characters
    return wanted.tokens if wanted.characters_per_token is None else int(wanted.tokens * wanted.characters_per_token)


def window(text: str, offset: int, wanted: WindowConfig, measure: Measure = len) -> Window:
    """Return the whole lines around the caret that fit, or a part of a line that alone is too long.

    One side gets the space that the other does not need. The share of other files is reserved.
    """
    whole = compute_budget(wanted)
    size = whole - int(whole * wanted.other_files)
    before, after = text[:offset], text[offset:] if wanted.suffix else ""
    prefix = tail(before, size, measure)
    spare = size - measure(prefix) if prefix == before else 0
    suffix = head(after, max(int(size * wanted.suffix), spare), measure)
    if suffix:
        # If the suffix took less than its share, the prefix gets the difference.
        prefix = tail(before, size - measure(suffix), measure)
    return Window(prefix=prefix, suffix=suffix, left_out=len(before) + len(after) - len(prefix) - len(suffix))


def head(text: str, most: int, measure: Measure = len) -> str:
    """Return the first whole lines that fit, or the beginning of a line that is too long."""
    return text[: _longest([*_begins(text), len(text)], lambda length: measure(text[:length]) <= most, most)]


def tail(text: str, most: int, measure: Measure = len) -> str:
    """Return the last whole lines that fit, or the end of a line that is too long."""
    whole = len(text)
    lengths = [*(whole - begin for begin in reversed(_begins(text)) if begin < whole), whole]
    return text[whole - _longest(lengths, lambda length: measure(text[whole - length :]) <= most, most) :]


def _begins(text: str) -> list[int]:
    return [end.end() for end in re.finditer("\n", text)]


def _longest(lengths: Sequence[int], fits: Callable[[int], bool], most: int) -> int:
    # The search begins near the usual length, so that little text is measured.
    low, high = 0, bisect_left(lengths, most * USUAL_CHARACTERS) + 1
    while high < len(lengths) and fits(lengths[high - 1]):
        low, high = high, high * 2
    # If a length fits, shorter ones are assumed to fit.
    index = bisect_left(lengths, True, low, min(high, len(lengths)), key=lambda length: not fits(length))
    if index:
        return lengths[index - 1]
    return 0 if isinstance(lengths, range) else _longest(range(1, lengths[-1] + 1), fits, most)


def body(prompt: Prompt, settings: EndpointConfig) -> dict[str, Any]:
    # `add_special` is off: otherwise each piece would count one more token for the beginning of a text.
    return {"content": prompt.prefix, "add_special": False, "model": settings.model}


def read(response: Mapping[str, Any]) -> Piece:
    """Return the number of tokens. Raises TypeError if the tokens are not a list."""
    tokens = response["tokens"]
    if not isinstance(tokens, list):
        raise TypeError("the tokens are not a list")
    # A count has no text. An answer with neither text nor a reason to stop would be a failure.
    return Piece(prompt_tokens=len(tokens), finish="stop")


API = Api(name="tokenize", path="/tokenize", body=body, read=read, key="tokens", free=True)


class Tokenizer:
    """A server's tokenizer. Its counts are stored with the answers, under the digest of the text."""

    def __init__(self, asking: Asking, cache: Path, timeout: float) -> None:
        settings = asking.settings
        # The path is not below /v1.
        base = (settings.endpoint or "").rstrip("/").removesuffix("/v1")
        self._settings = replace(settings, endpoint=base)
        here = Asking(settings=self._settings, mode=asking.mode, command=asking.command)
        self._client = Client(here, cache, timeout, api=API)
        self._counted: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Return the number of tokens of a text. Raises EngineFailure."""
        if not text:
            return 0
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if digest not in self._counted:
            # The digest keeps the texts out of the store.
            asked = {"model": self._settings.model, "sha256": digest}
            request = Request(address=self._client.address, body=asked)
            reply = self._client.answer(request, body(Prompt(prefix=text), self._settings))
            self._counted[digest] = reply.prompt_tokens or 0
        return self._counted[digest]

    def close(self) -> None:
        self._client.close()


_IDENTIFIER = re.compile(r"[^\W\d]\w*")
LARGEST_BYTES = 1_000_000


class OtherFiles:
    """The project's files with certain endings, read at the first use."""

    def __init__(self, root: Path, suffixes: tuple[str, ...], ignored: frozenset[str] = frozenset()) -> None:
        self._root = root
        self._ignored = NOT_SOURCE | ignored
        self._suffixes = suffixes
        self._read = False
        self._paths: list[str] = []
        self._sizes: list[int] = []
        self._using: dict[str, list[int]] = defaultdict(list)
        self._modules = Modules(())

    def choose(
        self, path: str, before: str, most: int, measure: Measure, fits: Callable[[str], bool]
    ) -> list[OtherFile]:
        """Return the files to show, the most important one last.

        `before`: the open file's text before the caret; `most`: the size of all files, by that measure; `fits`: returns
        whether a text may be sent.
        """
        files: list[OtherFile] = []
        for candidate in self._rank(path, before):
            whole = self._text(candidate) or ""
            if not (whole.strip() and fits(whole) and fits(candidate)):
                continue
            if text := head(whole, most, measure):
                files.append(OtherFile(path=candidate, text=text))
                most -= measure(text)
            if text != whole:
                break  # The space is used up.
        return files[::-1]

    def _rank(self, path: str, before: str) -> Iterator[str]:
        self._index()
        own = self._text(path)
        imported = dict.fromkeys(
            candidate for name in read_module_names(before) for candidate in self._modules.found(name, path)
        )
        known = {path}
        for candidate in chain(imported, self._similar(path, before)):
            # A copy of the open file contains the expected code.
            if candidate not in known and self._text(candidate) != own:
                yield candidate
            known.add(candidate)

    def _similar(self, path: str, before: str) -> Iterator[str]:
        names = set(_IDENTIFIER.findall(before))
        common = Counter(number for name in names for number in self._using.get(name, ()))
        ranked = []
        for number, count in common.items():
            candidate = self._paths[number]
            ranked.append((-count / (len(names) + self._sizes[number] - count), -shared(candidate, path), candidate))
        yield from (candidate for _, _, candidate in sorted(ranked))

    def _index(self) -> None:
        if self._read:
            return
        self._read = True
        for path in sorted(below(self._root, self._root, self._suffixes, self._ignored)):
            # A name that is not Unicode cannot be sent.
            if any("\ud800" <= letter <= "\udfff" for letter in path) or (text := self._text(path)) is None:
                continue
            names = set(_IDENTIFIER.findall(text))
            for name in names:
                self._using[name].append(len(self._paths))
            self._paths.append(path)
            self._sizes.append(len(names))
        self._modules = Modules(self._paths)

    def _text(self, path: str) -> str | None:
        """Return the file's text, or None if it is binary, too large, or a link out of the project."""
        try:
            data = read_own(self._root, path)
            return decode(data) if len(data) <= LARGEST_BYTES else None
        except (OSError, NotText):
            return None


class Context(msgspec.Struct, kw_only=True):
    settings: EndpointConfig
    tokenizer: Tokenizer | None = None
    others: OtherFiles | None = None

    def at(self, path: str, text: str, offset: int) -> Window:
        """Return the window around an offset, always the same for the same text. Raises EngineFailure."""
        settings = self.settings.window
        measure: Measure = self.tokenizer.count if self.tokenizer else len
        view = window(text, offset, settings, measure)
        size = int(compute_budget(settings) * settings.other_files)
        if not (self.others and size):
            return msgspec.structs.replace(view, path=path)
        template = own_template(self.settings)
        takes = template.takes if template else lambda _: True
        files = self.others.choose(path, text[:offset], size, measure, takes)
        return msgspec.structs.replace(view, path=path, files=tuple(files))

    def close(self) -> None:
        if self.tokenizer:
            self.tokenizer.close()


def has_tokenizer(settings: EndpointConfig) -> bool:
    return settings.window.tokens is not None and settings.window.characters_per_token is None


def make_tokenizer(asking: Asking, cache: Path, timeout: float) -> Tokenizer | None:
    """Return the tokenizer, or None unless the window is counted in tokens. Raises ConfigError or PreparationError."""
    return Tokenizer(asking, cache, timeout) if has_tokenizer(asking.settings) else None


def make_context(asking: Asking, surroundings: Surroundings) -> Context:
    """Return the context for the window of the settings. Raises ConfigError or PreparationError."""
    settings = asking.settings
    shows = settings.window.other_files > 0
    return Context(
        settings=settings,
        tokenizer=make_tokenizer(asking, surroundings.cache, surroundings.timeout),
        others=OtherFiles(surroundings.root, surroundings.suffixes, surroundings.ignored) if shows else None,
    )
