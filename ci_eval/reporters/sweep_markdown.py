"""`report.md` of a sweep: one table."""

from __future__ import annotations

from pathlib import Path

from ci_eval import atomic
from ci_eval.model import Sweep
from ci_eval.rendering.contract import SweepReporter
from ci_eval.rendering.markdowntext import code, prose, table
from ci_eval.rendering.sweeping import difference_texts, figure_texts, together


class SweepMarkdown:
    """Writes report.md for GitHub."""

    name = "markdown"

    def write(self, sweep: Sweep, folder: Path) -> Path:
        """See SweepReporter."""
        columns = [*map(code, sweep.keys), ">sessions"]
        for info in sweep.metrics:
            columns += [f">{info.name}", "from the first"]
        rows = []
        for each in sweep.runs:
            row = [*map(prose, each.values), f"{each.sessions:,}"]
            for info in sweep.metrics:
                far = prose(each.why) if each.why else together(difference_texts(each, info))
                row += [together(figure_texts(each, info)), far]
            rows.append(row)
        said = f"{len(sweep.runs)} runs on {code(f'{sweep.project.name} {sweep.project.revision}')}."
        if sweep.remark:
            said += f" {prose(sweep.remark)}."
        if sweep.shard:
            said += f" These are figures of shard {sweep.shard} alone: put all together with `ci-eval sweep … --merge`."
        parts = [f"# Sweep of {prose(', '.join(sweep.keys))}", said, table("", columns, rows)]
        return atomic.write(folder / "report.md", "\n\n".join(parts).encode("utf-8", "backslashreplace") + b"\n")


REPORTER: SweepReporter = SweepMarkdown()
