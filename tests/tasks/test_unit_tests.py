"""Unit tests: how code is found in answers, and what an evaluation says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_eval.cli.group import cli
from ci_eval.core.model import Record, Suggestion
from ci_eval.plugins.tasks.unit_tests import code, code_of_mera, write


def of(language: str) -> Record:
    return Record(language=language.lower(), context={"language": language})


@pytest.mark.parametrize(
    ("language", "answer"),
    [
        ("go", "Here:\n```go\na\n```\nDone."),
        ("csharp", "```c#\na\n```"),
        ("java", "```\na\n```"),
        ("python", write("a")),
    ],
)
def test_code_is_found_in_its_fence(language: str, answer: str) -> None:
    assert code(answer, of(language)) == [Suggestion(text="a", kind="fence")]


def test_an_empty_fence_has_no_code_and_none_is_unreadable() -> None:
    assert code("```go\n```", of("go")) == []
    assert code("a", of("go")) is None


def test_a_test_with_fences_is_written_into_a_longer_one() -> None:
    text = 'a = """\n```\nb\n```\n"""'
    assert code(write(text), of("python")) == [Suggestion(text=text, kind="fence")]


@pytest.mark.parametrize(
    ("language", "answer", "found"),
    [
        # Accepted, and not, by MERA CODE's get_code_from_markdown, commit 7972841.
        ("js", "```js\na\n```", "a"),
        ("csharp", "```csharp\na\n```\n```csharp\nb\n```", "a\n\nb"),
        ("go", "```go\na", "a"),
        ("go", "```\na\n```", "a"),
        ("js", "```javascript\na\n```", "```javascript\na\n```"),
        ("csharp", "```c#\na\n```", "```c#\na\n```"),
        ("go", "```Go\na\n```", "```Go\na\n```"),
        ("python", "```python \na\n```", "```python \na\n```"),
        ("python", "```python\r\na\n```", "```python\r\na\n```"),
        ("python", "```\na", "```\na"),
        ("python", "a", "a"),
    ],
)
def test_code_is_taken_as_mera_does(language: str, answer: str, found: str) -> None:
    assert code_of_mera(answer, of(language)) == [found]


TESTS = {
    "Python": "def test_add():\n    total = add(1, 2)\n    assert total == 3\n",
    "go": "func TestAdd(t *testing.T) {\n\tgot := Add(1, 2)\n\tif got != 3 {\n\t\tt.Fatal(got)\n\t}\n}\n",
    "js": "test('adds', () => {\n  const total = add(1, 2);\n  expect(total).toBe(3);\n});\n",
}
NAMES = "CodeBLEU NgramMatch WeightedNgramMatch SyntaxMatch DataflowMatch CodeBLEUMera Parses".split()


def figures(folder: Path, engine: str) -> dict[str, float | None]:
    lines = [
        {
            "instruction": "Write a test for {focal_func} in {language}.",
            "inputs": {"focal_func": "add", "language": language},
            "outputs": test,
            "meta": {"id": language},
        }
        for language, test in TESTS.items()
    ]
    (folder / "tests.jsonl").write_text("\n".join(map(json.dumps, lines)))
    argv = ["evaluate", "--task", "unit-tests", "--dataset", str(folder / "tests.jsonl"), "--engine", engine]
    cli.main([*argv, "--jobs", "1", "--output", str(folder / engine)], standalone_mode=False)
    report = json.loads((folder / engine / "reports" / "metrics.json").read_text())
    metrics = report["evaluations"][0]["filters"]["ALL"]["metrics"]
    return {name: metrics[name]["value"] for name in NAMES}


@pytest.mark.registry
def test_the_oracle_and_the_empty_control_are_at_the_ends(tmp_path: Path) -> None:
    assert figures(tmp_path, "oracle") == pytest.approx(dict.fromkeys(NAMES, 1.0))
    assert figures(tmp_path, "empty") == {**dict.fromkeys(NAMES, 0.0), "Parses": None}
