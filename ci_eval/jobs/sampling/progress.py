"""The progress of a stage 2 that asked in several phases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ci_eval.core.interpret import Progress
from ci_eval.core.model import Determinism
from ci_eval.core.statistics import footprint


def sum_phases(made: Sequence[Progress], files: int) -> Progress:
    """Return the sum of all phases, for this number of files."""
    return Progress(
        planned=sum(progress.planned for progress in made),
        files=files,
        statuses=sum((progress.statuses for progress in made), Counter()),
        engine_time=sum(progress.engine_time for progress in made),
        time=sum(progress.time for progress in made),
        confined=set().union(*(progress.confined for progress in made)),
        footprint=footprint.together(progress.footprint for progress in made),
        trouble=next((progress.trouble for progress in made if progress.trouble), ""),
        state=sum((progress.state for progress in made), Determinism()),
        given_up=next((progress.given_up for progress in made if progress.given_up), ""),
    )
