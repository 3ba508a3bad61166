"""The samples of a dataset: what is asked in place of a caret in source code."""

from __future__ import annotations

from pathlib import PurePosixPath

from ci_eval.core.model.tokens import Number, Value
from ci_eval.core.model.usages import ObjectUsage

REGISTRIES = ("pypi", "npm", "maven", "go", "debian")
"""The registries from which the project of a sample may come: a dataset must not be able to name folders of yours."""


class Stretch(Value, frozen=True, kw_only=True):
    """A stretch of a file's text, from one offset (code points) to another."""

    path: str
    """The path relative to the top folder of the files."""
    begin: Number
    end: Number

    def __post_init__(self) -> None:
        """Raise ValueError unless path and offsets can be those of a file."""
        check_path(self.path)
        if self.begin > self.end:
            raise ValueError(f"{self.path}: it ends at {self.end}, before it begins at {self.begin}")


class Runnable(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The material to run a test that somebody wrote for a function."""

    files: dict[str, str] = {}
    """The texts by path, beside the project's files, or in place of them."""
    project: str = ""
    """The SPEC of the project whose files and dependencies are there, too; "" = there are `files` only."""
    focal: Stretch
    """The function that is tested."""
    test: Stretch
    """The stretch that the test replaces. No other test is in that file."""

    def __post_init__(self) -> None:
        """Raise ValueError if a path leads outside the folder, or an offset is beyond the end of its file."""
        for path in self.files:
            check_path(path)
        if self.project and self.project.partition(":")[0] not in REGISTRIES:
            raise ValueError(f"run.project is {self.project!r}: only {', '.join(REGISTRIES)} may be named there")
        if self.focal.path == self.test.path:
            raise ValueError(f"{self.test.path} holds the function and its test: give them files of their own")
        for part in (self.focal, self.test):
            text = self.files.get(part.path)
            if text is None and not self.project:
                raise ValueError(f"run.files has no {part.path}")
            if text is not None and part.end > len(text):
                raise ValueError(f"{part.path} has {len(text)} characters, and something is to end at {part.end}")


def check_path(path: str) -> None:
    """Raise ValueError unless the path leads below the folder it is relative to, on every system."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or "\0" in path or ".." in parts or path.endswith("/"):
        raise ValueError(f"{path!r} is no path of a file below a folder: give one such as src/shop/cart.py")


class Caret(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The location in a text at which a completion engine is asked in place of a recommender."""

    path: str
    """The path of the file, relative to the project's root."""
    text: str
    """The SHA-256 of the text that the file has (hex)."""
    edits: tuple[tuple[Number, Number, str], ...] = ()
    """The edits of the text, in order: offset, code points deleted there, text inserted there."""
    offset: Number
    """The offset of the caret in the edited text."""


class Record(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A sample of a dataset: what an engine is given, and what would be right."""

    language: str = ""
    """The language of the code in it; "" = that of the configuration."""
    instruction: str = ""
    """The instruction for a language model; `{name}` stands for that part of the context. "" = as the task asks."""
    context: dict[str, str] = {}
    """The texts that the engine is given, by name: a diff, a function, the file around it."""
    references: tuple[str, ...] = ()
    """The right answers, each by itself; none if only a judge can tell."""
    run: Runnable | None = None
    """The way in which an answer that is a test is run; None if the sample does not say."""
    queries: tuple[ObjectUsage, ...] = ()
    """The objects of which it is asked what else will be called on them, one in each lookup."""
    next_references: tuple[str, ...] = ()
    """The calls that the very next state adds, of a real query whose goal may be a later one."""
    carets: tuple[Caret | None, ...] = ()
    """The locations at which completion engines are asked about each object; None if there is no such location. Empty:
    none for all objects."""
