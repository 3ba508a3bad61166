"""Fences as CommonMark has them."""

from __future__ import annotations

import pytest

from ci_eval.plugins.responses.fences import find_fences

CODE = "def f():\n    return 1"


@pytest.mark.parametrize(
    ("text", "tag", "code"),
    [
        (f"```python\n{CODE}\n```", "python", CODE),
        (f"~~~\n{CODE}\n~~~\n", "", CODE),
        (f"````py title=a.py\n```\n{CODE}\n```\n````", "py", f"```\n{CODE}\n```"),
        (f"```{{.python}}\r\n{CODE}\r\n```\r\n", "python", CODE),
        (f"```python\n{CODE}```\nDone.", "python", CODE),
        ("```\n```", "", ""),
    ],
)
def test_a_fence_ends_at_its_own_signs(text: str, tag: str, code: str) -> None:
    (fence,) = find_fences(text)
    assert (fence.tag, fence.text, fence.is_closed) == (tag, code, True)
    assert text[fence.begin : fence.end] == fence.text


def test_a_fence_that_is_not_closed_goes_on_to_the_end() -> None:
    (fence,) = find_fences(f"Here:\n```python\n{CODE}")
    assert (fence.text, fence.is_closed) == (CODE, False)


def test_signs_within_a_line_and_in_indented_code_are_no_fence() -> None:
    assert find_fences("a ``` b\n    ```\n    x\n    ```\n") == []
