"""What commands do with a suite of projects once it is there."""

from __future__ import annotations

from ci_eval.ci import Screen
from ci_eval.cli.options import opened
from ci_eval.jobs import terminal as presenting
from ci_eval.jobs.suites.suite import Suited


def suite_told(done: Suited, screen: Screen, *, opening: bool) -> None:
    """Print a suite, and open its page where that is wanted. Raises what went wrong in it."""
    presenting.suite(done, screen)
    if opening:
        opened(done.reports, screen)
    if done.trouble:
        raise done.trouble
