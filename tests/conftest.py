"""What every test may need of the machine."""

from __future__ import annotations

import pytest

from ci_eval.support.recipes import FromRecipe
from tests.needs import need


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for the programs of `needs`, and for those of the engine that the test is about."""
    programs = [program for mark in item.iter_markers("needs") for program in mark.args]
    if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        engines = [value for value in item.callspec.params.values() if isinstance(value, FromRecipe)]
        programs += [program for engine in engines for program in engine.needs]
    need(*dict.fromkeys(programs))
