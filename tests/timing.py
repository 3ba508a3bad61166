"""A plugin that prints where the time of all worker processes went, and last of all the names of the failed tests."""

from __future__ import annotations

import resource
import sys
import time
from collections import defaultdict
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from ci_eval.fetch import clients

WAITED, CPU = "waited", "cpu"
SLOWEST = 30
_waited: dict[str, float] = defaultdict(float)
"""Package client → seconds that the test which runs now has waited for it."""


def time_clients() -> None:
    """Time every package client that this process runs; clients of commands in processes of their own are missed."""
    run_to_end = clients.run_to_end

    def run_timed(*args: Any, **options: Any) -> clients.ClientEnd:
        began, name = time.monotonic(), "failed"
        try:
            end = run_to_end(*args, **options)
            name = end.name
            return end
        finally:
            _waited[name] += time.monotonic() - began

    for module in [module for module in sys.modules.values() if vars(module).get("run_to_end") is run_to_end]:
        vars(module)["run_to_end"] = run_timed


def _cpu() -> float:
    """Return the CPU seconds of this process and of those it waited for."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@dataclass
class Spent:
    """The seconds of a test, with those of the fixtures that it was the first to ask for."""

    wall: float = 0.0
    cpu: float = 0.0


class Timing:
    """A plugin that adds up what all workers report."""

    def __init__(self) -> None:
        self.waited: dict[str, float] = defaultdict(float)
        self.cpu: dict[str, float] = {}
        self.spent: dict[str, Spent] = defaultdict(Spent)
        self._before = _cpu()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Have each report tell the CPU seconds of its phase, and the last one of a test what it waited for."""
        report = yield
        now = _cpu()
        report.user_properties.append((CPU, (now - self._before, now)))
        self._before = now
        if call.when == "teardown":
            report.user_properties.append((WAITED, dict(_waited)))
            _waited.clear()
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        properties = dict(report.user_properties)
        cpu, total = cast("tuple[float, float]", properties.get(CPU, (0.0, 0.0)))
        self.cpu[getattr(report, "worker_id", "")] = total
        self.spent[report.nodeid].cpu += cpu
        self.spent[report.nodeid].wall += report.duration
        for client, seconds in cast("dict[str, float]", properties.get(WAITED, {})).items():
            self.waited[client] += seconds

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None]:
        """Print times before what failed, and names after it: CI stores the end of what is printed."""
        longest = sorted(self.waited.items(), key=lambda pair: -pair[1])
        names = ", ".join(f"{client} {seconds:.0f} s" for client, seconds in longest if seconds >= 1)
        terminalreporter.write_line(
            f"The tests took {sum(self.cpu.values()):.0f} s of CPU and waited {sum(self.waited.values()):.0f} s for "
            f"registries{f' ({names})' if names else ''}."
        )
        if terminalreporter.config.getoption("--slowest"):
            terminalreporter.section(f"the {SLOWEST} slowest: seconds, of CPU")
            for nodeid, spent in sorted(self.spent.items(), key=lambda pair: -pair[1].wall)[:SLOWEST]:
                terminalreporter.write_line(f"{spent.wall:7.1f} {spent.cpu:7.1f}  {nodeid}")
        yield
        if terminalreporter.hasopt("f"):  # pytest's own summary has them, with their messages
            return
        reports = (report for outcome in ("failed", "error") for report in terminalreporter.stats.get(outcome, []))
        if failed := sorted({report.nodeid for report in reports}):
            terminalreporter.section("names of the failed tests")
            for nodeid in failed:
                terminalreporter.write_line(nodeid)
