"""Uses of imported names are asked for without their imports."""

from __future__ import annotations

from ci_eval.core.actions import Source, actions_of_file
from ci_eval.core.actions.importing import uses
from ci_eval.core.grammar.document import Document
from ci_eval.core.model import DeleteRange, MoveCaret, PrintText, StrategyConfig, UseImport
from ci_eval.plugins.languages.python import LANGUAGE
from ci_eval.plugins.tasks.completion import IMPORTS as TASK

TEXT = """from a import Apple, Pear
from b import id
from c import unused


def eat(fruit: Apple, Pear) -> Apple:
    fruit.Apple = id(Pear)
    return fruit
"""


def source(seed: int = 0, text: str = TEXT) -> Source:
    return Source(project="demo", path="p.py", text=text, language=LANGUAGE, seed=seed)


def test_the_seed_picks_a_use_that_is_neither_a_member_nor_local() -> None:
    tokens = LANGUAGE.extract(TEXT, "p.py", {}).tokens
    picked = {(use.token.text, use.token.offset) for seed in range(20) for use in uses(source(seed), tokens)}
    first = TEXT.index("Apple, Pear) ->")
    assert picked == {
        ("Apple", first),
        ("Apple", TEXT.index("Apple:", first)),
        ("id", TEXT.index("id(Pear")),
    }


def test_the_import_is_missing_at_its_use_and_back_behind_it() -> None:
    tokens = LANGUAGE.extract(TEXT, "p.py", {}).tokens
    actions = actions_of_file(source(), tokens, StrategyConfig(), 0.0, TASK)
    document, calls = Document(TEXT), []
    for action in actions.actions:
        if isinstance(action, MoveCaret | DeleteRange | PrintText):
            document.apply(action)
        elif isinstance(action, UseImport):
            calls.append((action.expected_text, action.prefix))
            text = document.text
            assert document.caret == len(text[: document.caret])
            assert text[: document.caret].endswith(action.prefix)
            removed = action.removed
            whole = text[: removed.offset] + removed.text + text[removed.offset :]
            left = len(action.expected_text) - len(action.prefix)
            caret = document.caret + len(removed.text)
            assert whole[:caret] + action.expected_text[len(action.prefix) :] + whole[caret:] == TEXT
            assert left == len(TEXT) - len(whole)
            assert action.expected_text in removed.text
    assert document.text == TEXT
    # A name of up to three letters is asked for once.
    assert calls == [("Apple", "App"), ("Apple", "Apple"), ("id", "id")]
    assert actions.sessions == 3
