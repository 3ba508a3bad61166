"""The part of a chat's answer that goes on at a caret."""

from __future__ import annotations

import pytest

from ci_eval.plugins.responses.completion import extract_insertion

REST = "result * tax"


def insertion(answer: str, *, chat: bool = True) -> tuple[str, tuple[str, ...]]:
    inserted = extract_insertion(answer, (), (), chat=chat)
    return answer[inserted.begin : inserted.end], inserted.rules


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (f"```python\n{REST}\n```", "fence"),
        (f"~~~\n{REST}\n~~~", "fence"),
        (f"Here it is:\n```\n{REST}", "fence"),
        (f"```python\r\n{REST}\r\n```\r\n", "fence"),
        (f"```\npython\n{REST}\n```", "fence"),
        (f"1. Multiply:\n   ```python\n   {REST}\n   ```", "fence"),
        (f"```\n```python\n{REST}\n```\n```", "fence"),
        (f'```json\n{{"code": "{REST}"}}\n```', "fence"),
        (f"```{REST}```", "fence"),
        (f"```python {REST}```", "fence"),
        (f"Here you go\n```\n{REST}", "fence"),
        (f"Here is the code\n```\n{REST}", "fence"),
        (f"Sure!\nHere’s the rest\n\n```\n{REST}", "fence"),
        (f"{REST}\n```", "fence"),
        (f"{REST}\n```\nIt multiplies.", "fence"),
        (f"`{REST}`", "backticks"),
        (f"`{REST}`.", "backticks"),
        (f"The missing code is `{REST}`.", "backticks"),
        (f"Вот недостающий код: `{REST}`", "backticks"),
        (f"``python\n{REST}\n``", "quotes"),
        (f"'''python\n{REST}\n'''", "quotes"),
        (f"**{REST}**", "bold"),
        (f'{{"completion": "{REST}"}}', "json"),
        (f"<completion>{REST}</completion>", "tags"),
        (f"[PYTHON]{REST}[/PYTHON]", "tags"),
        (f"{REST}</code>", "tags"),
        (f"Here is the code:\n\n{REST}", "words before"),
        (f"Answer: {REST}", "words before"),
        (f"<reasoning_content>hm</reasoning_content>{REST}", "thought"),
        (f'<think a="b">hm</think>\n{REST}', "thought"),
        (f"{REST}<|python_end|>x", "end token"),
    ],
)
def test_what_a_person_would_insert_is_inserted(answer: str, rule: str) -> None:
    assert insertion(answer) == (REST, (rule,))


@pytest.mark.parametrize(
    "code",
    [
        REST, "", "  indented", "answer: int = 3", "const a = `b`;", "{'code': 1}", '{"code": "a\\n"}', "f(**a, **b)",
        "'''a'''", "the = `x`", "return `x`.trim()",
        "this.html`<b>hi</b>`", "this.a + `b`",
    ],
)  # fmt: skip
def test_code_that_looks_wrapped_stays(code: str) -> None:
    assert insertion(code) == (code, ())


@pytest.mark.parametrize("code", ["return x", "this.code = 1", "here = 3", "output[0]", "answer + 1", "here.is(a)"])
def test_code_before_a_last_fence_is_no_words(code: str) -> None:
    assert insertion(f"{code}\n```") == (code, ("fence",))
    assert insertion(f"{code}\n```\nIt works.") == (code, ("fence",))


def test_of_a_model_that_continues_text_only_thoughts_and_tokens_are_left_out() -> None:
    assert insertion(f"```\n{REST}\n```", chat=False) == (f"```\n{REST}\n```", ())
    assert insertion(f"{REST}<|endoftext|>", chat=False) == (REST, ("end token",))
