"""Mutants of a function: one change each, in its body alone, and text that the grammar can read."""

from __future__ import annotations

import pytest

from ci_eval.core.model import Stretch
from ci_eval.plugins.adapters.testruns.languages import RUNNERS
from ci_eval.plugins.adapters.testruns.mutants import find_function, mutants, stub
from tests.adapters.testruns.shops import FOCAL, runnable


def described(text: str, language: str = "python") -> set[str]:
    focal = Stretch(path="a", begin=0, end=len(text))
    return {each.described(text, focal) for each in mutants(RUNNERS[language], text, focal)}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("return a < b", {"< → <=", "a < b → None"}),
        ("return a not in b", {"not in → in", "a not in b → None"}),
        ("return a is not b", {"is not → is", "a is not b → None"}),
        ("a -= 2.5", {"-= → +=", "2.5 → (2.5 + 1)", "a -= 2.5 → pass"}),
        ("return a and not b", {"and → or", "not b → b", "a and not b → None"}),
        ("return True", {"True → False", "True → None"}),
        ("f('x', '')", {"'x' → ''", "f('x', '') → pass"}),
        ("raise E(f'{a}')", {"raise E(f'{a}') → pass"}),
        ("x: int = g", {"x: int = g → pass"}),
        ('"""Says what it does."""', set()),
        ("return None", set()),
        ("return", set()),
    ],
)
def test_each_operator_changes_one_thing(statement: str, expected: set[str]) -> None:
    mutations = described(f"def f(a=1, b='c'):\n    {statement}\n")
    assert mutations == {f"line 2: {each}" for each in expected}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("javascript", "const f = (a) => a !== 'x';", {"!== → ===", "'x' → ''"}),
        ("javascript", "class A { m() { i++; return !a; } }", {"++ → --", "i++; → ;", "!a → a", "!a → undefined"}),
        (
            "go", "package a\nfunc F() bool { i++; return !a || b >= 1 }",
            {"++ → --", "i++ → {}", "!a → a", "|| → &&", ">= → >", "1 → 2"},
        ),
        (
            "java", "class A { int m() { x += 1; return y % 2; } }",
            {"+= → -=", "1 → 2", "x += 1; → ;", "% → *", "2 → 3", "y % 2 → null"},
        ),
    ],
)  # fmt: skip
def test_all_languages_have_the_operators(language: str, text: str, expected: set[str]) -> None:
    assert {each.partition(": ")[2] for each in described(text, language)} == expected


@pytest.mark.parametrize("language", FOCAL)
def test_mutants_are_readable_each_another_and_drawn_alike_each_time(language: str) -> None:
    run, runner = runnable(language), RUNNERS[language]
    text = run.files[run.focal.path]
    mutations = mutants(runner, text, run.focal)
    texts = [each.apply_mutation(text.encode()) for each in mutations]
    assert len({*texts, text}) == len(texts) + 1 > 5
    assert mutations == mutants(runner, text, run.focal)
    moved = mutants(runner, f"\n{text}", Stretch(path="a", begin=run.focal.begin + 1, end=run.focal.end + 1))
    assert [each.replacement for each in mutations] == [each.replacement for each in moved]


def test_code_points_that_take_several_bytes_do_not_shift_a_mutant() -> None:
    text = "# é漢🙂\ndef f(a):\n    return a < 'é'\n"
    runner, focal = RUNNERS["python"], Stretch(path="a", begin=6, end=len(text))
    assert find_function(runner, text, focal) is not None
    assert "line 2: < → <=" in {each.described(text, focal) for each in mutants(runner, text, focal)}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "def f():\n    return 1\n", "def f():\n    return None\n    return 1\n"),
        ("python", "def f(): return 1\n", "def f(): return None; return 1\n"),
        ("javascript", "const f = (a) => a + 1;", "const f = (a) => undefined;"),
        ("javascript", "function f() { g(); }", "function f() { return; g(); }"),
        ("go", "func F() { g() }", "func F() { return; g() }"),
        ("go", "func F() (n int, err error) { return g() }", "func F() (n int, err error) { return; return g() }"),
        (
            "go",
            "func F() (int, error) { return g() }",
            "func F() (int, error) { var nothing0 int; var nothing1 error; return nothing0, nothing1; return g() }",
        ),
        ("java", "class A { void f() { g(); } }", "class A { void f() { if (true) return ; g(); } }"),
        ("java", "class A { long f() { return 1; } }", "class A { long f() { if (true) return 0; return 1; } }"),
        ("java", "class A { List f() { return g; } }", "class A { List f() { if (true) return null; return g; } }"),
    ],
)
def test_a_stub_returns_nothing_at_once(language: str, text: str, expected: str) -> None:
    assert stub(RUNNERS[language], text, Stretch(path="a", begin=0, end=len(text))) == expected


def test_where_no_function_is_there_are_neither_mutants_nor_a_stub() -> None:
    runner, focal = RUNNERS["python"], Stretch(path="a", begin=0, end=5)
    assert (mutants(runner, "x = 1\n", focal), stub(runner, "x = 1\n", focal)) == ([], None)
