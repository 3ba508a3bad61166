"""Applies actions to a text, as the interpreter does, without an engine."""

from __future__ import annotations

from collections.abc import Iterator

from ci_eval.core.contracts import Task
from ci_eval.core.grammar.document import Document
from ci_eval.core.grammar.syntax import parse_tree
from ci_eval.core.model import (
    CallCompletion,
    DeleteRange,
    EvolutionConfig,
    FileActions,
    FinishSession,
    MoveCaret,
    OpenFile,
    PlayItem,
    PrefixConfig,
    PrintText,
    StrategyConfig,
)
from ci_eval.plugins.tasks import completion, golf

STRATEGIES = [
    StrategyConfig(),
    StrategyConfig(prefix=PrefixConfig(name="SimplePrefix", n=2)),
    StrategyConfig(prefix=PrefixConfig(name="SimplePrefix", n=3, emulate_typing=True)),
    StrategyConfig(prefix=PrefixConfig(name="CapitalizePrefix", emulate_typing=True)),
    StrategyConfig(prefix=PrefixConfig(name="Ladder", lengths=(0, 1, 2, 3, 5))),
    StrategyConfig(prefix=PrefixConfig(name="Inside")),
    StrategyConfig(context="PREVIOUS", prefix=PrefixConfig(name="Inside", n=2)),
    StrategyConfig(context="PREVIOUS"),
    StrategyConfig(context="LEFT"),
    StrategyConfig(context="PREVIOUS", prefix=PrefixConfig(name="Ladder", lengths=(1, 4))),
    StrategyConfig(completion_golf=True),
    StrategyConfig(context="PREVIOUS", completion_golf=True),
    StrategyConfig(evolution=EvolutionConfig(share=0.5)),
    StrategyConfig(evolution=EvolutionConfig(share=0.5, how="different")),
    StrategyConfig(evolution=EvolutionConfig(share=1, what="definitions")),
    StrategyConfig(context="PREVIOUS", evolution=EvolutionConfig(share=0.7)),
    StrategyConfig(context="PREVIOUS", completion_golf=True, evolution=EvolutionConfig(share=0.5, what="imports")),
]
"""One of each, and some of what they are together."""


def task_of(strategy: StrategyConfig) -> Task:
    """As a configuration with that strategy has it."""
    if strategy.prefix.name == "Inside":
        return completion.INSIDE
    return golf.TASK if strategy.completion_golf else completion.COMPLETION


def replay(text: str, actions: FileActions) -> str:
    """What is left of the text when all is done."""
    document = Document(text)
    for _ in _played(document, actions):
        pass
    return document.text


def seen(text: str, actions: FileActions) -> Iterator[tuple[CallCompletion | PlayItem, str, str]]:
    """Each question, with the text before and behind the caret."""
    document = Document(text)
    for call in _played(document, actions):
        yield call, document.text[: document.caret], document.text[document.caret :]


def _played(document: Document, actions: FileActions) -> Iterator[CallCompletion | PlayItem]:
    for action in actions.actions:
        match action:
            case MoveCaret():
                document.move(action.offset)
            case DeleteRange():
                document.delete(action.begin, action.end)
            case PrintText():
                document.insert(action.text)
            case CallCompletion():
                yield action
            case PlayItem():
                yield action
                document.insert(action.expected_text)
            case OpenFile() | FinishSession():
                pass


def errors(text: str, grammar: str, typed: tuple[int, int] | None = None) -> int:
    """How many places the grammar cannot read, but for those that touch what is being typed (begin, end; bytes)."""
    count = 0
    stack = [parse_tree(text.encode(), grammar).root_node]
    while stack:
        node = stack.pop()
        if node.type == "ERROR" or node.is_missing:
            count += not (typed and node.start_byte <= typed[1] and node.end_byte >= typed[0])
        if node.has_error:
            stack += node.children
    return count


def fits(original: str, grammar: str, call: CallCompletion | PlayItem, before: str, after: str) -> bool:
    """Whether the text at a question is one that a person could have: what is not being typed has no new errors.

    What is being typed goes from the beginning of the caret's line to where the original goes on; the token may be
    there or not, since `return` is nothing before it is there, and `foo.` nothing without what follows.
    """
    same = 0
    while same < min(len(after), len(original)) and after[-1 - same] == original[-1 - same]:
        same += 1
    begin = len(before[: before.rfind("\n") + 1].encode())
    known = errors(original, grammar)
    for token in (call.expected_text, ""):
        text = before + token + after
        end = len(text[: len(text) - same].encode()) + 1
        if errors(text, grammar, (begin, end)) <= known:
            return True
    return False
