"""What a night over many projects takes, by the constants that the other benchmarks measured: see docs/ci.md.

python benchmarks/scale.py [--sessions N] [--engine-ms MS] [--unchanged SHARE] [--hours H]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

OVERHEAD = 1.4e-3
"""CPU seconds per session for everything but the engine: start, stages 1 and 3, packing (11,907 sessions of flask by
`words`: 16.8 s, the stand-in's own work included)."""
START = 2.0
"""CPU seconds of a run that asks nothing: command, worker, a small report."""
STORED = 0.63e-3
"""MB per session that a workspace takes, reports included (flask: 7.5 MB)."""
SAMPLE = 0.02
"""Share of an unchanged project's sessions that is asked anew (`--reuse`)."""


@dataclass(frozen=True)
class Night:
    """One evaluation of each of several projects."""

    projects: int
    sessions: int
    """Of each project."""
    engine: float
    """CPU seconds per session."""
    unchanged: float
    """Share of projects in which nothing has changed since the night before."""

    @property
    def whole(self) -> float:
        """CPU seconds of a project that has changed."""
        return START + self.sessions * (self.engine + OVERHEAD)

    @property
    def again(self) -> float:
        """Those of one that has not."""
        return START + self.sessions * (SAMPLE * self.engine + OVERHEAD)

    @property
    def cpu(self) -> float:
        """Those of all projects."""
        return self.projects * (self.unchanged * self.again + (1 - self.unchanged) * self.whole)

    @property
    def stored(self) -> float:
        """MB."""
        return self.projects * self.sessions * STORED


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sessions", type=int, default=3_000, help="of each project")
    parser.add_argument(
        "--engine-ms", type=float, default=25.8, help="CPU of the engine per session; jedi's by default"
    )
    parser.add_argument("--unchanged", type=float, default=0.9, help="share of the projects that have not changed")
    parser.add_argument("--hours", type=float, default=8.0, help="that the night has")
    given = parser.parse_args()
    print(
        "| projects | first night, CPU h | cores | later night, CPU h | cores | GB stored |\n|--:|--:|--:|--:|--:|--:|"
    )
    for projects in (1, 100, 10_000):
        first, later = (
            Night(projects, given.sessions, given.engine_ms / 1_000, share) for share in (0.0, given.unchanged)
        )
        hours = [f"{each.cpu / 3_600:,.2f} | {each.cpu / 3_600 / given.hours:,.2f}" for each in (first, later)]
        print(f"| {projects:,} | {' | '.join(hours)} | {first.stored / 1_000:,.2f} |")


if __name__ == "__main__":
    main()
