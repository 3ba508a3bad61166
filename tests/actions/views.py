"""A small program, and what of it is seen under a strategy."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ci_eval.core.actions import Source, stream_actions
from ci_eval.core.contracts import Task
from ci_eval.core.model import FileActions, StrategyConfig, Token
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


def actions_of_file(
    source: Source, tokens: Sequence[Token], strategy: StrategyConfig, unparsable: float, task: Task
) -> FileActions:
    head, actions = stream_actions(source, tokens, strategy, unparsable, task)
    return replace(head, actions=tuple(actions))


def views(strategy: StrategyConfig, text: str = TEXT, seed: int = 0) -> dict[str, list[str]]:
    """By expected text: what stood there at each question about it, with a bar at the caret."""
    tokens = LANGUAGE.extract(text, "a.py", {}).tokens
    source = Source(project="p", path="a.py", text=text, language=LANGUAGE, seed=seed)
    bars: dict[str, list[str]] = {}
    for call, before, after in seen(text, actions_of_file(source, tokens, strategy, 0.0, task_of(strategy))):
        bars.setdefault(call.expected_text, []).append(f"{before}|{after}")
    return bars
