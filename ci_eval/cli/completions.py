"""Complete the names of engines, languages, metrics, keys of a configuration and more in shells, and add the options
that have these completions.

click writes the script for the shell (docs/configuration.md says how to switch it on), and calls these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from ci_eval.fetch import schemes
from ci_eval.jobs import listings

Command = Callable[..., None]
Decorator = Callable[[Command], Command]
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def of(names: Callable[[], Sequence[str]]) -> Completer:
    def complete(_context: click.Context, _option: click.Parameter, typed: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in names() if name.startswith(typed)]

    return complete


def add_named_option(flag: str, what: str, *names: str, **settings: Any) -> Decorator:
    """Return a decorator that adds an option. Shells complete its value with the names of `ci-eval list WHAT`."""
    return click.option(flag, *names, shell_complete=of(listings.NAMES[what]), **settings)


def add_settings_option(flag: str, name: str, **settings: Any) -> Decorator:
    return click.option(flag, name, metavar="KEY=VALUE", multiple=True, shell_complete=setting, **settings)


def setting(_context: click.Context, _option: click.Parameter, typed: str) -> list[CompletionItem]:
    """Complete KEY=, and then its value if the possible values are a few names."""
    key, equals, begun = typed.partition("=")
    if not equals:
        return [CompletionItem(f"{name}=") for name in listings.NAMES["keys"]() if f"{name}=".startswith(typed)]
    # The shell replaces the whole word, so each completion repeats KEY=.
    return [CompletionItem(f"{key}={value}") for value in listings.list_values(key) if value.startswith(begun)]


metric = of(lambda: ["declared", *listings.NAMES["metrics"]()])
project = of(lambda: [f"{name}:" for name in schemes.names()])
