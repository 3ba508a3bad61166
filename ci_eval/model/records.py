"""Records of a dataset: what is asked in place of a caret in source code."""

from __future__ import annotations

from pathlib import PurePosixPath

from ci_eval.model.tokens import Number, Value
from ci_eval.model.usages import ObjectUsage

REGISTRIES = ("pypi", "npm", "maven", "go", "debian")
"""Where the project of a record may come from: a dataset must not be able to name folders of yours."""


class Stretch(Value, frozen=True, kw_only=True):
    """Some text of a file: what stands from one offset (code points) to another."""

    path: str
    """Relative to the top folder of the files."""
    begin: Number
    end: Number

    def __post_init__(self) -> None:
        """Raises ValueError unless path and offsets can be those of a file."""
        check_path(self.path)
        if self.begin > self.end:
            raise ValueError(f"{self.path}: it ends at {self.end}, before it begins at {self.begin}")


class Runnable(Value, frozen=True, kw_only=True, omit_defaults=True):
    """What it takes to run a test that somebody wrote for a function."""

    files: dict[str, str] = {}
    """Path → text, beside the project's files, or in place of them."""
    project: str = ""
    """SPEC of the project whose files and dependencies are there, too; "" = there are `files` only."""
    focal: Stretch
    """The function that is tested."""
    test: Stretch
    """Where the test goes; what stands there gives way to it. No other test stands in that file."""

    def __post_init__(self) -> None:
        """Raises ValueError where a path leads elsewhere, or an offset is beyond the end of its file."""
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
    """Raises ValueError unless the path leads to a place below the folder it is relative to, in every system."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or "\0" in path or ".." in parts or path.endswith("/"):
        raise ValueError(f"{path!r} is no path of a file below a folder: give one such as src/shop/cart.py")


class Caret(Value, frozen=True, kw_only=True, omit_defaults=True):
    """Where in a text a completion engine is asked in place of a recommender."""

    path: str
    """Of the file, relative to the project's root."""
    text: str
    """SHA-256 of the text that the file has (hex)."""
    edits: tuple[tuple[Number, Number, str], ...] = ()
    """Done to the text, one after the other: offset, code points deleted there, text inserted there."""
    offset: Number
    """Of the caret, in what comes of that."""


class Record(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One record: what an engine is given, and what would be right."""

    language: str = ""
    """Of the code in it; "" = that of the configuration."""
    instruction: str = ""
    """How a model is asked; `{name}` stands for that part of the context. "" = as the task asks."""
    context: dict[str, str] = {}
    """Name → text of what the engine is given: a diff, a function, the file around it."""
    references: tuple[str, ...] = ()
    """What would be right, each by itself; none where only a judge can tell."""
    run: Runnable | None = None
    """How an answer that is a test is run; None where the record does not say."""
    queries: tuple[ObjectUsage, ...] = ()
    """Objects of which it is asked what else will be called on them, one in each lookup."""
    carets: tuple[Caret | None, ...] = ()
    """Where completion engines are asked about each of them; None where there is no such place. Empty: about none."""
