"""A small program, and what of it is seen under a strategy."""

from __future__ import annotations

from ci_eval.core.actions import Source, actions_of_file
from ci_eval.core.model import StrategyConfig
from ci_eval.plugins.languages.python import LANGUAGE
from tests.replaying import seen, task_of

TEXT = """import os
import sys


def first(a):
    if a:
        return os.path.join(a, [sys.argv])
    return a


class Second(object):
    size = first(1)

    def method(self):
        value = first(self.size)
        print(value)
"""


def views(strategy: StrategyConfig, text: str = TEXT, seed: int = 0) -> dict[str, list[str]]:
    """By expected text: what stood there at each question about it, with a bar at the caret."""
    tokens = LANGUAGE.extract(text, "a.py", {}).tokens
    source = Source(project="p", path="a.py", text=text, language=LANGUAGE, seed=seed)
    found: dict[str, list[str]] = {}
    for call, before, after in seen(text, actions_of_file(source, tokens, strategy, 0.0, task_of(strategy))):
        found.setdefault(call.expected_text, []).append(f"{before}|{after}")
    return found
