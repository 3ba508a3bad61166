"""How stage 2 went, where it asked in several phases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ci_eval.model import Determinism
from ci_eval.stages.interpret import Progress
from ci_eval.statistics import footprint


def summed(made: Sequence[Progress], files: int) -> Progress:
    """Return the sum of all phases, over so many files."""
    return Progress(
        planned=sum(each.planned for each in made),
        files=files,
        statuses=sum((each.statuses for each in made), Counter()),
        engine_time=sum(each.engine_time for each in made),
        time=sum(each.time for each in made),
        confined=set().union(*(each.confined for each in made)),
        footprint=footprint.together(each.footprint for each in made),
        trouble=next((each.trouble for each in made if each.trouble), ""),
        state=sum((each.state for each in made), Determinism()),
        given_up=next((each.given_up for each in made if each.given_up), ""),
    )
