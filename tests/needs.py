"""Checks for programs and packages: without them a test is skipped and says why, or fails if nothing may lack.

In the body of a file, `lack`, `need_module` and `need_modules` decide about all of its tests.
"""

from __future__ import annotations

import os
import shutil
from importlib import import_module
from typing import Any, NoReturn

import pytest

from ci_eval.plugins.adapters.engine import FromRecipe, is_at_least, read_toolchain

REQUIRE_ALL = "CI_EVAL_REQUIRE_ALL"


def lack(reason: str) -> NoReturn:
    """Skip the test; fail it where `CI_EVAL_REQUIRE_ALL` is set."""
    if os.environ.get(REQUIRE_ALL):
        pytest.fail(f"{reason}; {REQUIRE_ALL} is set")
    pytest.skip(reason, allow_module_level=True)


def need(*programs: str) -> None:
    """Go on with the test only where these programs are installed."""
    if missing := [program for program in programs if not shutil.which(program)]:
        lack(f"{' and '.join(missing)} not installed")


def need_module(name: str) -> Any:
    """Return the module; go on only where its package is installed."""
    package = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != package:  # it is there, and broken
            raise
        lack(missing(package))


def need_modules(*names: str) -> list[Any]:
    """Return the modules; go on only where the packages of all are installed."""
    return [need_module(name) for name in names]


def missing(package: str) -> str:
    """Return the reason of tests that need a package of the extra `test-all`."""
    return f"{package} is not installed: pip install -e '.[test-all]'"


def need_engine(engine: FromRecipe) -> None:
    """Go on with the test only where the engine's programs are installed, its toolchains in versions that will do."""
    need(*engine.needs)
    for name, lowest in engine.toolchains.items():
        if not is_at_least(here := read_toolchain(name), lowest):
            lack(f"{engine.name} needs {name} {lowest} or newer, here is {here}")
