"""Code in the many forms in which models give it."""

from __future__ import annotations

import json

import pytest

from ci_eval.plugins.responses.cleaning import clean
from ci_eval.plugins.responses.code import extract_code

CODE = "def test_add():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0"
JAVA = "@Test\nvoid adds() {\n    assertEquals(3, add(1, 2));\n}"
GO = "func TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}"
JS = "test('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});"
CSHARP = "[Fact]\npublic void Adds()\n{\n    Assert.Equal(3, Add(1, 2));\n}"


ANALYSIS = "<|channel|>analysis<|message|>"
FINAL = "<|end|><|start|>assistant<|channel|>final<|message|>"


def fenced(code: str = CODE, tag: str = "python", fence: str = "```") -> str:
    return f"{fence}{tag}\n{code}\n{fence}"


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (CODE, "whole"),
        (fenced(), "fence"),
        (fenced(tag="Python"), "fence"),
        (fenced(tag="py"), "fence"),
        (fenced(tag="python title=test.py"), "fence"),
        (fenced(tag="{.python}"), "fence"),
        (fenced(tag="test_add.py"), "fence"),
        (fenced(tag="python:test_add.py"), "fence"),
        (fenced(tag=""), "bare fence"),
        (fenced(fence="~~~"), "fence"),
        (fenced(fence="````"), "fence"),
        (fenced(tag="text"), "other fence"),
        (f"Вот тест: {fenced()}", "fence"),
        (f"The test:{fenced()}\nIt adds.", "fence"),
        (f"```python\n{CODE}", "fence"),
        (f"```python\n{CODE}```", "fence"),
        (f"```python\n{CODE}```\nIt adds.", "fence"),
        (f"{fenced()} Готово.", "fence"),
        (fenced().replace("\n", "\r\n"), "fence"),
        ("1. The test:\n\n   " + fenced().replace("\n", "\n   "), "fence"),
        ("> " + fenced().replace("\n", "\n> "), "fence"),
        (f"Run it:\n```bash\npytest\n```\n{fenced()}", "fence"),
        (f"{fenced()}\n```\n2 passed\n```", "fence"),
        (f"```\npytest\n```\n{fenced()}", "fence"),
        (f"```markdown\nThe test:\n{fenced()}\n```", "other fence"),
        (f"````\n{fenced()}\n````", "bare fence"),
        (f"<think>\n{fenced('draft')}\n</think>\n{fenced()}", "fence"),
        (f"{fenced('draft')}\n</think>\n{fenced()}", "fence"),
        (f"[THINK]{fenced('draft')}[/THINK]{fenced()}", "fence"),
        (f"{ANALYSIS}{fenced('x')}{FINAL}{fenced()}<|return|>", "fence"),
        (f"analysisWe need a test.assistantfinal{fenced()}", "fence"),
        (f"{fenced()}<|im_end|>", "fence"),
        (f"{fenced()}</s>", "fence"),
        (f"{CODE}<|eot_id|><|start_header_id|>user", "whole"),
        (f"<|im_start|>assistant\n{CODE}", "whole"),
        (f"<answer>\n{CODE}\n</answer>", "whole"),
        (json.dumps({"test": CODE}), "json"),
        (json.dumps({"unit_test": fenced()}), "json"),
        (json.dumps([{"code": CODE}]), "json"),
        (json.dumps({"explanation": "It adds.", "code": CODE}), "json"),
        (fenced(json.dumps({"test": CODE}), "json"), "json"),
        ('{"test": "' + CODE + '"}', "json"),
        (f"<pre><code class='language-python'>{CODE}</code></pre>", "html"),
        (f"Вот тест:\n\n{CODE}\n\nОн проверяет сумму.", "grammar"),
        (f"Here is the test:\n{CODE}", "grammar"),
        (f"{CODE}\n\nThis test checks the sum.", "grammar"),
        (f"{CODE}\n```", "grammar"),
        (f"{CODE}\n```\nThis test checks the sum.", "grammar"),
        (f"{CODE}\n\nOutput:\n```\n2 passed\n```", "grammar"),
        (f"python\nCopy code\n{CODE}", "grammar"),
        ("Here is the test:\n\n    " + CODE.replace("\n", "\n    "), "grammar"),
        (fenced(f"python\n{CODE}", tag=""), "bare fence"),
        (f"~~~python\n{CODE}\n```", "fence"),
        (fenced("+" + CODE.replace("\n", "\n+"), tag="diff"), "other fence"),
        (fenced("--- a\n+++ b\n@@ -1 +1,3 @@\n-x\n+" + CODE.replace("\n", "\n+"), tag="diff"), "other fence"),
        (fenced(">>> " + CODE.replace("\n", "\n... ")), "fence"),
        (fenced("\n".join(f"{number:2} | {line}" for number, line in enumerate(CODE.split("\n"), 9))), "fence"),
        (fenced(CODE.replace("    ", "\u00a0" * 4)), "fence"),
        (CODE.replace("\n", "\\n"), "escapes"),
        (fenced().replace("\n", "\\n"), "escapes"),
        (f"\'\'\'python\n{CODE}\n\'\'\'", "quotes"),
        (f"``python\n{CODE}\n``", "quotes"),
        (f"[PYTHON]\n{CODE}\n[/PYTHON]", "tags"),
        (f"Here it is.\n<unit_test>\n{fenced()}\n</unit_test>\nDone.", "fence"),
        (f"<|python_tag|>{CODE}<|eom_id|>", "whole"),
        (f"<reasoning_content>{fenced('x')}</reasoning_content>{fenced()}", "fence"),
        (f"<details>\n<summary>Thinking</summary>\n{fenced('x')}\n</details>\n{fenced()}", "fence"),
        (f'<think time="3">{fenced("x")}</think>{fenced()}', "fence"),
        (f"{fenced()}\n\nHuman: thanks\nAssistant: {fenced('x')}", "fence"),
        (json.dumps({"test": CODE.split("\n")}), "json"),
        (json.dumps({"language": "python", "of_add": CODE}), "json"),
        ('{\n  // it adds\n  "test": ' + json.dumps(CODE) + ",\n}", "json"),
        ('{"test": ' + json.dumps(CODE)[:-1], "json"),
        ("```json\n" + '{"test": ' + json.dumps(CODE), "json"),
    ],
)  # fmt: skip
def test_code_is_read_as_a_person_reads_it(answer: str, rule: str) -> None:
    assert extract_code(clean(answer).text, "python") == (CODE, rule)


@pytest.mark.parametrize(
    ("language", "code"), [("java", JAVA), ("go", GO), ("javascript", JS), ("csharp", CSHARP), ("c#", CSHARP)]
)
def test_the_grammar_finds_code_without_a_fence(language: str, code: str) -> None:
    assert extract_code(f"Sure, here is the test.\n\n{code}\n\nIt checks that numbers are added.", language) == (
        code,
        "grammar",
    )


@pytest.mark.parametrize(("language", "code"), [("java", JAVA), ("go", GO), ("javascript", JS), ("csharp", CSHARP)])
def test_code_whose_first_fence_the_prompt_had_ends_at_its_last(language: str, code: str) -> None:
    assert extract_code(f"{code}\n```\nIt checks that numbers are added.", language) == (code, "grammar")


NESTED = 'def test_sql():\n    text = """\n```sql\nSELECT 1\n```\n"""\n    assert run(text)'


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (fenced(NESTED, fence="````"), NESTED),
        (fenced(NESTED), NESTED),
        (f"```python\n{CODE}\n```python\n{CODE}\n```", f"{CODE}\n{CODE}"),
        (f"{fenced('import a')}\n\n{fenced()}", f"import a\n{CODE}"),
        ('x = "<|im_end|>"\nassert x', 'x = "<|im_end|>"\nassert x'),
        ('x = "<s>a</s>"\nassert x', 'x = "<s>a</s>"\nassert x'),
        ("```python\nx = '<think>'\n```", "x = '<think>'"),
        (f"{fenced('assert (')}\nDone(1)", "assert ("),
        (fenced("1 passed", tag=""), "1 passed"),
        ('x = "a\\nb"', 'x = "a\\nb"'),
        ('```assert f("a\\n") == 1```', 'assert f("a\\n") == 1'),
        ('assert escape("<") == "&lt;"', 'assert escape("<") == "&lt;"'),
        ('assert escape(x) == "&lt;"', 'assert escape(x) == "&lt;"'),
        (fenced("assert f(1) &gt; 0 and f(2) &lt; 1"), "assert f(1) > 0 and f(2) < 1"),
        ("[" * 3000, "[" * 3000),
        ('{"a":' * 950 + "1" + "}" * 950, '{"a":' * 950 + "1" + "}" * 950),
        ("", ""),
    ],
)
def test_what_belongs_to_the_code_stays_in_it(answer: str, code: str) -> None:
    assert extract_code(clean(answer).text, "python")[0] == code
