"""What every test may need of the machine."""

from __future__ import annotations

import pytest
from hypothesis import settings

from ci_eval.adapters.recipes import FromRecipe
from tests.needs import need, need_engine

# A busy machine is no fault of the code.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for the programs of `needs`, and for those of the engine that the test is about."""
    programs = [program for mark in item.iter_markers("needs") for program in mark.args]
    need(*programs)
    if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        for engine in (value for value in item.callspec.params.values() if isinstance(value, FromRecipe)):
            need_engine(engine)


@pytest.fixture(autouse=True)
def no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ci-eval --ci NAME` tells its process by a variable, which the next test must not see."""
    monkeypatch.delenv("CI_EVAL_CI", raising=False)
