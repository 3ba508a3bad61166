"""What every test may need of the machine."""

from __future__ import annotations

import pytest

from ci_eval.support.recipes import FromRecipe
from tests.needs import need, need_engine


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for the programs of `needs`, and for those of the engine that the test is about."""
    programs = [program for mark in item.iter_markers("needs") for program in mark.args]
    need(*programs)
    if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        for engine in (value for value in item.callspec.params.values() if isinstance(value, FromRecipe)):
            need_engine(engine)
