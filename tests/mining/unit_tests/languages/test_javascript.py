"""Tests of JavaScript and TypeScript are paired by the last call of a function of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.plugins.mining.unit_tests.records import PROMPTS, fill_framework
from tests.mining.unit_tests.pairs import fate, mined, pairs, shown

CODE = """\
function take(items, n) { return items.slice(0, n) }
const half = (n) => n / 2
exports.all = function (items) { const local = () => 1; return items }
class Box { grow(by) { this.size += by } }
const api = { open() { return 1 }, shut: () => 2 }
Box.prototype.shrink = function (by) {}
const slow = debounce(function (n) { return n })
function factory() {
  function hidden() { return 1 }
  const typed = make('typed', extend({ number: (n) => n }))
  return typed
}
module.exports = (function () { function inner(n) { return n } return inner })()
"""
IMPORTS = "const lib = require('../lib/box'), { take, half, local } = lib\n"


def of(tmp_path: Path, body: str, end: str = "js", imports: str = IMPORTS) -> object:
    test = f"{imports}describe('box', () => {{ it('works', () => {{ {body} }}) }})\n"
    files = {f"lib/box.{end}": CODE, f"test/box.{end}": test}
    return pairs(mined(tmp_path, "javascript", files)).get("works")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("take([1], 1)", "take"),
        ("take([1], 1); assert.equal(half(2), 1)", "half"),
        ("expect(half(take([2], 1))).toBe(1)", "take"),
        ("lib.all([]).forEach(check)", "all"),
        ("new lib.Box(1).grow(1)", "Box.grow"),
        ("box.shrink(1)", "Box.shrink"),
        ("lib.api.open(); lib.api.shut()", "api.shut"),
        ("take(...given)", "take"),
        ("take(1, 2, 3)", None),
        ("local()", None),
        ("lib.slow(1)", "slow"),
        ("lib.typed(1)", "typed"),
        ("lib.inner(1)", "inner"),
        ("box.take([1], 1)", None),
        ("other()", None),
        ("items.map(x)", None),
        ("assert.all(1)", None),
    ],
)
@pytest.mark.parametrize("end", ["js", "ts"])
def test_the_last_call_of_a_function_of_the_project_decides(
    tmp_path: Path, body: str, expected: str | None, end: str
) -> None:
    assert of(tmp_path, body, end) == expected


def test_a_call_that_a_title_tells_goes_before_the_last_one(tmp_path: Path) -> None:
    test = f"{IMPORTS}describe('take', () => {{ it('works', () => {{ half(take([1], 1)); half(2) }}) }})\n"
    found = mined(tmp_path, "javascript", {"lib/box.js": CODE, "test/box.js": test})
    assert pairs(found) == {"works": "take"}


def test_what_the_file_or_a_suite_is_named_after_goes_before_other_titles(tmp_path: Path) -> None:
    test = f"{IMPORTS}describe('take()', () => {{ it('takes half', () => {{ take([1], 1); half(2) }}) }})\n"
    found = mined(tmp_path, "javascript", {"lib/box.js": CODE, "test/box.js": test})
    assert pairs(found) == {"takes half": "take"}


def test_of_two_functions_the_one_whose_path_is_more_like_that_of_the_test_is_meant(tmp_path: Path) -> None:
    files = dict.fromkeys(("lib/a/f.js", "lib/b/f.js"), "exports.f = (n) => n\n")
    test = "const f = require('../..').f\nit('works', () => f(1))\n"
    (line,) = mined(tmp_path, "javascript", {**files, "test/b/f.test.js": test}).lines
    assert line.meta["focalPath"] == "lib/b/f.js"


def test_what_is_imported_from_a_package_or_from_tests_is_not_of_the_project(tmp_path: Path) -> None:
    assert of(tmp_path, "half(1)", imports="import { half } from 'other'\n") is None
    assert of(tmp_path, "half(1)", imports="import { half } from './tools'\n") is None
    assert of(tmp_path, "half(1)", imports="import { half } from '../lib/box.js'\n") == "half"


def test_a_title_that_names_the_function_makes_confidence_high(tmp_path: Path) -> None:
    test = f"{IMPORTS}describe('half()', () => {{ it('is small', () => half(1)); it('is', () => take([], 1)) }})\n"
    found = mined(tmp_path, "javascript", {"lib/box.js": CODE, "test/box.js": test})
    assert {line.meta["focal"]: line.meta["confidence"] for line in found.lines} == {"half": "high", "take": "low"}


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("it.only('x', function () { half(1) })", 1),
        ("test.each([1, 2])('x %d', (n) => { half(n) })", 1),
        ("test('x', async () => { await half(1) })", 1),
        ("it.skip('x', () => { half(1) })", 0),
        ("it('x')", 0),
        ("xit('x', () => { half(1) })", 0),
    ],
)
def test_tests_are_what_it_and_test_are_given(tmp_path: Path, written: str, count: int) -> None:
    found = mined(tmp_path, "javascript", {"lib/box.js": CODE, "test/box.js": f"{IMPORTS}{written}\n"})
    assert len(found.lines) == count


def test_an_empty_test_is_counted_as_such(tmp_path: Path) -> None:
    files = {"lib/box.js": CODE, "test/box.js": f"{IMPORTS}it('x', () => {{}})\n"}
    assert fate(mined(tmp_path, "javascript", files)) == "empty"


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ('{"devDependencies": {"jest": "1"}}', "jest"),
        ('{"devDependencies": {"chai": "1"}, "dependencies": {"mocha": "2"}}', "mocha"),
        ('{"devDependencies": {"tap": "1"}}', "Unknown"),
        ("no JSON", "Unknown"),
    ],
)
def test_the_framework_is_told_by_package_json(tmp_path: Path, package: str, expected: str) -> None:
    files = {"package.json": package, "lib/box.js": CODE, "test/box.js": f"{IMPORTS}it('x', () => half(1))\n"}
    (line,) = mined(tmp_path, "javascript", files).lines
    assert line.context["test_framework"] == expected
    instruction = fill_framework(PROMPTS["en"][0], line, "en")
    assert ("{test_framework}" in instruction) == (expected != "Unknown")


CONTEXT = """\
// A licence.
const { half } = require('../lib/box')

const limit = 3

describe('other', () => {
  it('is not shown', () => { half(0) })
})

describe('box', () => {
  let n
  beforeEach(() => { n = 1 })

  describe('half', () => {
    it('works', () => {
      half(limit)
    })

    it('works twice', () => { half(half(1)) })
    it.skip('works later', () => { half(2) })
    xit('works last', () => { half(3) })
  })
})
"""


def test_the_context_is_what_is_outside_suites_and_the_suite_without_tests(tmp_path: Path) -> None:
    found = mined(tmp_path, "javascript", {"lib/box.js": CODE, "test/box.js": CONTEXT})
    line = next(line for line in found.lines if line.meta["test"] == "works")
    assert (
        shown(line, "test_func_context")
        == """\
const { half } = require('../lib/box')
const limit = 3
describe('box', () => {
  let n
  beforeEach(() => { n = 1 })

  describe('half', () => {
  })
})"""
    )
    assert line.references == ("it('works', () => {\n  half(limit)\n})",)
