"""What is left of a snippet."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.plugins.adapters.lsp.snippets import expand


@pytest.mark.parametrize(
    ("snippet", "text", "firm"),
    [
        ("name", "name", 4),
        ("join(${1:parts})$0", "join(parts)", 5),
        ("go()$0", "go()", 4),
        ("value\\$", "value$", 6),
        ("a\\}b\\\\c\\d", "a}b\\c\\d", 7),
        ("${1|one,t\\,wo|}x", "onex", 0),
        ("${1:a${2:b}}c", "abc", 0),
        ("f(${TM_FILENAME:x}, $1)", "f(x, )", 5),
        ("el$x", "el", 2),
        ("x ${1/(.*)/\\U$1/g} y", "x  y", 2),
        ("cost $ 5 ${", "cost $ 5 ${", 11),
        ("${1:open", "${1:open", 8),
        ("a${1:b${2:c}d", "a${1:bcd", 6),
        ("${X:b$1}", "b", 1),
    ],
)
def test_placeholders_leave_their_default_text(snippet: str, text: str, firm: int) -> None:
    """As VS Code's SnippetParser 0.52.2 has it."""
    assert expand(snippet) == (text, firm)


@given(st.text("a$\\{}:|1,/ "))
def test_every_text_can_be_expanded(snippet: str) -> None:
    text, firm = expand(snippet)
    assert 0 <= firm <= len(text) <= len(snippet)


HOSTILE: dict[str, Callable[[int], str]] = {
    "unclosed": lambda times: "${1:" * times,
    "nested": lambda times: "${1:" * times + "x" + "}" * times,
    "formats of an unclosed transform": lambda times: "${1/a/" + "${a}" * times,
    "unclosed formats": lambda times: "${1/x/" + "${" * times,
    "unclosed transforms": lambda times: "${1/x/" * times,
    "transforms in a format": lambda times: "${1/x/" + "${1/}" * times,
    "unclosed choices": lambda times: "${1|a," * times,
    "choices": lambda times: "${1|" + "a\\|," * times,
    "variables": lambda times: "${x:$y" * times,
    "escapes": lambda times: "\\$" * times,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_snippet_of_twice_the_length_takes_at_most_about_twice_the_time(name: str) -> None:
    short, long = (min(_seconds(HOSTILE[name](times)) for _ in range(3)) for times in (1500, 3000))
    assert long < 4 * short + 0.02


def test_a_hundred_thousand_random_snippets_and_a_thousand_nested_ones_are_fast() -> None:
    signs, choice = (
        ["a", "$", "\\", "{", "}", "|", ",", "/", ":", "$1", "${1:", "${x:", "${1|", "|}", "${1/"],
        random.Random(4),
    )
    snippets = ["".join(choice.choices(signs, k=choice.randrange(30))) for _ in range(100_000)]
    snippets += ["".join(choice.choices(signs[10:], k=5)) * choice.randrange(1000) for _ in range(1000)]
    assert [snippet for snippet in snippets if _seconds(snippet) > 0.05 and _seconds(snippet) > 0.05] == []


def test_a_snippet_longer_than_any_that_a_server_sends_is_text() -> None:
    assert expand("$1" * 20_000) == ("$1" * 20_000, 40_000)


def _seconds(snippet: str) -> float:
    """Return the processor's time, which other processes do not lengthen."""
    began = time.process_time()
    expand(snippet)
    return time.process_time() - began
