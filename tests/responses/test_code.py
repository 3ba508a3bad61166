"""Code in the fence that records ask for."""

from __future__ import annotations

import pytest

from ci_eval.plugins.responses.cleaning import clean
from ci_eval.plugins.responses.code import extract_code

CODE = "def test_add():\n    assert add(1, 2) == 3\n\n    assert add(0, 0) == 0"
FOCAL = "def add(a, b):\n    return a + b"
NUMBERED = "\n".join(f"{number} {line}".rstrip() for number, line in enumerate(CODE.split("\n"), 1))


def fenced(code: str = CODE, tag: str = "python") -> str:
    return f"```{tag}\n{code}\n```"


@pytest.mark.parametrize(
    "answer",
    [
        fenced(),
        fenced(tag=""),
        fenced(tag="Python title=a.py"),
        fenced(NUMBERED),
        fenced().replace("\n", "\r\n"),
        f"Вот тест:\n{fenced()}\nОн проверяет сумму.",
        f"The function:\n{fenced(FOCAL)}\nThe test:\n{fenced()}",
        f"{fenced()}\nIt tests this:\n{fenced(FOCAL)}",
        f"A draft:\n{fenced('def test_add(): ...')}\nThe test:\n{fenced()}",
        f"{fenced()}\nRun it:\n{fenced('pytest', 'bash')}",
        f"{fenced()}<|im_end|>",
        f"<think>\n{fenced('def test_wrong(): ...')}\n</think>\n{fenced()}",
        f"```python\n{CODE}",
    ],
)
def test_the_last_fence_of_the_language_that_is_not_the_prompts_holds_the_code(answer: str) -> None:
    assert extract_code(clean(answer).text, "Python", f"Test this:\n{FOCAL}") == CODE


@pytest.mark.parametrize(
    "answer",
    [
        CODE,
        "I'm sorry, I can't write tests for this code.",
        f'{{"test": "{CODE}"}}',
        fenced(f"+{CODE}", "diff"),
        "diff --git a/a.py b/a.py\n+def test_add(): ...",
        f"<pre><code>{CODE}</code></pre>",
        fenced(FOCAL),
        "",
    ],
)
def test_without_it_the_answer_is_unreadable(answer: str) -> None:
    assert extract_code(answer, "Python", f"Test this:\n{FOCAL}") is None


@pytest.mark.parametrize("tag", ["js", "ts", "jest", "javascript"])
def test_a_language_has_several_tags(tag: str) -> None:
    assert extract_code(fenced("x();", tag), "JavaScript") == "x();"
    assert extract_code(fenced("x();", tag), "Go") is None
