"""A plugin that adds up, over all worker processes, how long tests waited for registries and computed."""

from __future__ import annotations

import resource
import sys
import time
from collections import defaultdict
from collections.abc import Generator
from typing import Any, cast

import pytest

from ci_eval.core.fetch import clients

WAITED = "waited"
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


class Timing:
    """A plugin that adds up what all workers report."""

    def __init__(self) -> None:
        self.waited: dict[str, float] = defaultdict(float)
        self.cpu: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Have the last report of a test tell what it waited for, and the CPU that this process has used so far."""
        report = yield
        if call.when == "teardown":
            report.user_properties.append((WAITED, [dict(_waited), _cpu()]))
            _waited.clear()
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        values = [
            cast("tuple[dict[str, float], float]", value) for name, value in report.user_properties if name == WAITED
        ]
        for waited, cpu in values:
            self.cpu[getattr(report, "worker_id", "")] = cpu
            for client, seconds in waited.items():
                self.waited[client] += seconds

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        longest = sorted(self.waited.items(), key=lambda pair: -pair[1])
        names = ", ".join(f"{client} {seconds:.0f} s" for client, seconds in longest if seconds >= 1)
        terminalreporter.write_line(
            f"The tests took {sum(self.cpu.values()):.0f} s of CPU and waited {sum(self.waited.values()):.0f} s for "
            f"registries{f' ({names})' if names else ''}."
        )
