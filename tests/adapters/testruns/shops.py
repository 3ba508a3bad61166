"""A small function in each language, with a record that says how its tests are run."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core import machine
from ci_eval.core.contracts import RunSettings
from ci_eval.core.model import Confine, Record, RunConfig, Runnable, Stretch
from ci_eval.plugins.adapters.testruns.languages import RUNNERS
from ci_eval.plugins.adapters.testruns.sandbox import Box, Outcome

FOCAL = {
    "python": (
        "shop.py",
        'def price(cents, count):\n    """In all."""\n    if count < 0:\n        raise ValueError("few")\n'
        "    return cents * count\n",
    ),
    "javascript": (
        "shop.js",
        "function price(cents, count) {\n  if (count < 0) throw new Error('few');\n  return cents * count;\n}\n",
    ),
    "go": (
        "shop/shop.go",
        'func Price(cents, count int) (int, error) {\n\tif count < 0 {\n\t\treturn 0, errors.New("few")\n\t}\n'
        "\treturn cents * count, nil\n}\n",
    ),
    "java": (
        "Shop.java",
        '    static int price(int cents, int count) {\n        if (count < 0) {\n            throw new Error("few");\n'
        "        }\n        return cents * count;\n    }\n",
    ),
}
BEFORE = {"java": "class Shop {\n", "go": 'package shop\n\nimport "errors"\n\n'}
AFTER = {"java": "}\n", "javascript": "module.exports = { price };\n"}
TESTS = {
    "python": ("test_shop.py", "from shop import price\n\n\n", ""),
    "javascript": (
        "shop.test.js",
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "const { price } = require('./shop');\n\n",
        "",
    ),
    "go": ("shop/shop_test.go", 'package shop\n\nimport "testing"\n\n', ""),
    "java": (
        "ShopTest.java",
        "import static org.junit.jupiter.api.Assertions.*;\nimport org.junit.jupiter.api.*;\n\nclass ShopTest {\n    ",
        "\n}\n",
    ),
}
GOOD = {
    "python": "def test_price():\n    assert price(2, 3) == 6",
    "javascript": "test('price', () => { assert.equal(price(2, 3), 6); });",
    "go": "func TestPrice(t *testing.T) {\n\tif got, _ := Price(2, 3); got != 6 {\n\t\tt.Error(got)\n\t}\n}",
    "java": "@Test\nvoid price() {\n    assertEquals(6, Shop.price(2, 3));\n}",
}
OTHERS = {"go": {"go.mod": "module shop\n\ngo 1.18\n"}}


def runnable(language: str) -> Runnable:
    """How tests of `price` are run."""
    path, focal = FOCAL[language]
    before = BEFORE.get(language, "")
    test, head, tail = TESTS[language]
    files = {path: f"{before}{focal}{AFTER.get(language, '')}", test: head + tail, **OTHERS.get(language, {})}
    return Runnable(
        files=files,
        focal=Stretch(path=path, begin=len(before), end=len(before + focal)),
        test=Stretch(path=test, begin=len(head), end=len(head)),
    )


def record(language: str = "python") -> Record:
    """A record with a test that passes as its reference."""
    return Record(language=language, references=(GOOD[language],), run=runnable(language))


def settings(
    *, mutants: int = 10, timeout: float = 60.0, memory: int = 4 << 30, confine: Confine = "auto"
) -> RunSettings:
    """Those of a configuration, unless others are given."""
    wanted = RunConfig(tests=True, mutants=mutants, timeout=timeout)
    return RunSettings(wanted=wanted, memory=memory, confine=confine)


def outcome(language: str, test: str, *, timeout: float = 60.0, memory: int = 4 << 30) -> Outcome:
    """What comes of a test of `price`."""
    runner = RUNNERS[language]
    box = Box(runner=runner, kit=runner.install(machine.cache_folder()), settings=settings(memory=memory))
    run = runnable(language)
    around = run.files[run.test.path]
    own = around[: run.test.begin] + test + around[run.test.end :]
    return box.run({**run.files, run.test.path: own}, run.test.path, timeout)


def left_in(folder: Path) -> list[str]:
    """Names of what runs leave behind among temporary files."""
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("ci-eval-"))
