"""The file `report.md` of a sweep: one table."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.model import Sweep
from ci_eval.core.rendering.contract import SweepReporter
from ci_eval.core.rendering.markdowntext import code, prose, table
from ci_eval.core.rendering.sweeping import difference_texts, figure_texts, held_out_text, together


class SweepMarkdown:
    """A reporter that writes report.md for GitHub."""

    name = "markdown"

    def write(self, sweep: Sweep, folder: Path) -> Path:
        """Write report.md below `folder`; see `SweepReporter.write`."""
        columns = [*map(code, sweep.keys), ">sessions"]
        for info in sweep.metrics:
            columns += [f">{info.name}", "from the first"]
        rows = []
        for run in sweep.runs:
            row = [*map(prose, run.values), f"{run.sessions:,}"]
            for info in sweep.metrics:
                far = prose(run.why) if run.why else together(difference_texts(run, info))
                row += [together(figure_texts(run, info)), far]
            rows.append(row)
        lead = f"{len(sweep.runs)} runs on {code(f'{sweep.project.name} {sweep.project.revision}')}."
        if sweep.remark:
            lead += f" {prose(sweep.remark)}."
        if held_out := held_out_text(sweep):
            lead += f" Held out: {prose(held_out)}."
        if sweep.shard:
            lead += f" These are figures of shard {sweep.shard} alone: put all together with `ci-eval sweep … --merge`."
        parts = [f"# Sweep of {prose(', '.join(sweep.keys))}", lead, table("", columns, rows)]
        return atomic.write(folder / "report.md", "\n\n".join(parts).encode("utf-8", "backslashreplace") + b"\n")


REPORTER: SweepReporter = SweepMarkdown()
