"""The dossier that a test reads; a test that fails over one has it made again in the next run."""

from __future__ import annotations

from collections.abc import Generator
from typing import cast

import pytest

from ci_eval.core.catalogs import engines
from ci_eval.plugins.adapters.engine import FromRecipe
from tests.engines.dossiers import PAIRS, Dossier, doubt, read_or_observe, run_id
from tests.engines.observing import observe
from tests.needs import need, need_engine


def _grouped(pair: tuple[str, str]) -> object:
    """Have all tests of a dossier run in one worker process, so that none waits for another to make it."""
    name = "-".join(pair)
    return pytest.param(pair, id=name, marks=pytest.mark.xdist_group(name))


@pytest.fixture(params=map(_grouped, PAIRS))
def dossier(request: pytest.FixtureRequest) -> tuple[str, str, Dossier]:
    """An engine, a language, and what was seen of them."""
    name, language = request.param
    need("strace")
    if isinstance(engine := engines.CATALOG.load(name), FromRecipe):
        need_engine(engine)
    everything = request.config.getoption("--all-engines")
    seen = read_or_observe(name, language, run_id(), observe, everything=everything)
    assert not seen.failure, seen.failure
    return name, language, seen


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and isinstance(item, pytest.Function) and "dossier" in item.fixturenames:
        name, language = cast("tuple[str, str]", item.callspec.params["dossier"])
        doubt(name, language)
    return report
