"""Filters as one line of text, on the command line and in configurations: `kind=METHOD_CALL prefix=1 file='src/*'`."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config.text import parse_yaml


def read_expression(text: str) -> dict[str, object]:
    """Return the entry of `reports.sessionsFilters` that an expression means; its values are not checked. A
    session passes if it passes each condition. Raises ConfigError if the text is no list of conditions."""
    try:
        # As in a shell, quotes hold values with spaces together.
        conditions = shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"filter {text!r}: {error}") from None
    if not conditions:
        raise ConfigError(f"a filter is empty: expected conditions such as kind=METHOD_CALL; {_KNOWN}")
    filters: dict[str, object] = {}
    entry: dict[str, object] = {"name": text.strip(), "filters": filters}
    for condition in conditions:
        name, equals, value = condition.partition("=")
        if not equals or not value or name not in CONDITIONS:
            raise ConfigError(f"filter {text!r}: {condition!r} is no condition; {_KNOWN}")
        key, read = CONDITIONS[name]
        section = entry if key in _OF_SESSIONS else filters
        if key in section:
            raise ConfigError(f"filter {text!r}: {name} is there twice")
        section[key] = read(value)
    return entry


def _list(text: str) -> object:
    return text.split(",")


def _value(text: str) -> object:
    return parse_yaml(text, "filter")


CONDITIONS: dict[str, tuple[str, Callable[[str], object]]] = {
    "kind": ("statementTypes", _list),
    "prefix": ("typed", _value),
    "file": ("file", str),
    "text": ("text", str),
    "static": ("isStatic", _value),
    "argument": ("isArgument", _value),
    "first": ("firstUse", _value),
    "length": ("minimumLength", _value),
    "location": ("location", str),
    "package": ("packageRegex", str),
    "strategy": ("strategies", _list),
    "scenario": ("scenarios", _list),
    "evolution": ("evolutions", _list),
}
"""The condition's name → the key of the configuration, and how its value is read."""
_OF_SESSIONS = ("typed", "file", "text")
_KNOWN = f"there are {', '.join(CONDITIONS)}, each with `=` and a value, separated by spaces"
