"""What every test may need of the machine."""

from __future__ import annotations

import compileall
import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import ci_eval
from ci_eval.plugins.adapters.engine import FromRecipe
from ci_eval.plugins.drivers.confine import landlock
from tests.caching import use_test_cache
from tests.command import command as run
from tests.here import one_process
from tests.needs import REQUIRE_ALL, lack, need, need_engine
from tests.projects import GREETER, write
from tests.timing import SLOWEST, Timing, time_clients

# A busy machine is no fault of the code. In `.ci/run` the verdict depends on the commit alone; elsewhere every run
# tries other examples.
settings.register_profile("any machine", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get(REQUIRE_ALL) else "any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-engines",
        action="store_true",
        help="observe every verified engine again, also those of which nothing changed since a stored dossier, and "
        "compare all projects of `benchmarks/languages.py` with the languages' own parsers",
    )
    parser.addoption(
        "--slowest", action="store_true", help=f"print the {SLOWEST} slowest tests, before those that failed"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Compile ci-eval once: hundreds of tests start processes of it, each of which would do so itself where
    PYTHONDONTWRITEBYTECODE is set."""
    # Tests import onnxruntime, which would ask the proxies of other tests.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    # pytest loads readline, which sets it: output would be wrapped as on a terminal.
    os.environ.pop("COLUMNS", None)
    use_test_cache()
    time_clients()
    config.pluginmanager.register(Timing())
    if not hasattr(config, "workerinput"):  # not again in each worker
        compileall.compile_dir(Path(ci_eval.__file__).parent, quiet=1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is collected out of the garbage collector's sight: nothing of it is garbage before the session ends."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let one worker process run all tests that share a fixture, which each process would make again."""
    if isinstance(item, pytest.Function) and not item.get_closest_marker("xdist_group") and (group := _sharing(item)):
        item.add_marker(pytest.mark.xdist_group(group))


def _sharing(item: pytest.Function) -> str:
    """Return the name of the group of a test: its file where fixtures are made once a file, else where fixtures of the
    session are defined, or an empty string."""
    fixtures = [definitions[-1] for definitions in item._fixtureinfo.name2fixturedefs.values()]
    ours = [fixture for fixture in fixtures if fixture.func.__module__.startswith("tests.")]
    if any(fixture.scope in {"class", "module", "package"} for fixture in ours):
        return item.nodeid.partition("::")[0]
    return max((fixture.baseid for fixture in ours if fixture.scope == "session"), key=len, default="")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of checkouts that nobody named; begin with those that take minutes, and with large groups.

    One that was begun last would keep its worker busy while the others have nothing left to do. xdist hands out groups
    and single tests in this order.
    """
    absent = (
        [] if os.environ.get("CI_EVAL_ACTIONS") else [item for item in items if item.get_closest_marker("checkouts")]
    )
    config.hook.pytest_deselected(items=absent)
    sizes = Counter(map(_group, items))
    items[:] = sorted(
        (item for item in items if item not in absent),
        key=lambda item: (_minutes(item), sizes[_group(item)] if _group(item) else 0),
        reverse=True,
    )


def _minutes(item: pytest.Item) -> float:
    return float(max((mark.kwargs.get("minutes", 0) for mark in item.iter_markers("slow")), default=0))


def _group(item: pytest.Item) -> str:
    mark = item.get_closest_marker("xdist_group")
    return str(mark.args[0]) if mark else ""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for the programs of `needs`, for a browser, and for the programs of the engine that the test is about."""
    programs = [program for mark in item.iter_markers("needs") for program in mark.args]
    need(*programs)
    if item.get_closest_marker("browser"):
        need("chromium")
    if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        for engine in (value for value in item.callspec.params.values() if isinstance(value, FromRecipe)):
            need_engine(engine)


@pytest.fixture(autouse=True)
def no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ci-eval --ci NAME`, -q and -v tell their process by a variable, which the next test must not see."""
    # Set rather than deleted: so what `--ci` sets in this process is gone after the test, too.
    monkeypatch.setenv("CI_EVAL_CI", "auto")
    monkeypatch.setenv("CI_EVAL_OUTPUT", "")
    monkeypatch.setenv("CI_EVAL_JOB", "")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let processes that the test starts hear SIGINT: a shell's `&` makes all below it ignore that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def in_one_process() -> Iterator[None]:
    with one_process():
        yield


@pytest.fixture(scope="module")
def file_in_one_process() -> Iterator[None]:
    """Work in one process for all tests of the file, and for its fixtures."""
    with one_process():
        yield


@pytest.fixture(scope="session")
def nights(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Evaluations of one project: words, twice, in the alphabet's order, and by the controls."""
    root = tmp_path_factory.mktemp("compare")
    files = {f"file{i:02}__py": GREETER + f"x{i} = {i}\nprint(x{i}, Greeter)\n" * (1 + i % 3) for i in range(24)}
    project = write(root / "p", **files)
    made = {}
    for name, engine, kind in (
        ("words", "words", "BASIC"),
        ("again", "words", "BASIC"),
        ("alphabet", "words", "ALPHABETICAL"),
        ("oracle", "oracle", "BASIC"),
    ):
        made[name] = root / name
        with one_process():
            code, _, err = run(
                "evaluate", "--project", f"path:{project}", "--engine", engine, "--completion-type", kind,
                "--output", made[name], "--jobs", 1, "--set", "actions.strategy.prefix.name=NoPrefix",
            )  # fmt: skip
        assert code == 0, err
    return made


@pytest.fixture
def complete_walls() -> None:
    """Says so, rather than pass, where the kernel has not got what is tested."""
    abi, why = landlock.version() if sys.platform == "linux" else (0, "not Linux")
    if abi < 6:
        lack(f"full confinement needs version 6 of Landlock, here is {abi}: {why}")
