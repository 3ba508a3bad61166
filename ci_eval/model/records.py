"""Records of a dataset: what is asked in place of a caret in source code."""

from __future__ import annotations

from ci_eval.model.tokens import Value


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
