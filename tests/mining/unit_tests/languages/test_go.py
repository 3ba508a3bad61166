"""Tests of Go are paired within their package, by the names that Go's tests have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mining.unit_tests.pairs import fate, mined, pairs, shown

CODE = """\
package box

type Box[T any] struct{ size int }

func New(size int, more ...int) *Box[int] { return &Box[int]{size} }

func (b *Box[T]) Grow(by, times int) { b.size += by * times }

func take(items []int) []int { return items }
"""


def of(tmp_path: Path, test: str, **more: str) -> dict[object, object]:
    return pairs(mined(tmp_path, "go", {"box.go": CODE, "box_test.go": f"package box\n\n{test}\n", **more}))


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("func TestNew(t *testing.T) { New(1) }", {"TestNew": "New"}),
        ("func TestNew_small(t *testing.T) { x() }", {"TestNew_small": "New"}),
        ("func TestNewSmall(t *testing.T) { New(1, 2, 3) }", {"TestNewSmall": "New"}),
        ("func TestNewSmall(t *testing.T) { x() }", {}),
        ("func TestTake(t *testing.T) { take(nil) }", {"TestTake": "take"}),
        ("func TestBox_Grow(t *testing.T) { b.Grow(1, 2) }", {"TestBox_Grow": "Box.Grow"}),
        ("func TestBoxGrow(t *testing.T) { x() }", {"TestBoxGrow": "Box.Grow"}),
        ("func TestGrow(t *testing.T) { b.Grow(1, 2) }", {"TestGrow": "Box.Grow"}),
        ("func TestGrow(t *testing.T) { b.Grow(1) }", {}),
        ("func TestGrow(t *testing.T) { b.Grow(both()) }", {"TestGrow": "Box.Grow"}),
        ("func TestNew(t *testing.T) { New[int](1) }", {"TestNew": "New"}),
        ("func Testnew(t *testing.T) { New(1) }", {}),
        ("func TestNew(b *testing.B) { New(1) }", {}),
        ("func BenchmarkNew(b *testing.B) { New(1) }", {}),
    ],
)
def test_a_test_is_paired_with_what_it_is_named_after(
    tmp_path: Path, test: str, expected: dict[object, object]
) -> None:
    assert of(tmp_path, test) == expected


def test_functions_of_other_packages_are_none_of_its_own(tmp_path: Path) -> None:
    found = mined(tmp_path, "go", {"a/box.go": CODE, "b/b_test.go": "func TestNew(t *testing.T) { New(1) }\n"})
    assert fate(found) == "no function"


CONTEXT = """\
// A licence.
package box

import "testing"

type fake struct{ n int }

var limit = 3

// helper helps.
func helper(t *testing.T, n int) int { return n }

func (f *fake) TestIt(n int) error { return nil }

func TestMain(m *testing.M) { m.Run() }

func TestNew(t *testing.T) { New(1) }

func TestOther(t *testing.T) { x() }

func ExampleNew() { New(1) }
"""


def test_the_context_has_no_test_and_functions_only_by_their_signatures(tmp_path: Path) -> None:
    (line,) = mined(tmp_path, "go", {"box.go": CODE, "box_test.go": CONTEXT}).lines
    assert (
        shown(line, "test_func_context")
        == """\
package box
import "testing"
type fake struct{ n int }
var limit = 3
func helper(t *testing.T, n int) int
func (f *fake) TestIt(n int) error
func TestMain(m *testing.M) { m.Run() }"""
    )
    assert line.references == ("func TestNew(t *testing.T) { New(1) }",)
