"""What engines declare about the files that their answers depend on."""

from __future__ import annotations

from ci_eval.core.catalogs import engines
from ci_eval.plugins.adapters.closure import Closure, find_closure


def test_what_is_declared_is_known_of_each_engine() -> None:
    closures = {name: find_closure(engines.CATALOG.load(name)) for name in engines.names()}
    assert {name for name, closure in closures.items() if closure is Closure.FILE} == {"words"}
    assert {name for name, closure in closures.items() if closure is Closure.IMPORTS} == {"basedpyright", "pyright"}
    # It looks for calls of a function in all files of the project.
    assert closures["jedi"] is Closure.PROJECT
